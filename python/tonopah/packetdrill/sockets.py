"""System calls of a script as calls of the endpoint: what a socket would return, and what stands in their way."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tonopah.endpoint import Endpoint
from tonopah.packetdrill.settings import Host
from tonopah.packetdrill.syntax import Call, NotApplicableError

TIMESTAMPS_BYTES = 12
"""What the timestamps option takes of each segment, padded (RFC 7323, appendix A)."""

REFUSED = {
    "MSG_EOR": "flag MSG_EOR", "MSG_MORE": "flag MSG_MORE", "MSG_ZEROCOPY": "zero copy", "MSG_FASTOPEN": "TCP Fast Open",
    "MSG_OOB": "urgent data", "TCP_FASTOPEN": "TCP Fast Open", "TCP_FASTOPEN_CONNECT": "TCP Fast Open",
    "TCP_FASTOPEN_NO_COOKIE": "TCP Fast Open", "SO_ZEROCOPY": "zero copy", "TCP_ZEROCOPY_RECEIVE": "zero copy",
    "TCP_MD5SIG": "TCP-MD5", "TCP_NOTSENT_LOWAT": "socket option TCP_NOTSENT_LOWAT",
    "TCP_USER_TIMEOUT": "socket option TCP_USER_TIMEOUT",
    "SO_LINGER": "socket option SO_LINGER", "SO_RCVBUF": "socket option SO_RCVBUF: Linux's accounting of receive memory",
    "SO_MAX_PACING_RATE": "socket option SO_MAX_PACING_RATE", "TCP_REPAIR": "socket option TCP_REPAIR",
    "TCP_WINDOW_CLAMP": "socket option TCP_WINDOW_CLAMP", "TCP_DEFER_ACCEPT": "socket option TCP_DEFER_ACCEPT",
    "AF_INET6": "IPv6", "IPPROTO_MPTCP": "MPTCP", "SOCK_DGRAM": "UDP", "IPPROTO_UDP": "UDP",
}  # fmt: skip
"""Names that make a script not applicable, with the reason."""


@dataclass
class Socket:
    """A file descriptor of the script."""

    role: str = "socket"
    """`socket`, `listening` or `connection`."""
    blocking: bool = True
    reads_shut: bool = False
    writes_shut: bool = False


@dataclass
class Sockets:
    """The file descriptors of a script and the one endpoint behind them."""

    host: Host
    endpoint: Endpoint | None = None
    open: dict[int, Socket] = field(default_factory=dict)
    unchecked: set[str] = field(default_factory=set)
    """What was accepted without comparing its result."""
    peer_closed: bool = False
    closed: bool = False

    def run(self, call: Call) -> tuple[int | None, str | None] | None:
        """Carry out a call: its result and errno, `(None, None)` if any will do, or None as long as it would block."""
        for name in names_in(call.arguments):
            if name in REFUSED:
                raise NotApplicableError(REFUSED[name])
        if call.errno in {"EFAULT", "EINVAL", "ENOBUFS", "EOPNOTSUPP"}:
            raise NotApplicableError(f"a call that fails with {call.errno}")
        action = CALLS.get(call.name)
        if action is None:
            raise NotApplicableError(f"the system call {call.name}")
        try:
            return action(self, call)
        except IndexError:
            raise NotApplicableError(f"{call.name} with {len(call.arguments)} arguments") from None

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

    def note_events(self) -> None:
        """Take over what the endpoint has reported to its application."""
        for event in self.endpoint.events() if self.endpoint else ():
            self.peer_closed |= event.kind in {"peer_closed", "closed"}
            self.closed |= event.kind == "closed"


Result = tuple[int | None, str | None] | None


def names_in(values: Any) -> set[str]:
    """Return the constants named in the arguments of a call."""
    names: set[str] = set()
    for value in values if isinstance(values, list | tuple) else [values]:
        if isinstance(value, str):
            names |= set(value.split("|"))
        elif isinstance(value, list):
            names |= names_in(value)
    return names


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


def do_socket(sockets: Sockets, call: Call) -> Result:
    """Open a socket under the number that the script expects."""
    if call.result is None or call.result < 0:
        return None, None
    if not sockets.open:
        # Everything before is closed: what follows is another connection.
        sockets.endpoint, sockets.peer_closed, sockets.closed = None, False, False
    sockets.open[call.result] = Socket()
    return call.result, None


def do_listen(sockets: Sockets, call: Call) -> Result:
    """Listen."""
    sockets.socket(call).role = "listening"
    return 0, None


def do_accept(sockets: Sockets, call: Call) -> Result:
    """Take the connection once its handshake is done."""
    listener = sockets.socket(call)
    end = sockets.endpoint
    if end is None or end.state.phase in {"listen", "syn_received", "closed"}:
        return None if listener.blocking else (-1, "EAGAIN")
    if call.result is not None and call.result >= 0:
        sockets.open[call.result] = Socket("connection")
    return call.result, None


def do_connect(sockets: Sockets, call: Call) -> Result:
    """Open actively; a blocking call returns after the handshake."""
    socket = sockets.socket(call)
    if sockets.endpoint is None:
        sockets.endpoint = Endpoint.connect(endpoint_settings(sockets.host, active=True), auto_read=False)
        socket.role = "connection"
        return None if socket.blocking else (-1, "EINPROGRESS")
    phase = sockets.endpoint.state.phase
    if phase == "syn_sent":
        return None if socket.blocking else (-1, "EALREADY")
    if phase == "closed":
        return None, None
    return (0, None) if call.result == 0 else (-1, "EISCONN")


def do_read(sockets: Sockets, call: Call) -> Result:
    """Read what there is."""
    if "MSG_ERRQUEUE" in names_in(call.arguments[1:]):
        sockets.unchecked.add("the error queue")
        return None, None
    end = sockets.connection(call)
    wanted = length(call)
    flags = names_in(call.arguments[3:])
    if "MSG_PEEK" in flags:
        raise NotApplicableError("flag MSG_PEEK")
    got = end.read(wanted)
    if got or wanted == 0 or sockets.peer_closed or sockets.socket(call).reads_shut:
        return got, None
    blocking = sockets.socket(call).blocking and "MSG_DONTWAIT" not in flags
    return None if blocking else (-1, "EAGAIN")


def do_write(sockets: Sockets, call: Call) -> Result:
    """Write; the send buffer is as large as the script asks for."""
    end = sockets.connection(call)
    wanted = length(call)
    if call.result is not None and call.result >= 0 and call.result != wanted:
        raise NotApplicableError("the accounting of Linux's send buffer (a partial or blocking write)")
    if sockets.closed or sockets.socket(call).writes_shut:
        return -1, "EPIPE"
    return end.write(wanted), None


def do_shutdown(sockets: Sockets, call: Call) -> Result:
    """Close one direction or both."""
    end = sockets.connection(call)
    how = names_in(call.arguments[1:])
    if how & {"SHUT_RD", "SHUT_RDWR"}:
        sockets.socket(call).reads_shut = True
        end.shutdown_read()
    if how & {"SHUT_WR", "SHUT_RDWR"}:
        sockets.socket(call).writes_shut = True
        end.shutdown_write()
    return 0, None


def do_close(sockets: Sockets, call: Call) -> Result:
    """Close a descriptor, and with it its connection."""
    if sockets.socket(call).role == "connection" and sockets.endpoint is not None:
        sockets.endpoint.close()
    number = call.arguments[0]
    assert isinstance(number, int), "socket() has found it"
    del sockets.open[number]
    return 0, None


def do_setsockopt(sockets: Sockets, call: Call) -> Result:
    """Set an option of the socket; before the endpoint exists it becomes one of its settings."""
    option = call.arguments[2]
    value = call.arguments[3]
    number = value[0] if isinstance(value, list) and value else value
    tcp = sockets.host.tcp
    end = sockets.endpoint
    if option not in {"TCP_NODELAY", "TCP_CORK", "TCP_MAXSEG", "TCP_CONGESTION"}:
        return 0, None
    if end is not None and option == "TCP_NODELAY":
        end.set(nagle=not number)
    elif end is not None and option == "TCP_CORK":
        end.set(cork=bool(number))
    elif end is not None or option == "TCP_CORK":
        raise NotApplicableError(f"socket option {option} at this time")
    elif option == "TCP_NODELAY":
        tcp["nagle"] = not number
    elif option == "TCP_MAXSEG":
        tcp["mss"] = f"{number}B"
    elif isinstance(number, str):
        tcp["cc"] = number
    return 0, None


def do_getsockopt(sockets: Sockets, call: Call) -> Result:
    """Compare TCP_MAXSEG of a connection; accept what other options show."""
    end, value = sockets.endpoint, call.arguments[3]
    mss = end.state.mss_bytes if end is not None else None
    if call.arguments[2] == "TCP_MAXSEG" and mss is not None and isinstance(value, list) and value:
        return (0, None) if value[0] == mss else (mss, "as TCP_MAXSEG")
    sockets.unchecked.add(f"getsockopt {call.arguments[2]}")
    return None, None


def do_fcntl(sockets: Sockets, call: Call) -> Result:
    """Switch blocking on and off."""
    if call.arguments[1] == "F_SETFL":
        sockets.socket(call).blocking = "O_NONBLOCK" not in names_in(call.arguments[2:])
        return 0, None
    return None, None


def do_ioctl(sockets: Sockets, call: Call) -> Result:
    """Compare what waits to be read."""
    if call.arguments[1] != "SIOCINQ":
        sockets.unchecked.add(f"ioctl {call.arguments[1]}")
        return None, None
    end = sockets.connection(call)
    expected = call.arguments[2][0] if isinstance(call.arguments[2], list) else call.arguments[2]
    readable = end.state.readable_bytes
    return (0, None) if readable == expected else (readable, "as SIOCINQ")


def do_nothing(sockets: Sockets, call: Call) -> Result:
    """Accept a call without an effect on the endpoint."""
    if call.name not in {"bind"}:
        sockets.unchecked.add(f"results of {call.name}")
    return None, None


CALLS: dict[str, Callable[[Sockets, Call], Result]] = {
    "accept": do_accept, "accept4": do_accept, "bind": do_nothing, "close": do_close, "connect": do_connect,
    "epoll_create": do_nothing, "epoll_ctl": do_nothing, "epoll_wait": do_nothing, "fcntl": do_fcntl,
    "getsockopt": do_getsockopt, "ioctl": do_ioctl, "listen": do_listen, "open": do_nothing, "poll": do_nothing,
    "read": do_read, "readv": do_read, "recv": do_read, "recvfrom": do_read, "recvmsg": do_read, "send": do_write,
    "sendfile": do_write,
    "sendmsg": do_write, "sendto": do_write, "setsockopt": do_setsockopt, "shutdown": do_shutdown, "socket": do_socket,
    "write": do_write, "writev": do_write,
}  # fmt: skip


def endpoint_settings(host: Host, active: bool) -> dict[str, Any]:
    """Return the settings of the endpoint; its `mss` leaves room for the timestamps that it offers, that of a script does not."""
    tcp = host.settings(active)
    if tcp.get("timestamps", True):
        tcp["mss"] = f"{int(tcp['mss'][:-1]) - TIMESTAMPS_BYTES}B"
    return tcp
