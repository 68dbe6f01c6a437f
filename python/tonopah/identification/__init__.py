"""`tonopah identify`: which congestion control made a trace, by simulations of every candidate over the link of the trace."""
