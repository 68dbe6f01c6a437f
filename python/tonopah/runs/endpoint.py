"""One TCP endpoint driven by hand: the caller is its peer, its application and its clock.

The endpoint is the one that the simulator uses. Sequence numbers start at 0 with the SYN, so that the first byte has number 1;
data is counted, not carried. Times are in seconds, sizes in bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tonopah._core import Endpoint as CoreEndpoint
from tonopah.cc.binding import BoundScenario, bind
from tonopah.errors import InputError
from tonopah.runs.segment import Segment
from tonopah.scenario.document import reject_unsupported_values


@dataclass(frozen=True)
class EndpointEvent:
    """An event that the application was notified of.

    Parameters
    ----------
    time_s : float
        Time in seconds since the endpoint was made.
    kind : str
        "connected", "delivered" (with `len_bytes`), "writable", "peer_closed", "reset" (the peer has reset or refused the
        connection), "aborted" (it has not answered for too long) or "closed", the last.
    len_bytes : int
        Bytes delivered in order.
    """

    time_s: float
    kind: str
    len_bytes: int = 0


@dataclass(frozen=True)
class EndpointState:
    """A snapshot of an endpoint; the values of its sender are None before the handshake is complete.

    Parameters
    ----------
    now_s : float
        Time in seconds since the endpoint was made.
    phase : str
        State of the connection (RFC 9293 §3.3.2): "established", "fin_wait_1", …
    state : str, optional
        State of the sender: "open", "disorder", "cwr", "recovery" or "loss".
    cwnd_bytes, ssthresh_bytes : int, optional
        Window and threshold of the algorithm in bytes; `ssthresh_bytes` is None before the first loss.
    send_window_bytes : int, optional
        Bytes that the sender may have outstanding, which differs from `cwnd_bytes` during recovery.
    pipe_bytes : int, optional
        Bytes estimated to be in the network (RFC 6675).
    flight_bytes : int, optional
        Bytes sent and not yet acknowledged (RFC 5681).
    mss_bytes : int, optional
        Payload of a full segment to the peer.
    sacked_bytes : int, optional
        Bytes that arrived beyond a gap, by SACK or, without it, by duplicate acknowledgments.
    lost_bytes : int, optional
        Bytes considered lost, retransmitted or not.
    retransmitted_bytes : int, optional
        Bytes of retransmissions believed in the network.
    reordering : int, optional
        Segments by which data may be out of order without being considered lost.
    rwnd_bytes : int, optional
        Window that the peer offers, in bytes.
    unsent_bytes : int, optional
        Bytes written and not yet sent.
    probes : int, optional
        Probes of a closed window since it last had room for data.
    receiver_mss_bytes : int
        Largest payload received so far, 0 before the first.
    srtt_s, rttvar_s, min_rtt_s, rto_s : float, optional
        Smoothed RTT, RTT variation, smallest RTT sample and retransmission timeout (RFC 6298), in seconds.
    next_timeout_s : float, optional
        The earliest deadline of `timers`.
    timers : dict of str to float
        Deadlines in seconds of the timers that are set: "rto", "tlp", "reorder", "pacing", "persist", "delayed_ack",
        "compressed_ack", "time_wait".
    room_bytes : int, optional
        Free space of the send buffer; None without a limit.
    readable_bytes : int
        Bytes received in order that the application has not read.
    recovery_point : int, optional
        Sequence number whose acknowledgment ends the current recovery.
    timeouts, recoveries, retransmitted_segments : int
        Numbers of retransmission timeouts, of recovery episodes and of segments retransmitted so far.
    """

    now_s: float
    phase: str
    state: str | None
    cwnd_bytes: int | None
    ssthresh_bytes: int | None
    send_window_bytes: int | None
    pipe_bytes: int | None
    flight_bytes: int | None
    mss_bytes: int | None
    sacked_bytes: int | None
    lost_bytes: int | None
    retransmitted_bytes: int | None
    reordering: int | None
    rwnd_bytes: int | None
    unsent_bytes: int | None
    probes: int | None
    receiver_mss_bytes: int
    srtt_s: float | None
    rttvar_s: float | None
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

    The caller is the peer. After the handshake the initial window of three segments is sent at once:

    >>> from tonopah import Endpoint, Segment
    >>> end = Endpoint.connect(tcp={"cc": "newreno", "recovery": "newreno", "mss": "1000B", "initial_window": "3p"})
    >>> _ = end.write(100_000)
    >>> [segment.flags for time, segment in end.sent()]
    ['S']
    >>> end.advance(0.1)
    >>> end.inject(Segment(seq=0, ack=1, flags="S.", window_bytes=60_000))
    >>> [(segment.seq, segment.len_bytes) for time, segment in end.sent() if segment.len_bytes]
    [(1, 1000), (1001, 1000), (2001, 1000)]

    Slow start: the acknowledgment of one segment allows two more.

    >>> end.advance(0.1)
    >>> end.inject(Segment(seq=1, ack=1001, window_bytes=60_000))
    >>> [segment.seq for time, segment in end.sent()]
    [3001, 4001]
    >>> end.state.cwnd_bytes, end.state.srtt_s
    (4000, 0.1)

    The next segment is lost: the third duplicate acknowledgment retransmits it and halves the window.

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

        Parameters
        ----------
        tcp : mapping, optional
            Settings as in the table `tcp` of a scenario (docs/generated/scenario.md), such as `{"cc": "cubic", "mss": "1000B"}`.
        auto_read : bool
            Whether the application reads all data at once, as in a scenario; otherwise only `read` does.

        Raises
        ------
        ScenarioError
            The settings are wrong; the error names the path of the key at fault.
        """
        bound = engine_settings(tcp)
        return cls(CoreEndpoint.connect(bound.text, auto_read, bound.algorithms))

    @classmethod
    def listen(cls, tcp: Mapping[str, Any] | None = None, auto_read: bool = True) -> Self:
        """Return a passive endpoint, which waits for a SYN; parameters and errors are those of `connect`."""
        bound = engine_settings(tcp)
        return cls(CoreEndpoint.listen(bound.text, auto_read, bound.algorithms))

    def write(self, n: int, more: bool = False) -> int:
        """Write to the send buffer.

        Parameters
        ----------
        n : int
            Bytes offered.
        more : bool
            More follows soon (MSG_MORE): a segment that is not full waits until then, until an ACK arrives, or for a time-out.

        Returns
        -------
        int
            Bytes accepted. If they are fewer, an event "writable" follows when there is room again.
        """
        return self._core.write(n, more)

    def read(self, n: int) -> int:
        """Read data received in order, which may send a window update.

        Parameters
        ----------
        n : int
            Bytes to read at most.

        Returns
        -------
        int
            Bytes read.
        """
        return self._core.read(n)

    def shutdown_write(self) -> None:
        """Close the sending direction (SHUT_WR): a FIN follows the data that was written; data is still received."""
        self._core.shutdown_write()

    def shutdown_read(self) -> None:
        """Receive no more (SHUT_RD): after `shutdown_write`, new data of the peer is answered with a RST (RFC 1122 §4.2.2.13)."""
        self._core.shutdown_read()

    def close(self) -> None:
        """Leave the connection, as an application does that ends (RFC 9293 §3.10.4).

        A FIN follows the data that was written. Data received and not read sends a RST instead (RFC 2525 §2.17), new data that
        arrives later is answered with a RST, and an attempt to connect is given up.
        """
        self._core.close()

    def abort(self) -> None:
        """End the connection at once, with a RST if the peer may hold it open (RFC 9293 §3.10.5)."""
        self._core.abort()

    def set(
        self,
        *,
        nagle: bool | None = None,
        cork: bool | None = None,
        send_buffer: str | None = None,
        recv_buffer: str | None = None,
        user_timeout: str | None = None,
    ) -> None:
        """Change socket options; what is left out stays.

        Parameters
        ----------
        nagle : bool, optional
            Nagle's rule, which TCP_NODELAY switches off. Switching it off sends what waits, corked or not.
        cork : bool, optional
            Send only full segments (TCP_CORK).
        send_buffer, recv_buffer : str, optional
            Sizes as in a scenario, such as "60kB" or "3000B" (SO_SNDBUF, SO_RCVBUF). A window that was
            advertised is not taken back.
        user_timeout : str, optional
            Time without an answer after which the connection is given up, such as "3s" (TCP_USER_TIMEOUT); "0s" is none.

        Raises
        ------
        ScenarioError
            A value is wrong; the error names the option.
        """
        settings = {"nagle": nagle, "send_buffer": send_buffer, "recv_buffer": recv_buffer, "user_timeout": user_timeout}
        given = {key: value for key, value in settings.items() if value is not None}
        reject_unsupported_values(given, "set")
        self._core.set(json.dumps(given), cork)

    def advance(self, seconds: float) -> None:
        """Let time pass.

        Timers expire in order, and the segments that they send carry the time of expiry.

        Parameters
        ----------
        seconds : float
            Time to pass.
        """
        self._core.advance(seconds)

    def at(self, time_s: float) -> None:
        """Let time pass until `time_s`, in seconds since the endpoint was made."""
        self._core.at(time_s)

    def inject(self, segment: Segment) -> None:
        """Deliver a segment to the endpoint now."""
        self._core.inject(segment)

    def sent(self) -> list[tuple[float, Segment]]:
        """Return the segments sent since the last call.

        Returns
        -------
        list of (float, Segment)
            Each segment with the time in seconds at which it was sent.
        """
        return [(time_s, Segment(**values)) for time_s, values in self._core.sent()]

    def events(self) -> list[EndpointEvent]:
        """Return the events since the last call."""
        return [EndpointEvent(*event) for event in self._core.events()]

    @property
    def state(self) -> EndpointState:
        """A snapshot of the endpoint."""
        return EndpointState(**self._core.state())

    @property
    def settings(self) -> dict[str, Any]:
        """Its settings with all defaults, as in the table `tcp` of a scenario."""
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
    reject_unsupported_values(tcp, "tcp")
    bound = bind(tcp, path="tcp")
    bound.refuse_libraries()
    return bound
