"""What the scripts of the reports and other tools count: how each does, and the columns that only it has."""

from tonopah.metrics.metric import Group
from tonopah.stats.kinds import KindName

SCRIPTS = {
    "ewphcc_wired": "as the script of the EWPHCC report prints it for its wired network: of the first flow of each pair, "
    "20 B taken off each packet, drops of all flows, delay since the newest sending of any counted packet",
    "ewphcc_mixed": "as the script of the EWPHCC report prints it for its mixed network: stations and every hop on a wire "
    "alike, 20 B taken off each packet; a delay that no sending was noted for is the time of day",
    "ewphcc_satellite": "as the script of the EWPHCC report prints it for its satellites: of all flows, 20 B taken off each "
    "packet, delay by packet",
    "ewphcc_wireless": "as the script of the EWPHCC report prints it for its wireless network: of all flows, SYNs and "
    "duplicates too, 20 B taken off each packet; energy per packet is what the sink has consumed since the start, averaged over "
    "receptions",
    "ns3_pooled": "as the scripts of ns-3 of the TCP-FR and ASRAN reports pool it: data and ACKs as flows of FlowMonitor alike, "
    "over the length of the run",
    "tcp_fr_hosts": "as the script of the TCP-FR report sums it for two hosts: the rates of the data and of the ACK flow, "
    "each over its own life and cut to whole kb/s of 1024 bit",
    "hystart_script": "as the script of the HyStart report prints it: SYNs too, 1050 B a data packet received, 26 B with "
    "802.15.4; duplicates at the MAC are drops, with 802.15.4 frames in error too; energy as a mean over the nodes",
    "asran_uav": "as the script of the ASRAN report prints it: the mean over the data flow and the ACK flow, each over its "
    "own life",
    "asran_fairness": "as the script of the ASRAN report prints it: over data and ACK flows",
}
"""By the first word of a column: how that script counts."""

CUT = "of runs that begin at 2 s and break at 9 s, as the printed one did"

