"""`tonopah cross`: one world on several engines, and whether they agree, metric by metric.

worlds (a scenario, its table `[cross]`, its sweeps) → engines (who carries the flows) → measures (what is compared) →
judging (the words, by the tests of a study) → comparison (all of it) → told (tables, JSON), figures.
"""
