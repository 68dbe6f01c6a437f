"""The metrics of applications and of data in the reverse direction. docs/applications.md shows each."""

from tonopah.metrics.metric import COUNT, MBPS, MS, PERCENT, Metric

SECONDS, NUMBER, RPM = ("s", 1.0), ("", 1.0), ("round trips per minute", 1.0)

REQUESTS = (
    "{} of the times of the requests that began within the measurement interval: from the moment at which the client sends the "
    "request, or opens a connection for it, to the last byte of the answer"
)
ROUNDS = (
    "{} of the query completion times of the rounds that began within the measurement interval: from the requests to the last "
    "byte of the last answer (Alizadeh et al. 2010, §4.2.1)"
)

FRAMES = (
    "{} of the delays of the frames that were captured within the measurement interval and became complete: from the capture to "
    "the arrival of the last packet"
)


def durations(prefix: str, label: str, definition: str, quantiles: dict[str, str]) -> dict[str, Metric]:
    """Return mean, quantiles and maximum of times; `definition` has a place for the statistic."""
    names = {"": "Mean", **quantiles}
    return {
        f"{prefix}{suffix}_s": Metric(f"{label}, {name.lower()}" if suffix else label, *MS, definition.format(name))
        for suffix, name in names.items()
    }


QUANTILES = {"_p50": "Median", "_p95": "95th percentile", "_p99": "99th percentile (of 100 and more)"}
MAXIMUM = {"_max": "Maximum"}