OWN = {
    "all_sent_packets": ("Packets sent by all flows", "Data packets and SYNs of every flow, each counted once, where it starts"),
    "all_received_packets": ("Packets received of all flows", "Data packets and SYNs of every flow that reach their sink"),
    "all_dropped_packets": ("Packets dropped of all flows", "Data packets and SYNs of every flow that are dropped"),
    "all_goodput_bps": (
        "Throughput of all flows",
        "Payload that the sink receives of every flow, duplicates included, per second of traffic",
    ),
    "all_delay_s": ("Delay of all flows", "Mean time from the sending of a packet to its own reception, of every flow"),
    "live_throughput_bps": (
        "Throughput of the last flow",
        "Received of the flow that was connected last, 20 B taken off each packet",
    ),
    "dead_packets": ("Packets of a dead flow", "Mean number of packets that a flow other than the last sends"),
    "dead_most_packets": ("Most packets of a dead flow", "Largest number of packets that a flow other than the last sends"),
    "data_throughput_bps": ("Throughput of the data flow", "Bytes of IP received of the data flow over its own life"),
    "ack_throughput_bps": ("Throughput of the ACK flow", "Bytes of IP received of the ACK flow over its own life"),
    "cut_throughput_bps": ("Throughput of runs that are cut off", f"Mean over the data flow and the ACK flow; {CUT}"),
    "cut_sent_packets": ("Packets sent in runs that are cut off", f"Of data and ACKs; {CUT}"),
    "cut_received_packets": ("Packets received in runs that are cut off", f"Of data and ACKs; {CUT}"),
    "cut_delivery_ratio": ("Delivery ratio of runs that are cut off", f"Of data and ACKs; {CUT}"),
    "cut_delay_s": ("Delay in runs that are cut off", f"Of data and ACKs; {CUT}"),
    "cut_back_s": ("End of the outage of runs that are cut off", f"When the sender hears an ACK again; {CUT}"),
    "begin_s": ("Begin of the data flow", "When the first data arrives"),
    "break_s": ("Begin of the outage", "Last ACK before the sender hears none for longest, 2 s at least"),
    "back_s": ("End of the outage", "First ACK after the sender has heard none for longest, 2 s at least"),
    "cwnd_variation_ratio": (
        "Fluctuation of the window",
        "Standard deviation of cwnd over its mean, every 100 ms from 6 s on, where the script begins to record it, but for the "
        "outage",
    ),
    "throughput_variation_ratio": (
        "Fluctuation of throughput",
        "Standard deviation of the payload received per 100 ms over its mean, from 6 s on, but for the outage",
    ),
    "remembered_ratio": (
        "Losses that ASRAN takes for an unstable link",
        "Share of fast retransmits at which more than half was in flight at the one before",
    ),
    "mac_duplicate_packets": ("Duplicates at the MAC", "Data frames that reach a station which has them already"),
    "traffic_end_s": ("End of the traffic", "End of the last frame"),
    "exits": (
        "Exits from slow start by HyStart",
        "How often HyStart ends slow start, at cwnd = ssthresh too: what the committed module prints a line of, over all flows",
    ),
    "exits_by_train": ("Exits from slow start by a train of ACKs", "The committed module prints heu1 then"),
    "exits_by_delay": ("Exits from slow start by a rise of the delay", "The committed module prints hue2 then"),
    "any_exit_ratio": ("Runs with an exit from slow start by HyStart", "Share of runs in which HyStart ends slow start at all"),
    "queue_dropped_packets": ("Packets dropped by queues", "Data packets and SYNs that a full queue drops"),
    "left_packets": ("Packets left at the end", "Data packets and SYNs that neither arrive nor are lost before the end"),
    "jain_group_0_2": ("Jain's index of stations 0 and 2", "Over two data and two ACK flows: 0.52 if the data flows are equal"),
    "jain_group_1_3": ("Jain's index of stations 1 and 3", "Over two data and two ACK flows: 0.52 if the data flows are equal"),
    "jain_data_0_2": (
        "Jain's index of stations 0 and 2, data alone",
        "Over two data flows: 1 if they are equal, 0.5 if one is 0",
    ),
    "jain_data_1_3": (
        "Jain's index of stations 1 and 3, data alone",
        "Over two data flows: 1 if they are equal, 0.5 if one is 0",
    ),
    "throughput_0to5_bps": ("Rate from station 0 to 5", "Bytes of IP received over the life of the flow"),
    "throughput_2to5_bps": ("Rate from station 2 to 5", "Bytes of IP received over the life of the flow"),
    "throughput_1to4_bps": ("Rate from station 1 to 4", "Bytes of IP received over the life of the flow"),
    "throughput_3to4_bps": ("Rate from station 3 to 4", "Bytes of IP received over the life of the flow"),
}
"""Columns that only scripts of reports have, behind the name of the script: label and definition."""

KINDS: dict[str, KindName] = {
    **dict.fromkeys(("exits", "exits_by_train", "exits_by_delay"), "count"), "any_exit_ratio": "outcome",
    **dict.fromkeys(("jain_group_0_2", "jain_group_1_3", "jain_data_0_2", "jain_data_1_3"), "share"),
}  # fmt: skip
"""What the values of some of them are."""

TOOLS = {
    "ns2_awk": "as the ns-2 scripts of the reports compute it from a trace (transport level)",
    "flowmonitor": "as ns-3's FlowMonitor computes it: IP level, headers included, the direction of the data",
    "netsim": "as NetSim computes it: application level, from generation to delivery",
}
"""By the first word of a column: how that tool counts."""

# Scripts count few bits: their reports print kb/s.
GROUPS = (
    *(Group(name, text, "script", OWN, in_kilobits=True, kinds=KINDS) for name, text in SCRIPTS.items()),
    *(Group(name, text, name, folded=True) for name, text in TOOLS.items()),
)
