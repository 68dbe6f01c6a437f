"""What a congestion control does to the Internet: experiments along RFC 9743, judged against a declared baseline.

`experiments.toml` and `criteria.toml` say what is run and what is read from it; the modules know worlds, metrics and rules only.
"""
