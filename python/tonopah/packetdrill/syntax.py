"""Read a packetdrill script into events: packets, system calls, assertions and shell commands, each with its time.

The language is that of google/packetdrill. Only its form is read here; `interpreter.py` gives it a meaning.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from tonopah.errors import InputError

MAX_SCRIPT_BYTES = 1_000_000
"""No script comes near this; a larger file is something else."""
MAX_DIGITS = 20
"""Digits of a whole number: those of 64 bits."""
MAX_DEPTH, MAX_DEFINITIONS = 20, 100
"""Brackets in one another; symbols that a script defines."""

# Of what the expressions repeat, nothing is tried twice (`*+`): a script takes time in proportion to its length.
SECONDS = r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)"
TIME = re.compile(
    rf"(?P<relative>\+)?[ \t]*+(?P<start>{SECONDS})(?:[ \t]*+~[ \t]*+(?:\+[ \t]*+)?(?P<latest>{SECONDS})"
    rf"|\s*+\.\.\.\s*+(?:\+[ \t]*+)?(?P<until>{SECONDS}))?(?=[\s<>`%])|(?P<any>\*)(?=\s)"
)
PACKET = re.compile(
    r"(?P<ip>IPv4|IPv6|ipv4|ipv6)?\s*+(?P<direction>[<>])\s*+(?:\[(?P<ecn>[^\]\n]*+)\]\s*+)?(?:\((?P<ip_fields>[^)]*+)\)\s*+)?"
    r"(?P<flags>(?:[SFRPEWUCA0-7]++(?:[ \t]*+\.[SFRPEWUCA0-7.]*+)?|\.[SFRPEWUCA0-7.]*+)|-)"
    r"\s++(?P<seq>[0-9]++):(?P<end>[0-9]++)\s*+\((?P<len>[0-9]++)\)(?P<absolute>!)?"
    r"(?:\s++ack\s++(?P<ack>[0-9]++))?(?:\s++win\s++(?P<win>[0-9]++))?(?:\s++urg\s++(?P<urg>[0-9]++))?"
    r"(?:\s*+<(?P<options>[^>]*+)>)?(?:\s*+sock\([0-9]++\))?"
)
CALL = re.compile(r"(?P<name>[a-z_][a-z0-9_]*)\s*\(")
RESULT = re.compile(r"\s*=\s*(?P<value>-?(?:0x[0-9a-fA-F]+|[0-9]+)|\.\.\.)(?:\s+(?P<errno>E[A-Z0-9]+))?(?:[ \t]*\([^)\n]*\))?")
TOKEN = re.compile(
    r"\s*(?:(?P<ellipsis>\.\.\.)|(?P<number>-?0x[0-9a-fA-F]+|-?[0-9]+(?:\.[0-9]+)?)|(?P<text>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\s*\|\s*[A-Za-z_0-9]+)*)|(?P<mark>[][{}(),=:.|]))"
)
COMMENT = re.compile(r"//[^\n]*|/\*(?:.*?\*/|.*\Z)|`[^`]*+`?|%\{(?:.*?\}%|.*\Z)|\"(?:[^\"\\\n]|\\.)*+\"?", re.DOTALL)
IFDEF = re.compile(r"#ifdef\s+(?P<name>[A-Za-z]\w*)(?P<lines>.*?)#endif", re.DOTALL)
"""Of nplab's packetdrill: lines that hold if a symbol is defined."""
OTHER_PACKET = re.compile(r"[<>]\s*(?:\[[^\]\n]*\]\s*)?(?P<kind>icmp|udp|udplite|sctp|mptcp|ipv4|ipv6|gre|mpls|addr)\b")
OPTION = re.compile(r"--([a-z_0-9]+)(?:=(\"[^\"\n]*\"|\S*))?")
"""An option of the head."""


COUNTER = re.compile(r"[0-7]")
"""AccECN's counter of marks among the flags: its bits are AE, CWR and ECE."""
ECN_FIELDS = {"ect0", "ect1", "ect01", "ce", "noecn"}
"""What may stand in brackets before a packet: the ECN field of its IP header."""


class NotApplicableError(Exception):
    """The script asks for something that the endpoint does not model."""


@dataclass(frozen=True)
class When:
    """When an event happens: `at` a time, `after` the event before it, or at `any` time; in seconds."""

    kind: str
    start_s: float = 0.0
    latest_s: float | None = None
    """End of the range in which a packet may leave."""
    until_s: float | None = None
    """When a blocking call returns."""


@dataclass(frozen=True)
class ScriptPacket:
    """A TCP segment that the peer sends, or that the endpoint has to send (`outbound`).

    `window` is the field of the header, not scaled; `options` is None for `<...>`: any.
    """

    outbound: bool
    flags: str
    seq: int
    len_bytes: int
    ack: int | None
    window: int | None
    ecn: str | None
    options: dict[str, Any] | None
    urgent: bool = False


@dataclass(frozen=True)
class Call:
    """A system call with its arguments and the result that it has to give; `result` is None for `...`."""

    name: str
    arguments: tuple[Any, ...]
    result: int | None
    errno: str | None


