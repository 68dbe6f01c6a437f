"""What other simulators write, read here."""
