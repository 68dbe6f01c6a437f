"""System calls of a script as calls of the endpoint: what a socket would return, and what stands in their way."""

from collections.abc import Callable

from tonopah.packetdrill.sockets import (
    HARMLESS_OPTIONS,
    REFUSED,
    REFUSED_OPTIONS,
    Socket,
    Sockets,
    endpoint_settings,
    flat,
    length,
    names_in,
)
from tonopah.packetdrill.syntax import Call, NotApplicableError
from tonopah.runs.endpoint import Endpoint

Result = tuple[int | None, str | None] | None
"""Result and errno, `(None, None)` if any will do, or None as long as the call would block."""

NOT_DONE = {"EFAULT", "EINVAL", "ENOBUFS", "EOPNOTSUPP", "ENOPROTOOPT", "EBADF"}
"""Errors of calls whose arguments are wrong: they have no effect on a connection."""


def carry_out(sockets: Sockets, call: Call) -> Result:
    """Carry out a call; raise NotApplicableError for what is not modelled."""
    for name in sorted(names_in(call.arguments)):
        if name in REFUSED:
            raise NotApplicableError(REFUSED[name])
    action = CALLS.get(call.name)
    if action is None:
        raise NotApplicableError(f"the system call {call.name}")
    if call.errno in NOT_DONE:
        sockets.unchecked.add(f"calls that fail with {call.errno}")
        return None, None
    try:
        return action(sockets, call)
    except IndexError:
        raise NotApplicableError(f"{call.name} with {len(call.arguments)} arguments") from None
    except (TypeError, ValueError, OverflowError):
        # A list where a name is asked for, a negative length.
        raise NotApplicableError(f"{call.name} with arguments of other kinds") from None


def do_socket(sockets: Sockets, call: Call) -> Result:
    """Open a socket under the number that the script expects."""
    if call.result is None or call.result < 0:
        return None, None
    if not sockets.open:
        # Everything before is closed: what follows is another connection.
        sockets.begin(None)
        sockets.options, sockets.corked = {}, False
    sockets.open[call.result] = Socket(blocking="SOCK_NONBLOCK" not in names_in(call.arguments))
    return call.result, None


def do_listen(sockets: Sockets, call: Call) -> Result:
    """Listen."""
    sockets.socket(call).role = "listening"
    return 0, None


def do_accept(sockets: Sockets, call: Call) -> Result:
    """Take the connection once its handshake is done."""
    listener = sockets.socket(call)
    end = sockets.endpoint
    waiting = end is None or end.state.phase in {"listen", "syn_received"}
    if waiting or (end is not None and end.state.phase == "closed" and not sockets.connected):
        return None if listener.blocking else (-1, "EAGAIN")
    if call.result is not None and call.result >= 0:
        blocking = "SOCK_NONBLOCK" not in names_in(call.arguments[3:])
        sockets.open[call.result] = Socket("connection", blocking, resets=listener.resets)
    return call.result, None


def do_connect(sockets: Sockets, call: Call) -> Result:
    """Open actively; a blocking call returns after the handshake."""
    socket = sockets.socket(call)
    if sockets.endpoint is None:
        sockets.begin(Endpoint.connect(endpoint_settings(sockets, active=True), auto_read=False))
        socket.role = "connection"
        return None if socket.blocking else (-1, "EINPROGRESS")
    phase = sockets.endpoint.state.phase
    if phase == "syn_sent":
        return None if socket.blocking else (-1, "EALREADY")
    if sockets.error:
        return -1, sockets.take_error()
    if phase == "closed":
        return None, None
    return (0, None) if call.result == 0 else (-1, "EISCONN")


def do_read(sockets: Sockets, call: Call) -> Result:
    """Read what there is."""
    if "MSG_ERRQUEUE" in names_in(call.arguments[1:]):
        sockets.unchecked.add("the error queue")
        return None, None
    socket = sockets.socket(call)
    if socket.role != "connection" or sockets.endpoint is None:
        return -1, "ENOTCONN"
    end = sockets.endpoint
    wanted = length(call)
    flags = names_in(call.arguments[2:])
    if "MSG_WAITALL" in flags:
        raise NotApplicableError("flag MSG_WAITALL")
    got = min(wanted, end.state.readable_bytes) if "MSG_PEEK" in flags else end.read(wanted)
    if "MSG_PEEK" not in flags:
        sockets.received += got
    if got:
        return shown_inq(sockets, call, got)
    if sockets.error:
        return -1, sockets.take_error()
    if wanted == 0 or sockets.peer_closed or socket.reads_shut:
        return shown_inq(sockets, call, 0)
    return None if socket.blocking and "MSG_DONTWAIT" not in flags else (-1, "EAGAIN")


