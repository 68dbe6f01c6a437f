"""The series of senders, links and nodes."""

from tonopah.metrics.metric import COUNT, MBPS, MS, Metric

SENDERS_AND_LINKS = {
    "cwnd": Metric("Congestion window", "kB", 1e-3, "cwnd (RFC 5681)"),
    "ssthresh": Metric("Slow-start threshold", "kB", 1e-3, "ssthresh (RFC 5681)"),
    "send_window": Metric("Send window", "kB", 1e-3, "Bytes that the sender may have outstanding"),
    "srtt": Metric("Smoothed RTT", *MS, "SRTT (RFC 6298)"),
    "rtt": Metric("RTT", *MS, "Newest RTT sample of the sender"),
    "queue": Metric("Queue", "kB", 1e-3, "Bytes in the queue of a link"),
    "queue_delay": Metric("Queueing delay", *MS, "Mean wait of the packets whose transmission began since the last sample"),
    "aqm_p": Metric("Probability of the AQM", "", 1.0, "Probability of the controller of a queue (RFC 8033, RFC 9332)"),
    "aqm_p_l": Metric("Marking probability in L", "", 1.0, "Probability of a mark in the low-latency queue (RFC 9332)"),
    "queue_l": Metric("Low-latency queue", "kB", 1e-3, "Bytes in the low-latency queue of DualPI2 (RFC 9332)"),
    "queue_c": Metric("Classic queue", "kB", 1e-3, "Bytes in the classic queue of DualPI2 (RFC 9332)"),
    "drops": Metric("Dropped so far", *COUNT, "Packets dropped on a link so far"),
    "marks": Metric("Marked so far", *COUNT, "Packets that the queue of a link marked CE so far (RFC 3168)"),
    "buffer": Metric("Video in the buffer", "s", 1.0, "Video that the player of `video` holds and has not played"),
    "level": Metric(
        "Level of the video", "", 1.0, "Level of the chunk that the player of `video` asked for last; 0 is the lowest rate"
    ),
    "chunk_rate": Metric(
        "Measured by the player", *MBPS, "Throughput of each chunk as the player of `video` measured it, at its arrival"
    ),
    "chunk_level": Metric("Level of a chunk", "", 1.0, "Level of each chunk of `video`, at its arrival; 0 is the lowest rate"),
    "sending_rate": Metric("Sending rate", *MBPS, "Payload sent per bin, retransmissions included"),
    "throughput": Metric("Throughput", *MBPS, "Payload received per bin"),
    "goodput": Metric("Goodput", *MBPS, "New in-order payload delivered to the application per bin"),
    "capacity": Metric("Capacity", *MBPS, "Rate that the service of a link offered, used or not"),
    "path_delay": Metric("Path delay", *MS, "Propagation delay of the route from source to sink"),
    "route_hops": Metric("Hops of the route", "", 1.0, "Hops of the current route from source to sink"),
    "state": Metric("State of recovery", "", 1.0, "0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss"),
    "retransmits": Metric("Retransmissions so far", *COUNT, "Segments retransmitted so far"),
    "pipe": Metric("Pipe", "kB", 1e-3, "Bytes estimated to be in the network (RFC 6675)"),
    "outstanding": Metric("Outstanding", "kB", 1e-3, "Bytes sent and acknowledged neither cumulatively nor selectively"),
    "rto": Metric("Retransmission timeout", *MS, "Current RTO (RFC 6298)"),
    "acked": Metric("Acknowledged", "kB", 1e-3, "Payload acknowledged so far"),
    "rttvar": Metric("Variation of the RTT", *MS, "RTTVAR (RFC 6298)"),
    "min_rtt": Metric("Least RTT", *MS, "Smallest RTT sample of the sender so far"),
    "pacing_rate": Metric("Pacing rate", *MBPS, "Rate at which the sender paces; none while it does not"),
    "delivery_rate": Metric("Delivery rate", *MBPS, "Newest sample of the delivery rate (draft-ietf-ccwg-bbr §4.5)"),
    "timeouts": Metric("Timeouts in a row", "", 1.0, "Retransmission timeouts since data was last acknowledged"),
    "wire_flight": Metric("On the wire", "kB", 1e-3, "Payload from the source that has neither arrived nor been dropped"),
    "limit": Metric(
        "What limits the sender", "", 1.0, "0 application, 1 congestion window, 2 receive window, 3 pacing, 4 recovery of losses"
    ),
    "energy": Metric("Energy consumed", "J", 1.0, "Energy consumed by a node's radio since the start of the run"),
    "airtime": Metric(
        "Airtime", "", 1.0, "Share of time in which frames to or from a node were on the air", bounds=(0.0, 1.0), kind="share"
    ),
    "position_x": Metric("x", "m", 1.0, "Position of a node along x"),
    "position_y": Metric("y", "m", 1.0, "Position of a node along y"),
    "position_z": Metric("z", "m", 1.0, "Position of a node along z"),
}
