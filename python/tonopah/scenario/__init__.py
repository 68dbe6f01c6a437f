"""Scenarios as dictionaries."""
