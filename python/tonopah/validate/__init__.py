"""Comparison with recordings of real stacks: `tonopah validate`.

recordings → worlds (a case as scenario) → tracks (both sides on one time grid) → measures and goals → tables and page.
"""
