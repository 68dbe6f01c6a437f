"""The sockets of one host: applications that send, sinks that read, and what the kernel says of senders, in one process."""

import errno
import heapq
import itertools
import selectors
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tonopah.kernel import tcp_info
from tonopah.kernel.plan import Flow, Plan

CHUNK = memoryview(bytes(1 << 18))
LONGEST_READ, LONGEST_DATAGRAM = 1 << 20, 1 << 16
FAR_BYTES = 1 << 62
AFTER_END_S = 0.05
"""For the last sample; nothing is carried any more then."""
Told: TypeAlias = dict[int, tuple[list[tuple[float, bytes]], str | None]]
"""By flow: what the kernel said, when, and what went wrong."""


@dataclass
class Sender:
    """A flow whose source is here."""

    flow: Flow
    connection: socket.socket
    left: int = FAR_BYTES
    """Bytes that the application has still to hand over."""
    samples: list[tuple[float, bytes]] = field(default_factory=list)
    closed: bool = False


class Traffic:
    """What happens on a host, by the clock of the emulation."""

    def __init__(self, plan: Plan, host: str, addresses: Mapping[str, str], start_ns: int):
        self.plan, self.host, self.addresses, self.start_ns = plan, host, addresses, start_ns
        self.selector = selectors.DefaultSelector()
        self.due: list[tuple[float, int, Callable[[], None]]] = []
        self.order = itertools.count()
        self.senders: list[Sender] = []
        self.room = bytearray(LONGEST_READ)
        self.errors: dict[int, str] = {}

    def now(self) -> float:
        """Return the time of the emulation in seconds."""
        return (time.monotonic_ns() - self.start_ns) / 1e9

    def at(self, when: float, action: Callable[[], None]) -> None:
        """Let something happen at a time."""
        heapq.heappush(self.due, (when, next(self.order), action))

    def run(self) -> Told:
        """Run to the end; return by flow what the kernel said, when, and what went wrong."""
        for flow in self.plan.flows:
            if flow.sink == self.host:
                self.listen(flow)
            if flow.source == self.host:
                self.at(flow.start_s, lambda flow=flow: self.open(flow))  # type: ignore[misc]
        self.at(self.plan.every_s, self.sample)
        end = self.plan.duration_s + AFTER_END_S
        while (now := self.now()) < end:
            while self.due and self.due[0][0] <= now:
                heapq.heappop(self.due)[2]()
            wait = min(end, self.due[0][0] if self.due else end) - now
            for key, _ in self.selector.select(max(0.0, wait)):
                key.data()
        return {sender.flow.number: (sender.samples, self.errors.get(sender.flow.number)) for sender in self.senders}

    def listen(self, flow: Flow) -> None:
        """Take what a flow brings."""
        if flow.transport == "udp":
            sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sink.bind((self.addresses[flow.sink], flow.port))
            self.watch_reader(sink)
            return
        sink = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sink.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sink.bind((self.addresses[flow.sink], flow.port))
        sink.listen()
        self.selector.register(sink, selectors.EVENT_READ, lambda: self.watch_reader(sink.accept()[0]))

    def watch_reader(self, connection: socket.socket) -> None:
        """Read and forget what comes."""
        connection.setblocking(False)
        is_stream = connection.type == socket.SOCK_STREAM
        # TCP throws so many bytes away without copying them.
        size, flags = (LONGEST_READ, socket.MSG_TRUNC) if is_stream else (LONGEST_DATAGRAM, 0)

        def read() -> None:
            try:
                # An empty datagram is no end.
                ended = not connection.recv_into(self.room, size, flags) and is_stream
            except BlockingIOError:
                return
            except OSError:
                ended = True
            if ended:
                self.selector.unregister(connection)
                connection.close()

        self.selector.register(connection, selectors.EVENT_READ, read)

    def open(self, flow: Flow) -> None:
        """Begin a flow."""
        kind = socket.SOCK_DGRAM if flow.transport == "udp" else socket.SOCK_STREAM
        connection = socket.socket(socket.AF_INET, kind)
        sender = Sender(flow, connection, flow.payload_bytes or (0 if flow.message_bytes else FAR_BYTES))
        self.senders.append(sender)
        connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, flow.dscp << 2)
        if kind == socket.SOCK_STREAM:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, flow.cc.encode())
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, flow.segment_bytes)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(flow.nodelay))
        connection.setblocking(False)
        connection.bind((self.addresses[flow.source], 0))
        failed = connection.connect_ex((self.addresses[flow.sink], flow.port))
        if failed not in (0, errno.EINPROGRESS):
            self.errors[flow.number] = errno.errorcode.get(failed, str(failed))
            return
        if flow.message_bytes and flow.interval_s:
            self.message(sender, flow.start_s)
        if kind == socket.SOCK_STREAM:
            self.selector.register(connection, selectors.EVENT_WRITE, lambda: self.write(sender))
        if flow.stop_s < self.plan.duration_s:
            self.at(flow.stop_s, lambda: self.stop(sender))

    def message(self, sender: Sender, due: float) -> None:
        """Write a message that is due, and plan the next."""
        flow = sender.flow
        if sender.closed or not flow.message_bytes or not flow.interval_s:
            return
        if flow.transport == "udp":
            try:
                sender.connection.send(CHUNK[: flow.message_bytes])
            except OSError as error:
                if not isinstance(error, BlockingIOError):
                    self.errors[flow.number] = str(error)
        else:
            sender.left += flow.message_bytes
            self.watch_writer(sender)
        self.at(due + flow.interval_s, lambda: self.message(sender, due + flow.interval_s))  # type: ignore[operator]

    def watch_writer(self, sender: Sender) -> None:
        """Write when the kernel has room."""
        if sender.connection not in self.selector.get_map():
            self.selector.register(sender.connection, selectors.EVENT_WRITE, lambda: self.write(sender))

    def write(self, sender: Sender) -> None:
        """Hand over what the kernel has room for."""
        try:
            while sender.left:
                sender.left -= sender.connection.send(CHUNK[: min(sender.left, len(CHUNK))])
        except BlockingIOError:
            return
        except OSError as error:
            self.errors[sender.flow.number] = str(error)
            sender.left = 0
        self.selector.unregister(sender.connection)
        if sender.flow.payload_bytes:
            self.stop(sender)

    def stop(self, sender: Sender) -> None:
        """End the data of a flow; what is in the kernel is still sent."""
        if not sender.closed and sender.flow.transport == "tcp":
            sender.closed = True
            if sender.connection in self.selector.get_map():
                self.selector.unregister(sender.connection)
            try:
                sender.connection.shutdown(socket.SHUT_WR)
            except OSError as error:
                self.errors[sender.flow.number] = str(error)
        sender.closed = True

    def sample(self) -> None:
        """Note what the kernel says of each sender."""
        now = self.now()
        for sender in self.senders:
            if sender.flow.transport == "tcp":
                sender.samples.append((now, tcp_info.read(sender.connection)))
        # A tick that was missed is not made up for.
        periods = int(now / self.plan.every_s) + 1
        self.at(periods * self.plan.every_s, self.sample)
