"""Runs written for other programs."""
