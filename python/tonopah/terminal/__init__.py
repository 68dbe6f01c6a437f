"""What the command line prints for people."""