@dataclass(frozen=True)
class Code:
    """Python code between `%{` and `}%`."""

    text: str


@dataclass(frozen=True)
class Shell:
    """A shell command; only settings are read from it."""

    text: str


@dataclass(frozen=True)
class Event:
    """What happens at a line of the script."""

    line: int
    when: When
    body: ScriptPacket | Call | Code | Shell
    text: str


@dataclass
class Script:
    """A script: options of its head (`--name=value`) and events in order."""

    name: str
    options: dict[str, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)


def ace(found: re.Match[str]) -> str:
    """Return a value of AccECN's counter as flags."""
    return "".join(letter for bit, letter in ((4, "A"), (2, "W"), (1, "E")) if int(found[0]) & bit)


def counters(words: list[str]) -> dict[str, int]:
    """Return the counters of AccECN's option, each once with its value; none if the words are something else."""
    names, values = words[::2], words[1::2]
    well = len(names) == len(values) == len(set(names)) and {*names} <= {"e0b", "ceb", "e1b"} and all(map(is_whole, values))
    return {name: int(value) for name, value in zip(names, values, strict=True)} if well else {}


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole number of at most 20 digits, with digits of ASCII."""
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS


class ScriptReader:
    """Reads one script from its text."""

    def __init__(self, name: str, text: str):
        self.name = name
        text = COMMENT.sub(blank_comment, text)
        defined = set(re.findall(r"--define=([A-Za-z_]\w*)=", text))
        self.text = IFDEF.sub(lambda found: found["lines"] if found["name"] in defined else "\n" * found[0].count("\n"), text)
        self.at = 0
        self.counted = (0, 1)
        """A place, and its line."""

    def script(self) -> Script:
        """Return the whole script."""
        script = Script(self.name)
        while True:
            self.skip()
            if self.at == len(self.text):
                return script
            option = OPTION.match(self.text, self.at)
            if option and not script.events:
                self.at = option.end()
                if option[1] == "define":
                    self.define(option[2] or "", script)
                else:
                    script.options[option[1]] = option[2] or ""
            else:
                script.events.append(self.event())

    def define(self, given: str, script: Script) -> None:
        """Put the value of a symbol wherever the symbol stands in the rest of the script (`--define=NAME=VALUE`)."""
        name, equals, value = given.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise self.error("--define=NAME=VALUE")
        script.options[f"define {name}"] = value
        if len(script.options) > MAX_DEFINITIONS:
            raise self.error(f"at most {MAX_DEFINITIONS} options")
        rest = re.sub(rf"\b{name}\b", lambda _: value.strip("\"'") if value[:1] == "'" else value, self.text[self.at :])
        if len(rest) > MAX_SCRIPT_BYTES:
            raise self.error("symbols that do not make the script longer than a script may be")
        self.text = self.text[: self.at] + rest

    def event(self) -> Event:
        """Return the event that begins here."""
        start = self.at
        when = self.when() if self.text[start] not in "`%" else When("after")
        self.skip()
        body = self.body()
        text = " ".join(self.text[start : self.at].split())
        place, line = self.counted
        self.counted = (start, line + self.text.count("\n", place, start))
        return Event(self.counted[1], when, body, text)

    def when(self) -> When:
        """Return the time of an event."""
        found = TIME.match(self.text, self.at)
        if found is None:
            raise self.error("a time, such as 0.1, +.1 or *")
        self.at = found.end()
        if found["any"]:
            return When("any")
        start = float(found["start"])
        latest = None
        if found["latest"]:
            latest = float(found["latest"])
        until = float(found["until"]) if found["until"] else None
        return When("after" if found["relative"] else "at", start, latest, until)

    def body(self) -> ScriptPacket | Call | Code | Shell:
        """Return what happens."""
        if self.text.startswith("%{", self.at):
            return Code(self.between("%{", "}%"))
        if self.text.startswith("`", self.at):
            return Shell(self.between("`", "`"))
        packet = PACKET.match(self.text, self.at)
        if packet:
            self.at = packet.end()
            return self.packet(packet)
        call = CALL.match(self.text, self.at)
        if call:
            self.at = call.end()
            return self.call(call["name"])
        if other := OTHER_PACKET.match(self.text, self.at):
            kind = other["kind"]
            raise NotApplicableError(
                "packets between addresses of several paths" if kind == "addr" else f"{kind.upper()} packets"
            )
        raise self.error("a packet (< or >), a system call, `shell` or %{ code }%")

    def between(self, opening: str, closing: str) -> str:
        """Return the text between two marks."""
        start = self.at + len(opening)
        end = self.text.find(closing, start)
        if end < 0:
            raise self.error(f"{closing} after {opening}")
        self.at = end + len(closing)
        return self.text[start:end]

    def packet(self, found: re.Match[str]) -> ScriptPacket:
        """Return the packet of a match of PACKET."""
        ack, window = (None if found[name] is None else self.whole(found[name]) for name in ("ack", "win"))
        if found["options"] is None:
            options: dict[str, Any] | None = {}
        elif found["options"].strip() == "...":
            options = None
        else:
            options = self.options(found["options"])
        if found["absolute"]:
            raise NotApplicableError("absolute sequence numbers")
        flags = "" if found["flags"] == "-" else COUNTER.sub(ace, "".join(found["flags"].split()))
        if self.text.startswith("/udp", self.at):
            raise NotApplicableError("TCP over UDP")
        fields = found["ecn"]
        if fields is not None and fields not in ECN_FIELDS:
            raise NotApplicableError(f"the fields [{fields}] of an IP header")
        return ScriptPacket(
            outbound=found["direction"] == ">",
            flags=flags,
            seq=self.whole(found["seq"]),
            len_bytes=self.whole(found["len"]),
            ack=ack,
            window=window,
            ecn=found["ecn"],
            options=options,
            urgent=found["urg"] is not None,
        )

    def options(self, text: str) -> dict[str, Any]:
        """Return the TCP options of a packet by name."""
        options: dict[str, Any] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            words = part.split()
            match words:
                case ["nop" | "eol"]:
                    pass
                case ["sackOK"]:
                    options["sackOK"] = True
                case ["mss" | "wscale", number] if is_whole(number):
                    options[words[0]] = int(number)
                case ["TS", "val", value, "ecr", echo] if is_whole(value) and is_whole(echo):
                    options["TS"] = (int(value), int(echo))
                case ["mss" | "wscale", symbol] if re.fullmatch(r"[A-Z_][A-Z0-9_]*", symbol):
                    raise NotApplicableError(f"the symbol {symbol}, which has no value: --define={symbol}=VALUE")
                case ["ECN", *counts] if counters(counts):
                    options["accecn"] = counters(counts)
                case ["sack", *blocks] if all(re.fullmatch(r"[0-9]{1,20}:[0-9]{1,20}", block) for block in blocks):
                    options["sack"] = tuple(tuple(int(end) for end in block.split(":")) for block in blocks)
                case _:
                    options[words[0]] = part
        return options

    def call(self, name: str) -> Call:
        """Return the system call whose opening parenthesis was read."""
        arguments = tuple(self.values(")"))
        found = RESULT.match(self.text, self.at)
        if found is None:
            raise self.error("the result of the call, such as = 0 or = -1 EAGAIN")
        self.at = found.end()
        result = None if found["value"] == "..." else self.whole(found["value"])
        # They are one number on Linux and on FreeBSD.
        return Call(name, arguments, result, "EAGAIN" if found["errno"] == "EWOULDBLOCK" else found["errno"])

    def whole(self, text: str) -> int:
        """Return a whole number, which is hexadecimal after 0x."""
        if len(text) > MAX_DIGITS:
            raise self.error(f"a number of at most {MAX_DIGITS} digits")
        return int(text, 16 if "0x" in text else 10)

    def values(self, closing: str, depth: int = 0) -> list[Any]:
        """Return values up to a closing mark: numbers, names, `...`, [lists], {fields}."""
        if depth > MAX_DEPTH:
            raise self.error(f"at most {MAX_DEPTH} brackets in one another")
        values: list[Any] = []
        while True:
            found = TOKEN.match(self.text, self.at)
            if found is None:
                raise self.error(f"a value or {closing!r}")
            self.at = found.end()
            mark = found["mark"]
            if mark == closing:
                return values
            if mark in {"[", "{", "("}:
                values.append(self.values({"[": "]", "{": "}", "(": ")"}[mark], depth + 1))
            elif mark not in {",", "=", ":", ".", "|", None}:
                raise self.error(f"a value or {closing!r}")
            elif found["ellipsis"]:
                values.append(...)
            elif found["number"]:
                values.append(float(found["number"]) if "." in found["number"] else self.whole(found["number"]))
            elif found["name"]:
                values.append("".join(found["name"].split()))
            elif found["text"]:
                values.append(found["text"][1:-1])

    def skip(self) -> None:
        """Go to the next character that is not white space."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def error(self, expected: str) -> InputError:
        """Return the error that something else was expected here."""
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        seen = (
            self.text[self.at : self.at + 40].split("\n")[0] or "the end of the line" if self.at < len(self.text) else "the end"
        )
        return InputError(f"{self.name}:{line}:{column}", f"cannot read {seen!r}", f"expected: {expected}")


def blank_comment(found: re.Match[str]) -> str:
    """Return a comment as white space of as many lines; commands, code, texts and what does not end as they are."""
    text = found[0]
    ends = text.startswith("//") or (text.startswith("/*") and text.endswith("*/", 2))
    return "\n" * text.count("\n") if ends else text


def read_script(name: str, text: str) -> Script:
    """Return the script with this text; raise InputError with file and line where it cannot be read."""
    if len(text) > MAX_SCRIPT_BYTES:
        raise InputError(name, f"is longer than {MAX_SCRIPT_BYTES} characters", "a packetdrill script")
    return ScriptReader(name, text).script()
