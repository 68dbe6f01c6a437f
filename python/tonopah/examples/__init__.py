"""Algorithms in Python to start from."""