APPLICATIONS = {
    "size_bytes": Metric("Size", "kB", 1e-3, "Bytes that `transfer` brings from `from` to `to`"),
    "reverse_size_bytes": Metric("Size of the reverse transfer", "kB", 1e-3, "Bytes that `transfer` brings from `to` to `from`"),
    "requests": Metric(
        "Requests", *NUMBER, "Requests of `request_response` answered, that began within the measurement interval"
    ),
    **durations("request", "Request time", REQUESTS, QUANTILES | MAXIMUM),
    "request_cwnd_bytes": Metric(
        "Window at the start of an answer",
        "kB",
        1e-3,
        "Mean cwnd of the server just after it has begun an answer, over the whole run",
    ),
    "connections_opened": Metric("Connections opened", *NUMBER, "Connections that the application opened, over the whole run"),
    "rounds": Metric("Rounds", *NUMBER, "Rounds of `incast` completed, that began within the measurement interval"),
    "servers": Metric("Servers", *NUMBER, "Servers that `incast` asks in each round"),
    **durations("qct", "Query completion", ROUNDS, QUANTILES | {"_p999": "99.9th percentile (of 1000 and more)"} | MAXIMUM),
    "timeouts_per_round": Metric(
        "Timeouts per round", *NUMBER, "Retransmission time-outs of all servers / rounds completed, over the whole run"
    ),
    "page_load_s": Metric("Page load", *MS, "Time from the start of `page` to the last byte of its last object"),
    "first_object_s": Metric(
        "First object", *MS, "Time from the start of `page` to the last byte of the first object after the document"
    ),
    "page_bytes": Metric("Page", "kB", 1e-3, "Bytes of the document and of all objects of `page`"),
    "objects": Metric("Objects", *NUMBER, "Objects of `page` that have arrived, the document among them"),
    "rpm": Metric(
        "Responsiveness", *RPM, "Mean of rpm_foreign and rpm_loaded (draft-ietf-ippm-responsiveness, the TCP-only case)"
    ),
    "rpm_foreign": Metric(
        "Responsiveness of new connections",
        *RPM,
        "60 s / the mean of the handshake and of the exchange of 328 B for 1 B on connections of their own: means of the least "
        "95 % of each over the last four intervals of 5 s, of what began within the measurement interval",
    ),
    "rpm_loaded": Metric(
        "Responsiveness of loaded connections", *RPM, "The same of exchanges on the connections of the load: 60 s / their mean"
    ),
    "rpm_stable": Metric(
        "Stable",
        *NUMBER,
        "1 if the averages that end with the last four intervals differ by a standard deviation of less than 5 %, else 0; absent "
        "below four averages",
        bounds=(0.0, 1.0),
    ),
    "probes_answered": Metric(
        "Probes answered",
        *NUMBER,
        "Exchanges of `responsiveness` on new connections that were answered and began within the measurement interval",
    ),
    "chunks": Metric("Chunks", *NUMBER, "Chunks of `video` that have arrived"),
    "startup_s": Metric(
        "Start-up", *SECONDS, "Time from the start of `video` to the first picture: the last byte of the first chunk"
    ),
    "stall_s": Metric("Stalled", *SECONDS, "Time for which the buffer of a player was empty after the first picture"),
    "stalls": Metric("Stalls", *NUMBER, "How often the buffer of a player ran empty"),
    "rebuffer_ratio": Metric(
        "Stalled",
        *PERCENT,
        "stall_s / (stall_s + played); what is in the buffer counts as played once all chunks are there",
        bounds=(0.0, 1.0),
    ),
    "bitrate_mean_bps": Metric("Rate of the video", *MBPS, "Mean of the rates of the chunks that have arrived"),
    "switches": Metric("Switches", *NUMBER, "Chunks of another rate than the one before"),
    "switch_size_mean_bps": Metric("Size of a switch", *MBPS, "Mean of the differences of rates at switches"),
    "qoe": Metric(
        "Quality of experience",
        *NUMBER,
        "Sum of the rates of all chunks in Mb/s - 4.3 stall_s - sum of the differences of rates in Mb/s (Mao et al. 2017, §5.1)",
        bounds=(-float("inf"), float("inf")),
    ),
    "frames": Metric("Frames", *NUMBER, "Frames of `rtc` captured within the measurement interval"),
    **durations("frame_delay", "Frame delay", FRAMES, QUANTILES),
    "frames_late_ratio": Metric(
        "Late frames", *PERCENT, "Frames complete after the deadline, or never / frames captured", bounds=(0.0, 1.0)
    ),
    "freeze_s": Metric(
        "Frozen",
        *SECONDS,
        "Sum of the times between complete frames that exceed both 3 d and d + 150 ms, d = 1 / fps (W3C webrtc-stats, "
        "totalFreezesDuration)",
    ),
    "rate_mean_bps": Metric(
        "Rate sent", *MBPS, "Payload that `rtc` sent, per second from its start to its end, over the whole run"
    ),
    "breaker_s": Metric("Circuit breaker", *SECONDS, "When the circuit breaker ended the call, since its start (RFC 8083)"),
    "mos": Metric(
        "Opinion score",
        *NUMBER,
        "Mean opinion score of a call, from 1 to 4.5: 1 + 0.035 R + 7e-6 R (R - 60)(100 - R) of the rating R (ITU-T G.107)",
        bounds=(1.0, 4.5),
    ),
    "r_factor": Metric(
        "Rating R",
        *NUMBER,
        "93.2 - I_d - I_e,eff; I_d = 0.024 d + 0.11 (d - 177.3) where d > 177.3, d the delay from mouth to ear in ms; "
        "I_e,eff = I_e + (95 - I_e) P / (P / B + Bpl), P the loss in percent, B the burst ratio, I_e and Bpl of the codec "
        "(ITU-T G.107, G.113 appendix I)",
        bounds=(-float("inf"), 93.2),
    ),
    "mouth_to_ear_s": Metric(
        "Mouth to ear", *MS, "Playout delay, fixed or that of the best rating, and the 20 ms that fill a packet of voice"
    ),
    "voice_loss_ratio": Metric(
        "Voice lost",
        *PERCENT,
        "Packets lost or later than the playout / sent; what was sent within the longest delay of the end is not counted",
        bounds=(0.0, 1.0),
    ),
    "voice_burst_ratio": Metric(
        "Burst ratio",
        *NUMBER,
        "Mean length of a burst of lost packets x (1 - loss), 1 at least: 1 if losses are independent (ITU-T G.107)",
    ),
    "reverse.goodput_bps": Metric(
        "Reverse goodput",
        *MBPS,
        "New in-order payload that the sink sent and the source read, per second of the lifetime of the flow",
    ),
    "reverse.delivered_bytes": Metric(
        "Delivered in reverse", "kB", 1e-3, "New in-order payload that the sink sent and the source read"
    ),
    "reverse.sent_packets": Metric("Reverse packets sent", *COUNT, "Data packets of the sink, including retransmissions"),
    "reverse.received_packets": Metric("Reverse packets received", *COUNT, "Data packets of the sink that reached the source"),
    "reverse.dropped_packets": Metric("Reverse packets dropped", *COUNT, "Data packets of the sink that were dropped or lost"),
    "reverse.retransmitted_packets": Metric("Reverse retransmissions", *COUNT, "Data packets of the sink that were sent again"),
    "reverse.marked_packets": Metric(
        "Reverse packets marked", *COUNT, "Data packets of the sink that a queue marked CE (RFC 3168)"
    ),
    "reverse.delay_s": Metric("Reverse delay", *MS, "Mean network delay of data packets of the sink (RFC 7679)"),
    "reverse.delay_p95_s": Metric("Reverse delay, 95th percentile", *MS, "95th percentile of that delay"),
}

