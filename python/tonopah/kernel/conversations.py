"""Applications whose ends answer each other, one end in the process of its host: what it writes, told what it has read.

Both ends know the sizes of all messages and draw from the same stream, so that messages need no content.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tonopah._core import parse_quantity
from tonopah.kernel.draws import Stream, period

SOURCE, SINK = "source", "sink"


@dataclass
class Facts:
    """What an end has measured, in seconds of the emulation and in bytes."""

    times: list[tuple[float, float]] = field(default_factory=list)
    """When each request, or a half of a transfer, began, and when its last byte was read."""
    cwnds: list[float] = field(default_factory=list)
    """The window of the server as it began each answer."""


@dataclass
class Hands:
    """What an end can do."""

    now: Callable[[], float]
    at: Callable[[float, Callable[[], None]], None]
    write: Callable[[Sequence[int]], None]
    """Writes so many bytes, one write after the other."""
    close: Callable[[], None]
    """Ends what it writes once all is written."""
    window: Callable[[], float]
    """The congestion window in bytes."""


class Exchanges:
    """Sizes and times of requests and their answers, of a resolved scenario."""

    def __init__(self, app: Mapping[str, Any], stream: Stream):
        self.app, self.stream = app, stream
        down = app["kind"] == "transfer"
        self.number = 1 if down else int(app["requests"])
        self.request = bytes_of(app["request"])
        self.answers = [bytes_of(app["size"])] if down else [bytes_of(text) for text in app.get("responses") or [app["response"]]]
        self.pauses: list[tuple[float, float]] = []

    def pause(self, number: int) -> tuple[float, float]:
        """Return how long the server works on an answer, and how long its client thinks then: drawn in this order."""
        while len(self.pauses) <= number:
            work = period(self.app.get("server_time"), self.stream)
            self.pauses.append((work, period(self.app.get("think"), self.stream)))
        return self.pauses[number]

    def answer(self, number: int) -> int:
        """Return the bytes of an answer."""
        return self.answers[number % len(self.answers)]

    def writes(self, key: str, size: int) -> list[int]:
        """Return the writes of a message: its first parts, and the rest."""
        first = [bytes_of(text) for text in self.app.get(key, [])]
        return [part for part in (*first, size - sum(first)) if part > 0]


class End:
    """An end of a conversation, which reads messages of known sizes."""

    def __init__(self, hands: Hands):
        self.hands, self.facts, self.got = hands, Facts(), 0
        self.done = 0
        """Messages read."""

    def expected(self) -> int:
        """Return the bytes of the message that comes next; 0 if none does."""
        raise NotImplementedError

    def on_message(self) -> None:
        """Answer a message that has been read."""
        raise NotImplementedError

    def begin(self) -> None:
        """Write what comes first: the connection is being opened, or has been accepted."""

    def on_read(self, count: int) -> None:
        """Take bytes that have been read."""
        self.got += count
        while (size := self.expected()) and self.got >= size:
            self.got -= size
            self.done += 1
            self.on_message()


class Client(End):
    """Who asks: each request when the answer before has been read, and it has thought."""

    def __init__(self, plan: Exchanges, hands: Hands):
        super().__init__(hands)
        self.plan, self.asked = plan, 0.0

    def begin(self) -> None:
        """Ask."""
        self.asked = self.hands.now()
        self.hands.write(self.plan.writes("request_writes", self.plan.request))

    def expected(self) -> int:
        """Return the bytes of the answer."""
        return self.plan.answer(self.done) if self.done < self.plan.number else 0

    def on_message(self) -> None:
        """Note the time; think, or close after the last answer."""
        now = self.hands.now()
        self.facts.times.append((self.asked, now))
        if self.done == self.plan.number:
            self.hands.close()
        else:
            self.hands.at(now + self.plan.pause(self.done - 1)[1], self.begin)


class Server(End):
    """Who answers. It closes after the last answer, so that the flow ends with its last byte."""

    def __init__(self, plan: Exchanges, hands: Hands):
        super().__init__(hands)
        self.plan = plan

    def expected(self) -> int:
        """Return the bytes of a request."""
        return self.plan.request if self.done < self.plan.number else 0

    def on_message(self) -> None:
        """Work, and answer."""
        number = self.done - 1
        self.hands.at(self.hands.now() + self.plan.pause(number)[0], lambda: self.answer(number))

    def answer(self, number: int) -> None:
        """Write an answer. Its window is that after the first write, since the kernel restarts one that was idle as it sends."""
        self.hands.write(self.plan.writes("response_writes", self.plan.answer(number)))
        self.facts.cwnds.append(self.hands.window())
        if number == self.plan.number - 1:
            self.hands.close()


class Half(End):
    """An end of a transfer without a request: it writes its bytes at once, and closes when it has all of the other's."""

    def __init__(self, own: int, others: int, began: float, hands: Hands):
        super().__init__(hands)
        self.own, self.others, self.began = own, others, began

    def begin(self) -> None:
        """Write all."""
        self.hands.write([self.own] if self.own else [])
        if not self.others:
            self.hands.close()

    def expected(self) -> int:
        """Return the bytes of the other end."""
        return self.others if not self.done else 0

    def on_message(self) -> None:
        """Note the time."""
        self.facts.times.append((self.began, self.hands.now()))
        self.hands.close()


def bytes_of(text: str) -> int:
    """Return a size in bytes."""
    return round(parse_quantity(text, "size"))


def is_conversation(app: Mapping[str, Any]) -> bool:
    """Tell whether the sink of an application has to know it."""
    return app["kind"] in ("request_response", "transfer")


def direction_of(app: Mapping[str, Any]) -> str:
    """Return which way a transfer goes; the answers of requests go down."""
    direction = app.get("direction", {"kind": "down"})
    return str(direction["kind"])


def client_of(app: Mapping[str, Any]) -> str:
    """Return the end that connects."""
    return SINK if is_conversation(app) and direction_of(app) == "down" else SOURCE


def halves(app: Mapping[str, Any]) -> tuple[int, int]:
    """Return the bytes of a transfer that go up, and down unless it has a request."""
    if direction_of(app) == "up":
        return bytes_of(app["size"]), 0
    ways = app["direction"]
    up, down = (bytes_of(ways.get(key) or app["size"]) for key in ("up", "down"))
    return up, down


def parts_of(app: Mapping[str, Any]) -> int:
    """Return how many times both ends together note of a conversation that comes to its end."""
    if app["kind"] == "request_response":
        return int(app["requests"])
    return 2 if direction_of(app) == "both" else 1


def end_of(app: Mapping[str, Any], end: str, stream: Stream, began: float, hands: Hands) -> End:
    """Return an end of the conversation of a resolved scenario, which began at a time."""
    if direction_of(app) == "down":
        plan = Exchanges(app, stream)
        return Client(plan, hands) if end == SINK else Server(plan, hands)
    up, down = halves(app)
    return Half(up, down, began, hands) if end == SOURCE else Half(down, up, began, hands)
