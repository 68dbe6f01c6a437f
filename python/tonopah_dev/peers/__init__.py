"""Other simulators, run on our worlds: `python -m tonopah_dev.bench --against` and `python -m tonopah_dev.ns2`.

world_file (a scenario as lines that both peers read) → ns2, ns3 (find, run, read the answer) over process (CPU and memory).
"""
