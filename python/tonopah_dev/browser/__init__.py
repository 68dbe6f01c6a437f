"""Chromium, driven for tests and for the measurements of the lab."""
