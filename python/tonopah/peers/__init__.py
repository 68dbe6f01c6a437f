"""Other simulators, run on our worlds: `tonopah bench --against` and `tonopah validate ns2`.

world_file (a scenario as lines that both peers read) → ns2, ns3 (find, run, read the answer) over process (CPU and memory).
"""
