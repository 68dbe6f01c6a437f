"""Packetdrill scripts run against the endpoint: the language of google/packetdrill, without a kernel or a network."""
