"""What congestion controls do to a network and to each other: studies made in memory, and words that follow from them by rule.

`experiments.toml` and `criteria.toml` say what is run and what is read from it; the modules know worlds, metrics and rules only.
"""
