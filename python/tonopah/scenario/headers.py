"""Sizes of headers, in bytes, with which other tools count packets: of IPv4 (RFC 791) with TCP (RFC 9293) or UDP (RFC 768)."""

IP_TCP_BYTES, IP_UDP_BYTES = 40, 28
TIMESTAMPS_BYTES = 12
"""Of the option in a segment (RFC 7323), with what fills it up."""
