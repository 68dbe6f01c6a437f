"""What a user calls: `run`, `sweep` and `Study`, what they return, and how a notebook shows it."""