def shown_inq(sockets: Sockets, call: Call, got: int) -> Result:
    """Return the result of a read whose control message TCP_CM_INQ, if it has one, is right."""
    sockets.note_events()
    values = flat(call.arguments)
    if "TCP_CM_INQ" not in values or sockets.endpoint is None:
        return got, None
    following = values[values.index("TCP_CM_INQ") :]
    expected = following[following.index("cmsg_data") + 1] if "cmsg_data" in following[:-1] else ...
    # Linux counts one byte where nothing but the end of the stream is left.
    seen = sockets.endpoint.state.readable_bytes or int(sockets.peer_closed)
    return (got, None) if expected in (seen, ...) else (got, f"TCP_CM_INQ {seen}")


def do_write(sockets: Sockets, call: Call) -> Result:
    """Write; the send buffer is as large as the script asks for."""
    end = sockets.connection(call)
    wanted = length(call)
    if sockets.error:
        return -1, sockets.take_error()
    if sockets.closed or sockets.socket(call).writes_shut:
        return -1, "EPIPE"
    if call.result is not None and call.result >= 0 and call.result != wanted:
        raise NotApplicableError("the accounting of Linux's send buffer (a partial or blocking write)")
    if end.state.phase == "syn_sent" and (not sockets.socket(call).blocking):
        return -1, "EAGAIN"
    more = "MSG_MORE" in names_in(call.arguments[2:])
    taken = end.write(wanted, more=more)
    sockets.written += taken
    if not more and taken:
        sockets.ends.add(1 + sockets.written)
    return taken, None


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
    socket = sockets.socket(call)
    if socket.role == "connection" and sockets.endpoint is not None:
        if socket.resets:
            sockets.endpoint.abort()
        else:
            sockets.endpoint.close()
    number = call.arguments[0]
    assert isinstance(number, int), "socket() has found it"
    del sockets.open[number]
    return 0, None


def do_setsockopt(sockets: Sockets, call: Call) -> Result:
    """Set an option of the socket; before the endpoint exists it becomes one of its settings."""
    option, value = call.arguments[2], call.arguments[3]
    if option in REFUSED_OPTIONS:
        raise NotApplicableError(REFUSED_OPTIONS[option])
    number = value[0] if isinstance(value, list) and value else value
    end = sockets.endpoint
    if option == "SO_LINGER":
        switches = [each for each in flat([value]) if isinstance(each, int)]
        sockets.socket(call).resets = switches[:2] == [1, 0]
    elif end is None:
        set_before(sockets, option, number)  # pyright: ignore[reportArgumentType]
    elif option == "TCP_NODELAY":
        end.set(nagle=not number)
    elif option == "TCP_CORK":
        end.set(cork=bool(number))
    elif option == "TCP_USER_TIMEOUT":
        end.set(user_timeout=f"{number}ms")
    elif option in {"TCP_MAXSEG", "TCP_CONGESTION", "TCP_SYNCNT", "TCP_RTO_MAX_MS"}:
        raise NotApplicableError(f"socket option {option} at this time")
    elif option not in HARMLESS_OPTIONS:
        sockets.unchecked.add(f"setsockopt {option}")
    return 0, None


def set_before(sockets: Sockets, option: str, number: int | str) -> None:
    """Keep an option for the endpoint that is to come."""
    match option:
        case "TCP_NODELAY":
            sockets.options["nagle"] = not number
        case "TCP_CORK":
            sockets.corked = bool(number)
        case "TCP_USER_TIMEOUT":
            sockets.options["user_timeout"] = f"{number}ms"
        case "TCP_MAXSEG" if isinstance(number, int):
            sockets.options["mss"] = f"{number}B"
        case "TCP_SYNCNT":
            sockets.options["syn_retries"] = number
        case "TCP_RTO_MAX_MS":
            sockets.options["rto_max"] = f"{number}ms"
        case "TCP_CONGESTION" if isinstance(number, str):
            sockets.options["cc"] = number
        case _ if option not in HARMLESS_OPTIONS:
            sockets.unchecked.add(f"setsockopt {option}")


