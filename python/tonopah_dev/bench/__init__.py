"""Speed: `python -m tonopah_dev.bench`, worlds run here and in other simulators in turn.

worlds → measure (runs, over engine and tonopah_dev.peers) → tables → terminal, and page for docs/generated/performance.md.
"""
