"""Our runs of the reports' networks, held against the numbers that their authors and the stock simulators gave."""
