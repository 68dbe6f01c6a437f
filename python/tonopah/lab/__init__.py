"""The lab: what the command line does, in a browser. Only its command imports it."""
