"""The Rust engine. JSON text goes in, JSON text and numpy arrays come out; units are SI and part of every name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Series: TypeAlias = dict[str, dict[str, NDArray[np.float64] | NDArray[np.uint32]]]
Algorithms: TypeAlias = Mapping[str, "Algorithm | Transport"]
"""Code of the user by the name that a scenario has for it: algorithms in Python or in libraries, and whole transports."""

class ScenarioError(ValueError):
    """A scenario that cannot be run: where (`path`), what (`message`) and, where known, what is allowed (`hint`)."""

    path: str
    message: str
    hint: str | None

class AlgorithmError(RuntimeError):
    """An algorithm in Python raised; `__cause__` is what it raised."""

    algorithm: str
    method: str
    time_s: float

class LimitError(RuntimeError):
    """A run took more events or memory than it may."""

class EngineError(RuntimeError):
    """A defect of the engine: a broken invariant. Scenario and seed show it again."""

class Algorithm:
    """A congestion control in Python as the engine takes it; kept for ever, so it is made once for each class."""

    description: str
    """The entry in the list of algorithms that it was made with, as JSON text."""

    def __init__(self, class_: Callable[..., Any], description: str) -> None: ...
    def probe(self) -> None:
        """Make an object with default parameters and ask for its window; raise what is wrong."""

class Transport:
    """A whole transport in a shared library; kept for ever, so it is made once for each library."""

    description: str
    """What it says of itself, as JSON text."""

    def __init__(self, address: int, description: str) -> None:
        """Take the address of its struct, 0 if the library is not open in this process."""
    def probe(self) -> None:
        """Make an end of each role with the standard options; raise what is wrong."""

CALLS: list[str]
"""Calls of libraries by their number in the page that `watch_calls` is given."""
CALLS_PAGE_BYTES: int

def log_transports(folder: str, kinds: list[str]) -> None:
    """Let transports that are made in this process from now on write logs, `keys`, `sqlog` or `txt`, into a folder."""

def watch_calls(address: int) -> None:
    """Note calls of libraries from now on in the page of memory at this address, which is never unmapped."""

NATIVE_VERSION: int
"""Version of the interface of compiled algorithms."""
NATIVE_LAYOUT: dict[str, list[str]]
"""Its names in their order: `kinds` of events, `answers`, `words` (states and causes), fields of `view` and of each signal."""

AGENT_FIELDS: list[str]
"""What `AgentRun.advance` gives of an interval."""

class AgentRun:
    """A run that stops at each interval of the flow whose `cc` is `tonopah.gym:Agent`; the caller sets its window."""

    def __init__(self, scenario: str, seed: int, interval_s: float) -> None: ...
    def advance(self, cwnd_bytes: float | None) -> tuple[bool, list[float]]:
        """Set the window, unless it is None, go on to the end of an interval; return whether it is over, and `AGENT_FIELDS`."""
    def summary(self) -> RunSummary | None:
        """Return the summary when the run is over, once."""

class View:
    """How things stand; the same for every method."""

    now_s: float
    """The time."""
    mss_bytes: int
    """Largest payload of a segment."""
    state: str
    """`open`, `disorder`, `cwr`, `recovery` or `loss`."""
    snd_una: int
    """Oldest unacknowledged sequence number."""
    snd_nxt: int
    """Next sequence number to send."""
    flight_bytes: int
    """FlightSize (RFC 5681): sent, not cumulatively acknowledged."""
    pipe_bytes: int
    """Estimated to be in the network (RFC 6675)."""
    rwnd_bytes: int
    """The receiver's window."""
    srtt_s: float | None
    """Smoothed RTT, once there is a sample."""
    rttvar_s: float
    """RTT variation."""
    min_rtt_s: float | None
    """Least RTT seen."""
    rto_s: float
    """Retransmission time-out in force."""
    lost_bytes: int
    """Considered lost, sent again or not."""
    retransmitted_bytes: int
    """Retransmissions believed in the network."""
    lost_total_bytes: int
    """Everything ever marked lost; a segment counts each time."""
    delivered_bytes: int
    """Reported or presumed to have arrived, since the start."""
    delivered_ce_bytes: int
    """Of `delivered_bytes`, what the network marked."""
    round: int
    """Packet-timed rounds since the start."""
    round_start: bool
    """This ACK began a round."""
    cwnd_limited: bool
    """The window, not the application or the receiver, holds the sender back."""
    app_limited: bool
    """The application, not the network, sets the pace."""
    slow_start_after_idle: bool
    """The connection wants windows to shrink after silence."""
    may_grow: bool
    """Classic growth is allowed."""