APPLICATION_COLUMNS = {
    "request_response": (
        ("requests", "requests", 1.0, ""), ("mean", "request_s", 1e3, "ms"), ("p50", "request_p50_s", 1e3, "ms"),
        ("p95", "request_p95_s", 1e3, "ms"), ("p99", "request_p99_s", 1e3, "ms"), ("cwnd", "request_cwnd_bytes", 1e-3, "kB"),
        ("connections", "connections_opened", 1.0, ""),
    ),
    "incast": (
        ("servers", "servers", 1.0, ""), ("rounds", "rounds", 1.0, ""), ("completion", "qct_s", 1e3, "ms, mean"),
        ("p50", "qct_p50_s", 1e3, "ms"), ("p95", "qct_p95_s", 1e3, "ms"), ("p99", "qct_p99_s", 1e3, "ms"),
        ("timeouts", "timeouts_per_round", 1.0, "per round"),
    ),
    "page": (
        ("page load", "page_load_s", 1e3, "ms"), ("first object", "first_object_s", 1e3, "ms"), ("objects", "objects", 1.0, ""),
        ("size", "page_bytes", 1e-3, "kB"), ("connections", "connections_opened", 1.0, ""),
    ),
    "responsiveness": (
        ("RPM", "rpm", 1.0, "1/min"), ("new", "rpm_foreign", 1.0, "1/min"), ("loaded", "rpm_loaded", 1.0, "1/min"),
        ("stable", "rpm_stable", 1.0, ""), ("probes", "probes_answered", 1.0, ""),
    ),
    "video": (
        ("rate", "bitrate_mean_bps", 1e-6, "Mb/s, mean"), ("stalled", "stall_s", 1.0, "s"), ("stalls", "stalls", 1.0, ""),
        ("start-up", "startup_s", 1.0, "s"), ("switches", "switches", 1.0, ""), ("chunks", "chunks", 1.0, ""),
        ("quality", "qoe", 1.0, ""),
    ),
    "rtc": (
        ("rate", "rate_mean_bps", 1e-6, "Mb/s, mean"), ("frame", "frame_delay_p50_s", 1e3, "ms, p50"),
        ("p95", "frame_delay_p95_s", 1e3, "ms"), ("p99", "frame_delay_p99_s", 1e3, "ms"),
        ("late", "frames_late_ratio", 100.0, "%"), ("frozen", "freeze_s", 1.0, "s"), ("ended by", "breaker_rule", 1.0, "breaker"),
    ),
    "voice": (
        ("opinion", "mos", 1.0, "MOS"), ("rating", "r_factor", 1.0, "R"), ("mouth to ear", "mouth_to_ear_s", 1e3, "ms"),
        ("lost", "voice_loss_ratio", 100.0, "%"), ("bursts", "voice_burst_ratio", 1.0, "ratio"),
    ),
}  # fmt: skip
"""What applications measured, a table for each kind that a run has."""
REVERSE_COLUMNS = (
    ("goodput", "goodput_bps", 1e-6, "Mb/s"), ("delivered", "delivered_bytes", 1e-3, "kB"), ("delay", "delay_s", 1e3, "ms"),
    ("dropped", "dropped_packets", 1.0, "packets"), ("retransm.", "retransmitted_packets", 1.0, "packets"),
)  # fmt: skip
"""Of data from the sink, of applications that send much of it."""
