"""Speed: `tonopah bench`, worlds run here and in other simulators in turn.

worlds → measure (runs, over engine and tonopah.peers) → tables → terminal, and page for docs/generated/performance.md.
"""