class Ack:
    """What one ACK did."""

    acked_bytes: int
    """Bytes that it reports for the first time, cumulatively or selectively."""
    acked_segments: int
    """The same in segments."""
    cumulative_segments: int
    """Segments that it acknowledges cumulatively, whether reported before or not."""
    lost_bytes: int
    """Newly marked lost on it."""
    duplicate: int
    """Its count among duplicate ACKs; 0 if it is none."""
    partial: bool
    """It advanced `snd_una`, but not to the recovery point."""
    rtt_s: float | None
    """RTT of the segment sent last that it covers; None if one of them was sent twice."""
    rtt_oldest_s: float | None
    """RTT of the segment sent first that it covers: with the receiver's delay."""
    one_way_s: float | None
    """Time from the sender to the receiver, up to a constant, by timestamps."""
    prior_flight_bytes: int
    """Flight before it."""
    prior_pipe_bytes: int
    """Pipe before it."""
    echo: bool
    """It echoes congestion."""
    ce_bytes: int
    """Of the reported bytes, those that the network marked."""
    rate: RateSample | None
    """Delivery rate, a `RateSample`, if it reported anything."""

class RateSample:
    """A sample of the delivery rate."""

    rate_bps: int | None
    """Delivered over the interval; None when the interval is shorter than the least RTT and so tells nothing."""
    delivered_bytes: int
    """Delivered between the transmission of the newest reported segment and now."""
    prior_delivered_bytes: int
    """Delivered in all when that segment was sent."""
    interval_s: float
    """The longer of the time to send and the time to report."""
    sent_at_s: float
    """When the newest reported segment was sent."""
    tx_in_flight_bytes: int
    """Pipe with it at that time."""
    lost_bytes: int
    """Marked lost since."""
    app_limited: bool
    """The application set the pace at some time in the interval."""

class Congestion:
    """An episode of congestion begins."""

    cause: str
    """`dup_ack`, `sack`, `rack`, `tlp`, `head_timeout`, `algorithm`, `ecn` or `timeout`."""
    state_before: str
    """The sender's state when it came."""
    flight_bytes: int
    """FlightSize without what limited transmit added (RFC 5681 section 3.2 step 2)."""
    first: bool
    """The first reduction of this episode; if not, ssthresh is to be left alone, unless `again`."""
    loss_window_bytes: int
    """One segment; after a time-out, what the sender starts from, also what is still believed in the network."""
    head_sent_at_s: float | None
    """When the oldest outstanding segment was last sent; None if nothing is outstanding."""
    head_transmissions: int
    """How often it was sent; 0 if nothing is outstanding."""
    again: bool
    """A retransmission was lost: ssthresh is to come down once more (RFC 5681 section 4.3); for a `strict` class alone."""

class Sent:
    """A segment that leaves."""

    now_s: float
    """The time."""
    seq: int
    """Sequence number of its first byte."""
    len_bytes: int
    """Its payload."""
    pipe_bytes: int
    """Pipe with it."""
    retransmission: bool
    """It was sent before."""

class Lost:
    """A segment that is believed lost."""

    len_bytes: int
    """Its payload."""
    sent_at_s: float
    """When it was last sent."""
    tx_in_flight_bytes: int
    """Pipe with it when it was sent."""
    lost_since_bytes: int
    """Marked lost between its transmission and now, itself included."""

class Setup:
    """What is known when the handshake is done; the first argument of the class."""

    now_s: float
    """The time."""
    mss_bytes: int
    """Largest payload of a segment."""
    initial_window_bytes: int
    """cwnd to start from."""
    initial_ssthresh_bytes: float
    """ssthresh to start from; infinity means "not set"."""
    handshake_rtt_s: float | None
    """RTT of the handshake; None if its SYN was sent twice."""
    paced: bool
    """The connection paces even if its algorithm asks for no rate."""
    seed: int
    """A number of its own for each connection, for random draws."""

class Stepwise:
    """A run in steps; gone when it has ended or failed. `excerpt`: packet events from, until (seconds), and how many at most."""

    def __init__(
        self,
        scenario_json: str,
        seed: int = 1,
        algorithms: Algorithms | None = None,
        max_events: int | None = None,
        max_memory: int | None = None,
        excerpt: tuple[float, float, int] | None = None,
    ) -> None: ...
    def advance(self, until_s: float, events: int) -> bool:
        """Run until the clock has reached `until_s`, at most `events` events; return True when the run is over."""

    @property
    def now_s(self) -> float | None:
        """The simulated time; None when the run has ended."""

    def series(self) -> Series:
        """Return the samples since the last call."""

    def finish(self) -> tuple[str, Series, str] | None:
        """End the run: its summary, the samples not taken, the packet events as JSON lines; None if it has ended before.

        The summary of a run that is not over is that of a shorter one.
        """

