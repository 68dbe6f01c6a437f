"""Other simulators that carry the flows of a scenario, to be compared with ours.

plan (what of a scenario a peer can carry; all else is refused) → outcome (what a run gave, as a result of ours) → ns-2: program (the
scenario in Tcl), events (what its trace says), ns2; ns-3: compiled (find, compile), world.cc (reads a scenario as lines, counts), ns3
→ known (both by name). `tonopah_dev.peers` runs worlds of the benchmark, which measure speed.
"""
