"""A scenario or an endpoint in the engine: what is run, what a run returned, its summary and series.

`simulation` → `summary`; `endpoint` → `segment`. What a user calls is a layer above, in `study/`.
"""