def do_getsockopt(sockets: Sockets, call: Call) -> Result:
    """Compare TCP_MAXSEG and SO_ERROR of a connection; accept what other options show."""
    end, value = sockets.endpoint, call.arguments[3]
    expected = value[0] if isinstance(value, list) and value else ...
    mss = end.state.mss_bytes if end is not None else None
    if call.arguments[2] == "TCP_MAXSEG" and mss is not None:
        return (0, None) if expected in (mss, ...) else (mss, "as TCP_MAXSEG")
    if call.arguments[2] == "SO_ERROR" and end is not None:
        error = sockets.take_error() or 0
        return (0, None) if expected in (error, ...) else (0, f"SO_ERROR {error}")
    sockets.unchecked.add(f"getsockopt {call.arguments[2]}")
    return None, None


def do_fcntl(sockets: Sockets, call: Call) -> Result:
    """Switch blocking on and off."""
    if call.arguments[1] == "F_SETFL":
        sockets.socket(call).blocking = "O_NONBLOCK" not in names_in(call.arguments[2:])
        return 0, None
    return None, None


def do_ioctl(sockets: Sockets, call: Call) -> Result:
    """Compare what waits to be read, to be acknowledged or to be sent."""
    which = call.arguments[1]
    if which not in {"SIOCINQ", "FIONREAD", "SIOCOUTQ", "TIOCOUTQ", "SIOCOUTQNSD"}:
        sockets.unchecked.add(f"ioctl {which}")
        return None, None
    state = sockets.connection(call).state
    expected = call.arguments[2][0] if isinstance(call.arguments[2], list) else call.arguments[2]
    if which in {"SIOCINQ", "FIONREAD"}:
        seen = state.readable_bytes
    else:
        seen = (state.unsent_bytes or 0) + (0 if which == "SIOCOUTQNSD" else state.flight_bytes or 0)
    return (0, None) if expected in (seen, ...) else (seen, f"as {which}")


def do_poll(sockets: Sockets, call: Call) -> Result:
    """Compare what is ready: `{fd=4, events=POLLIN, revents=POLLIN}` for each descriptor."""
    sockets.note_events()
    ready, wrong = 0, ""
    for entry in call.arguments[0]:
        fields = dict(zip(entry[::2], entry[1::2], strict=False)) if isinstance(entry, list) else {}
        number, asked, wanted = fields.get("fd"), names_in(fields.get("events")), fields.get("revents", ...)
        if not isinstance(number, int):
            raise NotApplicableError("poll without a descriptor")
        seen = sockets.readiness(number) & (asked | {"POLLERR", "POLLHUP"})
        ready += bool(seen)
        if wanted is not ... and seen != names_in(wanted):
            wrong = f"fd {number}: {'|'.join(sorted(seen)) or 0}"
    if not ready and call.result and sockets.open and call.arguments[2] != 0:
        return None
    return ready, wrong or None


def do_nothing(sockets: Sockets, call: Call) -> Result:
    """Accept a call without an effect on the endpoint."""
    if call.name not in {"bind"}:
        sockets.unchecked.add(f"results of {call.name}")
    return None, None


CALLS: dict[str, Callable[[Sockets, Call], Result]] = {
    "accept": do_accept, "accept4": do_accept, "bind": do_nothing, "close": do_close, "connect": do_connect,
    "epoll_create": do_nothing, "epoll_create1": do_nothing, "epoll_ctl": do_nothing, "epoll_wait": do_nothing, "fcntl": do_fcntl,
    "getsockopt": do_getsockopt, "ioctl": do_ioctl, "listen": do_listen, "open": do_nothing, "poll": do_poll,
    "read": do_read, "readv": do_read, "recv": do_read, "recvfrom": do_read, "recvmsg": do_read, "send": do_write,
    "sendfile": do_write, "sendmsg": do_write, "sendto": do_write, "setsockopt": do_setsockopt, "shutdown": do_shutdown,
    "socket": do_socket, "write": do_write, "writev": do_write,
}  # fmt: skip
