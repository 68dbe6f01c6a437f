"""Congestion control written in Python."""
