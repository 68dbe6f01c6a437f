"""Other simulators that carry the flows of a scenario, to be compared with ours.

plan (what of a scenario they can carry; all else is refused) → program (the scenario in the peer's language) → ns2 (find, run) →
events (what the run gave, from its trace). `tonopah_dev.peers` runs worlds of the benchmark, which measure speed.
"""
