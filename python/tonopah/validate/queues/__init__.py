"""The comparison with recordings of Linux's queue disciplines: recordings → worlds → comparison."""
