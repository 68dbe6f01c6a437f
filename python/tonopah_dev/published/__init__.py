"""Laws and published results, each run again here: `python -m tonopah_dev.published`."""
