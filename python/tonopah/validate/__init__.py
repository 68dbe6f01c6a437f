"""Comparisons with recordings of real stacks: `tonopah validate`.

`frame` has what they share; each of the folders is one comparison, and none imports another.
"""
