"""Figures and pictures of networks."""