class Emulation:
    """The network of a scenario in real time (Linux): node and addresses of each host; gone when it has run.

    `carried`: the flows of the scenario come from outside too, by the port of the first sink and their number. `header`: bytes
    before the IP header of each packet.
    """

    def __init__(
        self,
        scenario: str,
        seed: int,
        hosts: Sequence[tuple[str, Sequence[str]]],
        carried: tuple[int, int] | None = None,
        header: int = 0,
    ) -> None: ...
    @property
    def least_base_rtt_s(self) -> float | None:
        """The least round trip between two hosts without a queue; None if none has a path to another."""

    def run(
        self,
        devices: Sequence[tuple[int, int | None]],
        stop: int,
        start_ns: int,
        epoch_ns: int,
        spin: bool = False,
        standing: bool = False,
    ) -> tuple[str, Series, str]:
        """Run until `stop` becomes readable or, of carried flows, to the end; return summary, series, lateness and flows as JSON.

        The file descriptors are taken over: a TUN device of each host, and a file for its packets or None. `standing`: the clock
        stands while anything runs, as that of a kernel in virtual time does.
        """

class Endpoint:
    """A TCP endpoint driven by hand; `tonopah.Endpoint` is the form to use."""

    @staticmethod
    def connect(tcp: str, auto_read: bool, algorithms: Algorithms | None = None) -> Endpoint:
        """Return the active side; `tcp` is JSON text, as under `tcp` in a scenario."""

    @staticmethod
    def listen(tcp: str, auto_read: bool, algorithms: Algorithms | None = None) -> Endpoint:
        """Return the passive side, which waits for a SYN."""

    def write(self, bytes: int, more: bool = False) -> int:
        """Offer bytes and return how many the send buffer took."""

    def read(self, bytes: int) -> int:
        """Read up to so many bytes and return how many there were."""

    def shutdown_write(self) -> None:
        """Send no more data than what was written."""

    def shutdown_read(self) -> None:
        """Receive no more."""

    def close(self) -> None:
        """Leave the connection, as an application does that ends."""

    def abort(self) -> None:
        """End the connection at once."""

    def set(self, settings: str, cork: bool | None = None) -> None:
        """Change socket options; `settings` is JSON text with some of `nagle`, `send_buffer`, `recv_buffer`, `user_timeout`."""

    def advance(self, seconds: float) -> None:
        """Let time pass; timers on the way fire."""

    def at(self, time_s: float) -> None:
        """Let time pass until `time_s`; timers on the way fire."""

    def inject(self, segment: Any) -> None:
        """Let a segment arrive: any object with the fields of `tonopah.Segment`."""

    def sent(self) -> list[tuple[float, dict[str, Any]]]:
        """Return times and fields of the segments sent since the last call."""

    def events(self) -> list[tuple[float, str, int]]:
        """Return time, name and bytes of what the application was told since the last call."""

    def state(self) -> dict[str, Any]:
        """Return the fields of `tonopah.EndpointState`."""

    def settings(self) -> str:
        """Return the settings with every default filled in, as JSON text."""

def check_segment(segment: Any) -> None:
    """Raise ScenarioError for a segment that cannot be read, with the field and what is allowed."""

def check(scenario_json: str, seed: int = 1, algorithms: Algorithms | None = None, max_memory: int | None = None) -> str:
    """Return `{"resolved": …, "graph": …, "random": …, "warnings": …}`.

    The scenario with every default filled in, its world as a graph, what is random, and what it seldom means. A world that
    takes more than about `max_memory` bytes raises LimitError.
    """

class RunSummary:
    """The summary of a run, which becomes text when it is asked for."""

    @property
    def flows(self) -> int:
        """Number of flows."""

    @property
    def events(self) -> int:
        """Number of events."""

    def network(self) -> str:
        """Return what it says of the network as a whole, as JSON text."""

    def warnings(self) -> str:
        """Return what the scenario says and seldom means, a list of path and message, as JSON text."""

    def write(self, path: str) -> None:
        """Write the summary as JSON text to a file, without ever holding the text as a whole."""

    def json(self, most_flows: int = ..., most_links: int = ...) -> str:
        """Return the summary as JSON text, with at most its first `most_flows` flows and its `most_links` busiest links."""

