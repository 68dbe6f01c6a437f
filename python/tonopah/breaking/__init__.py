"""Counterexamples: worlds in which an algorithm fails and another does not, confirmed and as small as they can be."""
