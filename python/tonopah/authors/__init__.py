"""The networks of the reports' own scripts: what they build, what they count, and the numbers that they gave.

Studies (`scenario = { author = … }`) and `tonopah validate authors` take them from here.
"""
