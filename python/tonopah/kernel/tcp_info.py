"""What the kernel says of a TCP socket (`struct tcp_info` of linux/tcp.h), as the series of a simulation."""

import math
import socket
import struct
from dataclasses import dataclass

TCP_INFO_BYTES = 256
WORDS = struct.Struct("=8B24I4Q6I4Q")
"""Up to `tcpi_sndbuf_limited`; a kernel of this century has them all (4.10)."""
TOTAL_RTO = struct.Struct("=H")
TOTAL_RTO_AT = 240
"""`tcpi_total_rto`, since Linux 6.7."""
INFINITE_SSTHRESH = 0x7FFFFFFF
INFINITE_RATE = 2**64 - 1


@dataclass(frozen=True)
class TcpInfo:
    """What a sender is doing, in SI units; windows in bytes."""

    cwnd: float
    ssthresh: float
    srtt: float
    rttvar: float
    min_rtt: float
    rto: float
    pacing_rate: float
    delivery_rate: float
    retransmits: float
    state: float
    pipe: float
    outstanding: float
    timeouts: float
    acked: float

    @classmethod
    def of(cls, data: bytes) -> "TcpInfo":
        """Read the structure."""
        _, state, timeouts, *_ = head = WORDS.unpack_from(data.ljust(WORDS.size, b"\0"))
        words, wide = head[8:32], head[32:36]
        rto, _, mss, _, unacked, sacked, lost, retransmitted = words[:8]
        rtt, rttvar, ssthresh, cwnd = words[15:19]
        min_rtt, rate = head[39], head[42]
        return cls(
            cwnd=float(cwnd * mss),
            ssthresh=math.nan if ssthresh >= INFINITE_SSTHRESH else float(ssthresh * mss),
            srtt=rtt / 1e6 if rtt else math.nan,
            rttvar=rttvar / 1e6,
            min_rtt=min_rtt / 1e6 if min_rtt != 2**32 - 1 else math.nan,
            rto=rto / 1e6,
            pacing_rate=math.nan if wide[0] == INFINITE_RATE else 8.0 * wide[0],
            delivery_rate=8.0 * rate if rate else math.nan,
            retransmits=float(words[23]),
            state=float(state),
            pipe=float((unacked - sacked - lost + retransmitted) * mss),
            outstanding=float((unacked - sacked) * mss),
            timeouts=float(timeouts),
            acked=float(wide[2]),
        )


SERIES = tuple(TcpInfo.__dataclass_fields__)
"""Series of a run that the kernel knows."""


def read(connection: socket.socket) -> bytes:
    """Return what the kernel says of a socket."""
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)


def total_timeouts(data: bytes) -> int | None:
    """Return how many retransmission timeouts a socket has had, where the kernel counts them."""
    return TOTAL_RTO.unpack_from(data, TOTAL_RTO_AT)[0] if len(data) >= TOTAL_RTO_AT + TOTAL_RTO.size else None
