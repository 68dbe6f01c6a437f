"""The comparison with recordings of Linux's TCP: recordings → worlds → flow_track (both sides on one grid) → measures, goals."""
