"""Commands of former versions."""

RENAMED = {
    "bench": "python -m tonopah_dev.bench, in a checkout",
    "map": "tonopah check --picture FILE",
    "validate ns2": "python -m tonopah_dev.ns2, in a checkout",
    "validate published": "python -m tonopah_dev.published, in a checkout",
    "validate authors": "python -m tonopah.reports.validate",
}
"""Commands of former versions, and what does their work now."""
