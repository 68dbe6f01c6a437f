"""Real programs and the kernel's own TCP in the network of a scenario (Linux): docs/kernel.md."""
