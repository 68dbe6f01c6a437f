"""The descriptors of a script and the endpoint behind them; `calls.py` has the system calls."""

from dataclasses import dataclass, field
from typing import Any

from tonopah.packetdrill.settings import Host
from tonopah.packetdrill.syntax import Call, NotApplicableError
from tonopah.runs.endpoint import Endpoint

TIMESTAMPS_BYTES = 12
"""What the timestamps option takes of each segment, padded (RFC 7323, appendix A)."""

REFUSED = {
    "MSG_ZEROCOPY": "zero copy", "MSG_FASTOPEN": "TCP Fast Open", "MSG_OOB": "urgent data", "MSG_EOR": "flag MSG_EOR",
    "AF_UNIX": "UNIX sockets", "IPPROTO_MPTCP": "MPTCP", "SOCK_DGRAM": "UDP", "IPPROTO_UDP": "UDP", "SOCK_RAW": "raw sockets",
}  # fmt: skip
"""Names that make a script not applicable, with the reason."""

REFUSED_OPTIONS = {
    "TCP_KEEPIDLE": "keep-alive probes", "TCP_KEEPINTVL": "keep-alive probes", "TCP_KEEPCNT": "keep-alive probes",
    "SO_MAX_PACING_RATE": "socket option SO_MAX_PACING_RATE",
    "SO_RCVBUF": "socket option SO_RCVBUF: Linux's accounting of receive memory",
    "SO_RCVBUFFORCE": "socket option SO_RCVBUF: Linux's accounting of receive memory",
    "SO_RCVLOWAT": "socket option SO_RCVLOWAT", "SO_ZEROCOPY": "zero copy", "TCP_ULP": "TLS", "TCP_AO_ADD_KEY": "TCP-AO",
    "TCP_DEFER_ACCEPT": "socket option TCP_DEFER_ACCEPT", "TCP_FASTOPEN": "TCP Fast Open",
    "TCP_FASTOPEN_CONNECT": "TCP Fast Open", "TCP_FASTOPEN_KEY": "TCP Fast Open", "TCP_FASTOPEN_NO_COOKIE": "TCP Fast Open",
    "TCP_LINGER2": "socket option TCP_LINGER2", "TCP_MD5SIG": "TCP-MD5", "TCP_MD5SIG_EXT": "TCP-MD5",
    "TCP_NOTSENT_LOWAT": "socket option TCP_NOTSENT_LOWAT", "TCP_QUICKACK": "socket option TCP_QUICKACK",
    "TCP_REPAIR": "socket option TCP_REPAIR", "TCP_TX_DELAY": "socket option TCP_TX_DELAY",
    "TCP_WINDOW_CLAMP": "socket option TCP_WINDOW_CLAMP", "TCP_ZEROCOPY_RECEIVE": "zero copy",
}  # fmt: skip
"""Socket options that change what is not modelled, once they are set; with the reason."""

HARMLESS_OPTIONS = {
    "IP_FREEBIND", "IP_MTU_DISCOVER", "IP_RECVERR", "IP_TOS", "IP_TTL", "IPV6_RECVERR", "IPV6_TCLASS", "IPV6_V6ONLY",
    "SO_BINDTODEVICE", "SO_INCOMING_CPU", "SO_KEEPALIVE", "SO_MARK", "SO_PRIORITY", "SO_REUSEADDR", "SO_REUSEPORT", "SO_SNDBUF",
    "SO_SNDBUFFORCE", "SO_TIMESTAMP", "SO_TIMESTAMPING", "TCP_INQ", "TCP_SAVE_SYN",
}  # fmt: skip
"""Socket options without an effect on what the endpoint sends, or on anything that is compared."""


@dataclass
class Socket:
    """A file descriptor of the script."""

    role: str = "socket"
    """`socket`, `listening` or `connection`."""
    blocking: bool = True
    reads_shut: bool = False
    writes_shut: bool = False
    resets: bool = False
    """SO_LINGER with a time of zero: `close` sends a RST."""