def run(
    scenario_json: str,
    seed: int = 1,
    algorithms: Algorithms | None = None,
    max_events: int | None = None,
    max_memory: int | None = None,
) -> tuple[RunSummary, Series]:
    """Run one scenario; return its summary and its series `{name: {"t_s", "id", "value"}}`.

    Raises LimitError when it takes more than `max_events` events or holds more than about `max_memory` bytes.
    """

def run_on_threads(
    scenario_json: str, seed: int, threads: int, max_events: int | None = None, max_memory: int | None = None
) -> tuple[RunSummary, Series, str | None]:
    """Run like `run`, without algorithms in Python, on at most so many threads; the bits are the same.

    The third value says why the run had one thread, if it was to have several.
    """

def run_many(
    jobs: Sequence[tuple[str, int]],
    threads: int,
    on_done: Callable[[int, str | ScenarioError | RuntimeError, Series | None], bool | None],
    max_events: int | None = None,
    max_memory: int | None = None,
) -> None:
    """Run (scenario, seed) jobs on `threads` threads; `on_done` is called as each finishes and returns False to stop.

    Fewer jobs than threads share the cores, so that one has several (`run_on_threads`).

    After an interrupt those under way end; a second one gives them up.
    """

def fingerprint(scenario_json: str, seed: int = 1) -> str:
    """Return a hash of all packet events of a run, the same on every machine."""

def transmissions(
    scenario_json: str, seed: int = 1, most: int = 20_000, algorithms: Algorithms | None = None
) -> tuple[str, Series, str]:
    """Run one scenario like `run`; return besides a sample of at most `most` transmissions as CSV text."""

def capture(
    scenario_json: str, seed: int = 1, algorithms: Algorithms | None = None, *, at: str = "hosts"
) -> tuple[str, Series, str]:
    """Run one scenario like `run`; return besides the headers that are seen at `hosts`, `links` or `channels`, as CSV text."""

class CaptureReader:
    """Reads a capture of others part by part; keeps the packets of `wanted`: a connection's number, up to a time in ns."""

    def __init__(self, wanted: tuple[int, int] | None = None) -> None: ...
    def feed(self, part: bytes) -> list[tuple[Any, ...]]:
        """Read a part; return the packets of it that are wanted, with the fields of `CapturedPacket`."""
    def end(self) -> str | None:
        """Return where the file ended too early, after its last part."""
    def least_ns(self) -> int:
        """Return the earliest time among the segments of the last part that had some."""
    def connections(self) -> list[tuple[int, int, int, int, int, int]]:
        """Return turn, turns, bytes of data, segments with data, first and last time in ns of each connection."""
    def skipped(self) -> list[tuple[str, int]]:
        """Return how many frames gave no segment, by the reason."""
    def left_out(self) -> int:
        """Return the segments of connections that are too many."""

def captured_packets(frames: Sequence[tuple[int, int, int, bytes]]) -> list[tuple[Any, ...]]:
    """Return the packets of the first connection of frames: time in ns, link type, size and bytes captured of each."""

def reach(scenario_json: str, seed: int = 1) -> str:
    """Return who reaches whom by radio at the start, and shortest paths of the flows, as JSON text: indices of nodes."""

def ground_tracks(
    scenario_json: str, seed: int, at_s: float, until_s: float, step_s: float, algorithms: Algorithms | None = None
) -> str:
    """Return ground tracks of the satellites of a scenario at `at_s`, and paths from 0 to `until_s` every `step_s`; JSON text."""

def algorithms() -> str:
    """Return the registry of congestion-control algorithms."""

def parse_quantity(text: str, kind: str) -> float:
    """Return a text such as "20ms" as a number in SI units; `kind` is one of `units()`.

    Raises ValueError, which names the text and the units allowed.
    """

def split_quantity(text: str) -> tuple[float, str, str] | None:
    """Return number, unit and kind of a text such as "20ms"; None if it is not a number with a unit."""

def units() -> dict[str, list[str]]:
    """Return the kinds of quantities, each with its units, the largest first."""

def schema() -> str:
    """Return the JSON schema (draft 2020-12) of a scenario."""

def engine_version() -> str:
    """Return the version of the engine."""

def engine_build() -> str:
    """Return a hash of the engine's sources: results of one build are the same bits."""

def build_profile() -> str:
    """Return how the build was optimised: `profile-guided`, or the Cargo profile, `dist`, `release` or `debug`."""

def trace(scenario_json: str, seed: int = 1, algorithms: Algorithms | None = None, *, json: bool = False) -> str:
    """Return the packet events of a run, one a line: as text to read, or with `json` each as a JSON object."""
