"""The five reports that the project started from: networks of their scripts, what these count, and the numbers that they gave.

The package does not know them. A study reaches them by its source (`scenario = { source = "reports:ewphcc-wired", … }`, an entry
point of `tonopah.sources`), a run by the observer that the source names. `python -m tonopah.reports.validate` holds the networks
against every stored number, `python -m tonopah.reports.mechanisms` shows what slips of the scripts do.
"""
