"""Names of older study files, and what they are called now."""

RENAMED = {"measure": "derived"}
"""Keys of older study files, and what they are called now."""
RENAMED_TABLES = {"author": "script"}
"""Tables of the scenario in older study files, and what they are called now."""
RENAMED_METRICS = {
    "student_ns2": "ns2_awk",
    "student_ns3": "flowmonitor",
    "author_000_wired": "ewphcc_wired",
    "author_000_mixed": "ewphcc_mixed",
    "author_000_satellite": "ewphcc_satellite",
    "author_000_wireless": "ewphcc_wireless",
    "author_ns3": "ns3_pooled",
    "author_001_hosts": "tcp_fr_hosts",
    "author_002": "hystart_script",
    "author_004_uav": "asran_uav",
    "author_004_fairness": "asran_fairness",
    "handoff": "reassociation",
    "handoffs": "reassociations",
}
"""Words in the names of metrics of older study files, and what they are called now."""
