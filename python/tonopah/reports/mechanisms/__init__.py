"""What slips of the reports' scripts do: a number with the slip beside the number without it, and what that says of a figure."""
