"""The metrics of flows over a whole transport in a library (docs/transport.md)."""

from tonopah.metrics.metric import COUNT, Metric

TRANSPORTS = {
    "declared_lost_packets": Metric("Declared lost", *COUNT, "Packets that a transport in a library has taken for lost"),
    "needless_lost_packets": Metric(
        "Declared lost needlessly", *COUNT, "Packets that a transport in a library has taken for lost, less those dropped"
    ),
    "too_big_packets": Metric("Too big", *COUNT, "Datagrams of a transport in a library that the first link did not take"),
    "transport_closed": Metric(
        "Connection closed",
        "",
        1.0,
        "Of a transport in a library: 0 it lives, 1 an end has closed it, 2 it has failed",
    ),
    "close_code": Metric("Code of the failure", "", 1.0, "With which the connection of a transport in a library has failed"),
}
