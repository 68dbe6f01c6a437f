"""The results of a study in one file."""
