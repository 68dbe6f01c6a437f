"""Runs carried out: on threads, in processes or on a cluster."""
