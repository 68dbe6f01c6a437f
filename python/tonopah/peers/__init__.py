"""Other simulators that carry the flows of a scenario, to be compared with ours.

plan (what of a scenario a peer can carry; all else is refused) → outcome (what a run gave, as a result of ours). ns-2: program (a
scenario in Tcl), events (what its trace says), ns2. ns-3: compiled (finds it, compiles), world.cc (reads a scenario as lines, and
counts), ns3. Both by name: known. `tonopah_dev.peers` runs worlds of the benchmark, which measure speed.
"""
