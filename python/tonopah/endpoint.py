"""One TCP endpoint driven by hand: you are its peer, its application and its clock.

The endpoint is the one that the simulator uses. Sequence numbers start at 0 with the SYN, so the first byte is number 1;
data is counted, not carried. Times are in seconds, sizes in bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from tonopah._core import Endpoint as CoreEndpoint
from tonopah._core import check_segment
from tonopah.cc.binding import BoundScenario, bind
from tonopah.errors import InputError
from tonopah.scenario.document import refuse_odd_values


@dataclass(frozen=True, repr=False)
class Segment:
    """A TCP segment with the ECN field of its packet.

    `flags` has the letters S (SYN), F (FIN), R (RST), E (ECE), W (CWR), e (AE) and . (ACK), such as `"S."`. `sack` holds
    up to four blocks `(start, end)`, `timestamps_ms` is `(value, echo)`, `ecn` is one of `not_ect`, `ect0`, `ect1`, `ce`,
    `ecn_bytes` the counts `(ect0, ce, ect1)` of the AccECN option. `mss_bytes`, `window_scale` and `sack_permitted` are
    the options of a SYN. The window is that of the receiver in bytes, scaling already applied.

    Raises ScenarioError when a field cannot be had, with the field and what is allowed.
    """

    seq: int = 0
    ack: int = 0
    len_bytes: int = 0
    flags: str = "."
    window_bytes: int = 65_535
    sack: tuple[tuple[int, int], ...] = ()
    timestamps_ms: tuple[int, int] | None = None
    ecn: str = "not_ect"
    ecn_bytes: tuple[int, int, int] | None = None
    mss_bytes: int | None = None
    window_scale: int | None = None
    sack_permitted: bool = False

    def __post_init__(self) -> None:
        check_segment(self)

    def __repr__(self) -> str:
        """Return the segment as it can be written: what differs from the defaults."""
        values = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        return f"Segment({', '.join(f'{name}={value!r}' for name, value, default in values if value != default)})"

    def __str__(self) -> str:
        """Return the segment as tcpdump would show it: flags, first:last(payload), acknowledgment, window, the rest."""
        words = [self.flags or "none", f"{self.seq}:{self.seq + self.len_bytes}({self.len_bytes})"]
        if "." in self.flags:
            words.append(f"ack {self.ack}")
        words.append(f"win {self.window_bytes}")
        if self.sack:
            words.append("sack " + " ".join(f"{start}:{end}" for start, end in self.sack))
        for field in fields(self)[6:]:
            value = getattr(self, field.name)
            if value != field.default:
                words.append(f"{field.name} {value}")
        return " ".join(words)


@dataclass(frozen=True)
class EndpointEvent:
    """What the application was told: `connected`, `delivered` (with `len_bytes`), `writable`, `peer_closed`, `closed`."""

    time_s: float
    kind: str
    len_bytes: int = 0


@dataclass(frozen=True)
class EndpointState:
    """How an endpoint stands. What its sender knows is None before the handshake is done.

    `phase` is the state of the connection (`established`, `fin_wait_1` …), `state` that of the sender (`open`,
    `disorder`, `recovery`, `loss` …). `cwnd_bytes` is the algorithm's window; `send_window_bytes` is what the sender may
    use now, which differs during recovery. `flight_bytes` is sent and not acknowledged, `pipe_bytes` is believed in the
    network. `timers` has the deadlines that are set: `rto`, `tlp`, `reorder`, `pacing`, `persist`, `delayed_ack`,
    `compressed_ack`, `time_wait`; `next_timeout_s` is the earliest. `room_bytes` is what the send buffer would take,
    `readable_bytes` what waits for `read`. No limit, as `ssthresh_bytes` before the first loss, is None.
    """

    now_s: float
    phase: str
    state: str | None
    cwnd_bytes: int | None
    ssthresh_bytes: int | None
    send_window_bytes: int | None
    pipe_bytes: int | None
    flight_bytes: int | None
    srtt_s: float | None
    min_rtt_s: float | None
    rto_s: float | None
    next_timeout_s: float | None
    timers: dict[str, float]
    room_bytes: int | None
    readable_bytes: int
    recovery_point: int | None
    timeouts: int
    recoveries: int
    retransmitted_segments: int


class Endpoint:
    """A TCP endpoint driven by hand, made by `Endpoint.connect` or `Endpoint.listen`.

    You are the peer. The handshake; the initial window of three segments leaves at once:

    >>> from tonopah import Endpoint, Segment
    >>> end = Endpoint.connect(tcp={"cc": "newreno", "recovery": "newreno", "mss": "1000B", "initial_window": "3p"})
    >>> _ = end.write(100_000)
    >>> [segment.flags for time, segment in end.sent()]
    ['S']
    >>> end.advance(0.1)
    >>> end.inject(Segment(seq=0, ack=1, flags="S.", window_bytes=60_000))
    >>> [(segment.seq, segment.len_bytes) for time, segment in end.sent() if segment.len_bytes]
    [(1, 1000), (1001, 1000), (2001, 1000)]

    Slow start: an acknowledgment of one segment lets two follow.

    >>> end.advance(0.1)
    >>> end.inject(Segment(seq=1, ack=1001, window_bytes=60_000))
    >>> [segment.seq for time, segment in end.sent()]
    [3001, 4001]
    >>> end.state.cwnd_bytes, end.state.srtt_s
    (4000, 0.1)

    The next segment is lost: the third duplicate acknowledgment sends it again, and the window is halved.

    >>> for _ in range(3):
    ...     end.inject(Segment(seq=1, ack=1001, window_bytes=60_000))
    >>> [segment.seq for time, segment in end.sent()]
    [5001, 6001, 1001]
    >>> end.state.state, end.state.ssthresh_bytes
    ('recovery', 2000)
    """

    def __init__(self, core: CoreEndpoint):
        if not isinstance(core, CoreEndpoint):
            raise TypeError("an endpoint is made by Endpoint.connect() or Endpoint.listen()")
        self._core = core

    @classmethod
    def connect(cls, tcp: Mapping[str, Any] | None = None, auto_read: bool = True) -> Self:
        """Return an active endpoint; its SYN is the first segment of `sent()`.

        `tcp` holds the settings of a scenario's table `tcp` (docs/scenario.md), such as `{"cc": "cubic", "mss": "1000B"}`.
        The application reads what arrives at once, as in a scenario; with `auto_read=False` only `read` does.
        Raises ScenarioError, with the path of the key at fault, when the settings are wrong.
        """
        bound = engine_settings(tcp)
        return cls(CoreEndpoint.connect(bound.text, auto_read, bound.algorithms))

    @classmethod
    def listen(cls, tcp: Mapping[str, Any] | None = None, auto_read: bool = True) -> Self:
        """Return a passive endpoint, which waits for a SYN. The arguments are as for `connect`."""
        bound = engine_settings(tcp)
        return cls(CoreEndpoint.listen(bound.text, auto_read, bound.algorithms))

    def write(self, n: int) -> int:
        """Offer `n` bytes to send and return how many the send buffer took; an event `writable` tells when to go on."""
        return self._core.write(n)

    def read(self, n: int) -> int:
        """Read up to `n` bytes and return how many there were; the other side may be told that the window is open again."""
        return self._core.read(n)

    def close(self) -> None:
        """Send no more data than what was written."""
        self._core.close()

    def advance(self, seconds: float) -> None:
        """Let time pass. Timers on the way fire, and what they send carries their time."""
        self._core.advance(seconds)

    def at(self, time_s: float) -> None:
        """Let time pass until `time_s`, counted from when the endpoint was made."""
        self._core.at(time_s)

    def inject(self, segment: Segment) -> None:
        """Let a segment arrive now."""
        self._core.inject(segment)

    def sent(self) -> list[tuple[float, Segment]]:
        """Return what it has sent since the last call, each with its time in seconds."""
        return [(time_s, Segment(**values)) for time_s, values in self._core.sent()]

    def events(self) -> list[EndpointEvent]:
        """Return what its application was told since the last call."""
        return [EndpointEvent(*event) for event in self._core.events()]

    @property
    def state(self) -> EndpointState:
        """How it stands now."""
        return EndpointState(**self._core.state())

    @property
    def settings(self) -> dict[str, Any]:
        """Its settings with every default filled in, as for `tcp` of a scenario."""
        return json.loads(self._core.settings())

    def __repr__(self) -> str:
        now = self.state
        text = f"<tonopah.Endpoint: {now.phase} at {now.now_s:g} s"
        if now.cwnd_bytes is not None:
            text += f", {now.state}, cwnd {now.cwnd_bytes} B, flight {now.flight_bytes} B"
        return text + ">"


def engine_settings(tcp: Mapping[str, Any] | None) -> BoundScenario:
    """Return the settings as the engine takes them, or raise InputError for what is no table of settings."""
    if tcp is None:
        return BoundScenario("{}")
    if not isinstance(tcp, Mapping):
        raise InputError("tcp", f"{tcp!r} is not a table", 'such as {"cc": "cubic", "mss": "1000B"}')
    refuse_odd_values(tcp, "tcp")
    return bind(tcp, path="tcp")
