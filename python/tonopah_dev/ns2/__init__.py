"""An ad hoc network here and in ns-2: `python -m tonopah_dev.ns2`."""
