"""The study file and the plan of its runs."""
