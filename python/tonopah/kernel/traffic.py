"""The sockets of one host: applications that send, sinks that read, and what the kernel says of senders, in one process."""

import errno
import heapq
import itertools
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from select import select

from tonopah.kernel import conversations, tcp_info
from tonopah.kernel.conversations import SINK, SOURCE, Facts
from tonopah.kernel.draws import Stream
from tonopah.kernel.plan import Flow, Plan
from tonopah.kernel.writers import Writer, writer_of

CHUNK = memoryview(bytes(1 << 18))
LONGEST_READ, LONGEST_DATAGRAM = 1 << 20, 1 << 16
FAR_BYTES = 1 << 62
AFTER_END_S = 0.05
"""For the last sample; nothing is carried any more then."""


@dataclass
class Told:
    """What a host tells of its flows, by their numbers."""

    samples: dict[int, list[tuple[float, bytes]]] = field(default_factory=dict)
    """What the kernel said of senders, and when."""
    errors: dict[int, str] = field(default_factory=dict)
    facts: dict[int, Facts] = field(default_factory=dict)
    """What ends of conversations have measured."""

    def add(self, other: "Told") -> None:
        """Add what another host tells."""
        self.samples |= other.samples
        self.errors |= other.errors
        for number, facts in other.facts.items():
            own = self.facts.setdefault(number, Facts())
            own.times += facts.times
            own.cwnds += facts.cwnds


@dataclass
class Line:
    """A connected socket, or one of datagrams, and what its application has still to hand over."""

    flow: Flow
    connection: socket.socket
    pending: deque[int] = field(default_factory=deque)
    """Bytes of each write."""
    writer: Writer | None = None
    end: conversations.End | None = None
    reads: bool = False
    """More may come for the end of a conversation."""
    connected: bool = False
    blocked: bool = False
    """The application waits for room before it writes again."""
    closing: bool = False
    closed: bool = False