@dataclass
class Sockets:
    """The file descriptors of a script and the one endpoint behind them."""

    host: Host
    endpoint: Endpoint | None = None
    open: dict[int, Socket] = field(default_factory=dict)
    unchecked: set[str] = field(default_factory=set)
    """What was accepted without comparing its result."""
    peer_closed: bool = False
    connected: bool = False
    closed: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    """Settings of the endpoint from socket options."""
    error: str | None = None
    """What SO_ERROR shows: the next call on the connection fails with it."""
    corked: bool = False
    """TCP_CORK was set before there was an endpoint."""
    written: int = 0
    """Bytes written so far."""
    ends: set[int] = field(default_factory=set)
    """Sequence numbers after the last byte of each write."""
    received: int = 0
    """Bytes read so far."""

    def socket(self, call: Call) -> Socket:
        """Return the socket of a call."""
        number = call.arguments[0] if call.arguments else None
        if not isinstance(number, int) or number not in self.open:
            raise NotApplicableError(f"{call.name} on a descriptor that the script did not open")
        return self.open[number]

    def connection(self, call: Call) -> Endpoint:
        """Return the endpoint of a call on a connection."""
        if self.socket(call).role != "connection" or self.endpoint is None:
            raise NotApplicableError(f"{call.name} before the connection")
        return self.endpoint

    def has_connection(self) -> bool:
        """Tell whether a descriptor of a connection is open."""
        return any(socket.role == "connection" for socket in self.open.values())

    def readiness(self, number: int) -> set[str]:
        """Return what poll shows of a descriptor."""
        socket, end = self.open.get(number), self.endpoint
        if socket is None or end is None:
            return set()
        state = end.state
        if socket.role == "listening":
            return {"POLLIN"} if self.connected and not self.has_connection() else set()
        ended = self.peer_closed or socket.reads_shut
        shown = {
            "POLLIN": state.readable_bytes > 0 or ended or self.closed,
            "POLLOUT": state.phase not in {"syn_sent", "syn_received"} and state.room_bytes != 0,
            "POLLRDHUP": ended or self.closed,
            "POLLHUP": self.closed or (ended and socket.writes_shut),
            "POLLERR": self.error is not None,
        }
        return {name for name, holds in shown.items() if holds}

    def begin(self, endpoint: Endpoint | None) -> None:
        """Begin with another connection, or with none yet."""
        self.endpoint, self.error = endpoint, None
        self.peer_closed = self.connected = self.closed = False
        self.written = self.received = 0
        self.ends = set()
        if endpoint is not None and self.corked:
            endpoint.set(cork=True)

    def take_error(self) -> str | None:
        """Return what the connection has failed with, once."""
        error, self.error = self.error, None
        return error

    def note_events(self) -> None:
        """Take over what the endpoint has reported to its application."""
        for event in self.endpoint.events() if self.endpoint else ():
            if event.kind == "reset":
                self.error = "ECONNREFUSED" if not self.connected else "EPIPE" if self.peer_closed else "ECONNRESET"
            elif event.kind == "aborted":
                self.error = "ETIMEDOUT"
            self.connected |= event.kind == "connected"
            self.peer_closed |= event.kind in {"peer_closed", "closed"}
            self.closed |= event.kind == "closed"


def names_in(values: Any) -> set[str]:
    """Return the constants named in the arguments of a call."""
    names: set[str] = set()
    for value in values if isinstance(values, list | tuple) else [values]:
        if isinstance(value, str):
            names |= set(value.split("|"))
        elif isinstance(value, list):
            names |= names_in(value)
    return names


def flat(values: Any) -> list[Any]:
    """Return all numbers and names in the arguments of a call, in order."""
    return [each for value in values for each in (flat(value) if isinstance(value, list | tuple) else [value])]


def sizes_in(values: Any) -> list[int]:
    """Return the lengths of the buffers `{..., N}` in an argument."""
    if not isinstance(values, list):
        return []
    if len(values) == 2 and values[0] is ... and isinstance(values[1], int):
        return [values[1]]
    return [size for value in values for size in sizes_in(value)]


def length(call: Call) -> int:
    """Return how many bytes a call reads or writes."""
    if call.name == "sendfile" and isinstance(call.arguments[-1], int):
        return call.arguments[-1]
    vectors = [size for value in call.arguments[1:] for size in sizes_in(value)]
    if vectors:
        return sum(vectors)
    if len(call.arguments) > 2 and isinstance(call.arguments[2], int):
        return call.arguments[2]
    raise NotApplicableError(f"{call.name} without a length")


def endpoint_settings(sockets: Sockets, active: bool) -> dict[str, Any]:
    """Return the settings of the endpoint; its `mss` leaves room for the timestamps that it offers, that of a script does not."""
    tcp = sockets.host.settings(active) | sockets.options
    if tcp.get("timestamps", True):
        tcp["mss"] = f"{int(tcp['mss'][:-1]) - TIMESTAMPS_BYTES}B"
    return tcp