class Traffic:
    """What happens on a host, by the clock of the emulation."""

    def __init__(self, plan: Plan, host: str, addresses: Mapping[str, str], start_ns: int):
        self.plan, self.host, self.addresses, self.start_ns = plan, host, addresses, start_ns
        self.selector = selectors.EpollSelector()
        self.due: list[tuple[float, int, Callable[[], None]]] = []
        self.order = itertools.count()
        self.senders: list[Line] = []
        self.told = Told()
        self.room = bytearray(LONGEST_READ)

    def now(self) -> float:
        """Return the time of the emulation in seconds."""
        return (time.monotonic_ns() - self.start_ns) / 1e9

    def at(self, when: float, action: Callable[[], None]) -> None:
        """Let something happen at a time."""
        heapq.heappush(self.due, (when, next(self.order), action))

    def run(self) -> Told:
        """Run to the end; return what is to be told."""
        for flow in self.plan.flows:
            client, server = (flow.source, flow.sink) if flow.client == SOURCE else (flow.sink, flow.source)
            if server == self.host:
                self.listen(flow)
            if client == self.host:
                self.at(flow.start_s, partial(self.open, flow))
        self.at(self.plan.every_s, self.sample)
        end = self.plan.duration_s + AFTER_END_S
        while (now := self.now()) < end:
            while self.due and self.due[0][0] <= now:
                heapq.heappop(self.due)[2]()
            wait = min(end, self.due[0][0] if self.due else end) - now
            # Epoll waits whole milliseconds.
            ready, *_ = select([self.selector.fileno()], [], [], max(0.0, wait))
            for key, events in self.selector.select(0) if ready else ():
                key.data(events)
        return self.told

    def listen(self, flow: Flow) -> None:
        """Take what a flow brings."""
        sink = self.prepared(flow)
        if flow.transport == "udp":
            sink.bind((self.addresses[flow.sink], flow.port))
            self.watch_reader(sink)
            return
        sink.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sink.bind((self.addresses[self.host], flow.port if flow.client == SOURCE else flow.server_port))
        sink.listen()
        self.selector.register(sink, selectors.EVENT_READ, lambda _: self.accept(flow, sink.accept()[0]))

    def prepared(self, flow: Flow) -> socket.socket:
        """Return a socket with the options of a flow, which what a listener accepts has too."""
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if flow.transport == "udp" else socket.SOCK_STREAM)
        made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, flow.dscp << 2 | flow.ecn)
        if flow.transport == "tcp":
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, flow.cc.encode())
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, flow.segment_bytes)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(flow.nodelay))
        return made

    def accept(self, flow: Flow, connection: socket.socket) -> None:
        """Take a connection: of a conversation, or whose bytes are read and forgotten."""
        if conversations.is_conversation(flow.app):
            connection.setblocking(False)
            self.converse(flow, connection, SINK if flow.client == SOURCE else SOURCE)
        else:
            self.watch_reader(connection)

    def watch_reader(self, connection: socket.socket) -> None:
        """Read and forget what comes."""
        connection.setblocking(False)

        def read(_: int) -> None:
            if self.read(connection) == 0:
                self.selector.unregister(connection)
                connection.close()

        self.selector.register(connection, selectors.EVENT_READ, read)

    def read(self, connection: socket.socket) -> int | None:
        """Return how many bytes there were to read, 0 at the end, none if there is nothing yet."""
        is_stream = connection.type == socket.SOCK_STREAM
        # TCP throws so many bytes away without copying them.
        size, flags = (LONGEST_READ, socket.MSG_TRUNC) if is_stream else (LONGEST_DATAGRAM, 0)
        try:
            count = connection.recv_into(self.room, size, flags)
        except BlockingIOError:
            return None
        except OSError:
            return 0
        # An empty datagram is no end.
        return count if count or is_stream else None

    def open(self, flow: Flow) -> None:
        """Begin a flow."""
        connection = self.prepared(flow)
        connection.setblocking(False)
        connection.bind((self.addresses[self.host], flow.port if flow.client == SINK else 0))
        to = (self.addresses[flow.sink], flow.port) if flow.client == SOURCE else (self.addresses[flow.source], flow.server_port)
        failed = connection.connect_ex(to)
        if failed not in (0, errno.EINPROGRESS):
            self.told.errors[flow.number] = errno.errorcode.get(failed, str(failed))
        elif conversations.is_conversation(flow.app):
            self.converse(flow, connection, flow.client)
        else:
            self.write_by_itself(flow, connection)

    def sampled(self, line: Line) -> Line:
        """Return a line of a source here, whose kernel is asked from now on."""
        self.senders.append(line)
        if line.flow.transport == "tcp":
            self.told.samples[line.flow.number] = []
        return line

    def stop_in_time(self, line: Line) -> None:
        """Stop a line when its flow does, if that is before the end."""
        if line.flow.stop_s < self.plan.duration_s:
            self.at(line.flow.stop_s, lambda: self.stop(line))

    def write_by_itself(self, flow: Flow, connection: socket.socket) -> None:
        """Begin an application that writes at times of its own."""
        writer = writer_of(flow.app, Stream(self.plan.seed, flow.stream), FAR_BYTES)
        line = self.sampled(Line(flow, connection, writer=writer, closing=bool(flow.app.get("bytes"))))
        self.stop_in_time(line)
        self.tick(line, flow.start_s, writer.start(flow.start_s))

    def tick(self, line: Line, due: float, size: int) -> None:
        """Write what is due, and plan the next: from when it has been taken, if it had to wait."""
        if line.closed:
            return
        if line.flow.transport == "udp":
            try:
                line.connection.send(CHUNK[:size])
            except OSError as error:
                if not isinstance(error, BlockingIOError):
                    self.told.errors[line.flow.number] = str(error)
        elif size:
            line.pending.append(size)
            # Before the handshake the send buffer of a simulation takes what is written; that of the kernel does not.
            line.blocked = not self.hand_over(line) and line.connected
        if not line.blocked:
            self.plan_tick(line, due)

    def plan_tick(self, line: Line, since: float) -> None:
        """Plan the next write of an application whose last was taken at a time."""
        found = line.writer.next(since) if line.writer else None
        if found and found[0] < line.flow.stop_s:
            self.at(found[0], partial(self.tick, line, *found))

    def converse(self, flow: Flow, connection: socket.socket, which: str) -> None:
        """Begin an end of a conversation."""
        line = Line(flow, connection, reads=True)
        hands = conversations.Hands(
            self.now,
            lambda when, action: self.at(when, lambda: None if line.closed else action()),
            partial(self.write, line),
            partial(self.close, line),
            lambda: tcp_info.TcpInfo.of(tcp_info.read(connection)).cwnd,
        )
        line.end = conversations.end_of(flow.app, which, Stream(self.plan.seed, flow.stream), flow.start_s, hands)
        self.told.facts[flow.number] = line.end.facts
        if which == SOURCE:
            self.sampled(line)
        self.stop_in_time(line)
        self.watch(line)
        line.end.begin()

    def write(self, line: Line, sizes: Sequence[int]) -> None:
        """Write so many bytes, one write after the other, as there is room."""
        if not line.closing and not line.closed:
            line.pending.extend(sizes)
            self.hand_over(line)

    def close(self, line: Line) -> None:
        """End the data of a line once all is written."""
        line.closing = True
        self.hand_over(line)

    def hand_over(self, line: Line) -> bool:
        """Hand over what the kernel has room for; tell whether that is all."""
        pending = line.pending
        try:
            while pending:
                pending[0] -= line.connection.send(CHUNK[: min(pending[0], len(CHUNK))])
                if not pending[0]:
                    pending.popleft()
        except BlockingIOError:
            pass
        except OSError as error:
            self.told.errors[line.flow.number] = str(error)
            pending.clear()
        if line.closing and not pending:
            self.stop(line)
        self.watch(line)
        return not pending

    def watch(self, line: Line) -> None:
        """Ask for what a line waits for."""
        wanted = selectors.EVENT_READ * line.reads | selectors.EVENT_WRITE * bool(line.pending)
        known = self.selector.get_map().get(line.connection)
        if known is None and wanted:
            self.selector.register(line.connection, wanted, partial(self.on_events, line))
        elif known is not None and not wanted:
            self.selector.unregister(line.connection)
        elif known is not None and known.events != wanted:
            self.selector.modify(line.connection, wanted, known.data)

    def on_events(self, line: Line, events: int) -> None:
        """Write and read as a line can."""
        if events & selectors.EVENT_WRITE:
            line.connected = True
            if self.hand_over(line) and line.blocked:
                line.blocked = False
                self.plan_tick(line, self.now())
        if events & selectors.EVENT_READ and line.end:
            count = self.read(line.connection)
            if count:
                line.end.on_read(count)
            elif count == 0:
                line.reads = False
                self.watch(line)

    def stop(self, line: Line) -> None:
        """End the data of a flow; what is in the kernel is still sent."""
        line.pending.clear()
        if not line.closed and line.flow.transport == "tcp":
            try:
                line.connection.shutdown(socket.SHUT_WR)
            except OSError as error:
                self.told.errors[line.flow.number] = str(error)
        line.closed = True
        if line.flow.transport == "tcp":
            self.watch(line)

    def sample(self) -> None:
        """Note what the kernel says of each sender."""
        now = self.now()
        for line in self.senders:
            if line.flow.transport == "tcp":
                self.told.samples[line.flow.number].append((now, tcp_info.read(line.connection)))
        # A tick that was missed is not made up for.
        periods = int(now / self.plan.every_s) + 1
        self.at(periods * self.plan.every_s, self.sample)
