"""Run a script against an endpoint: the script is its peer, its application and its clock, and says what must leave when.

Time is simulated, so a script takes milliseconds. The first difference ends it. Sequence numbers of scripts and of the
endpoint both begin at 0 with the SYN.
"""

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah.errors import InputError, ScenarioError
from tonopah.packetdrill.calls import carry_out
from tonopah.packetdrill.packets import comparable, ecn_bytes, ecn_counters, joined, letters, packet_text, same_ecn
from tonopah.packetdrill.settings import apply_shell, host_of, number_of
from tonopah.packetdrill.sockets import Sockets, endpoint_settings
from tonopah.packetdrill.syntax import Call, Code, Event, NotApplicableError, Script, ScriptPacket, Shell, read_script
from tonopah.packetdrill.tcp_info import AssertionMissedError, Assertions, CodeError
from tonopah.runs.endpoint import Endpoint
from tonopah.runs.segment import Segment

TOLERANCE_US = 4000
"""A packet may leave so much earlier or later than the script says: packetdrill's own default."""
TOLERANCE_SHARE = 0.125
"""Or this share of the time since the event before it."""


OPTION_BITS = {"TS": 1, "sackOK": 2, "wscale": 4, "ECN": 8}
"""Bits of tcpi_options."""


class DifferenceError(Exception):
    """The endpoint did something else than the script says."""

    def __init__(self, expected: str, seen: str):
        self.expected, self.seen = expected, seen
        super().__init__(f"expected {expected}, seen {seen}")


@dataclass
class ScriptVerdict:
    """What came out for one script: `pass`, `differs`, `not applicable`, or `unreadable` for what is no script."""

    script: str
    verdict: str
    checks: int = 0
    """Packets, results and assertions compared."""
    line: int | None = None
    time_s: float | None = None
    event: str | None = None
    expected: str | None = None
    seen: str | None = None
    reason: str | None = None
    unchecked: list[str] = field(default_factory=list)
    """What the script asks for and the endpoint does not show."""


class Interpreter:
    """One script on one endpoint."""

    def __init__(self, script: Script, folder: Path):
        self.script, self.folder = script, folder
        self.host = host_of(script)
        self.sockets = Sockets(self.host)
        self.assertions = Assertions()
        self.now = 0.0
        self.before = 0.0
        """Time of the event before."""
        self.began = 0.0
        """When the clock of the endpoint began."""
        self.checks = 0
        self.sent: deque[tuple[float, Segment]] = deque()
        self.last_data_at: float | None = None
        """When a packet with data arrived last."""
        self.blocked: tuple[Event, float] | None = None
        self.offers: dict[str, set[str]] = {}
        """What the SYNs of both sides offer, ours and theirs."""
        self.stamps: dict[int, int] = {}
        """Timestamps of the script and of the endpoint that stand for each other."""
        self.peer_scale = self.own_scale = 0
        self.joins = number_of(script, "mss", 1 << 32)
        """Arriving packets above this size are several segments joined by the network card."""
        self.tolerance = number_of(script, "tolerance_usecs", TOLERANCE_US) / 1e6

    def run(self) -> ScriptVerdict:
        """Carry out all events; return the verdict."""
        verdict = ScriptVerdict(self.script.name, "pass")
        event = None
        try:
            for event in self.script.events:
                self.step(event)
            if self.blocked:
                event = self.blocked[0]
                self.finish_call(at_end=True)
        except DifferenceError as difference:
            verdict.verdict, verdict.expected, verdict.seen = "differs", difference.expected, difference.seen
        except (NotApplicableError, CodeError) as reason:
            verdict.verdict, verdict.reason = "not applicable", str(reason)
        except ScenarioError as error:
            verdict.verdict, verdict.reason = "not applicable", f"the endpoint refuses it: {error}"
        if verdict.verdict != "pass" and event is not None:
            verdict.line, verdict.event, verdict.time_s = event.line, event.text, round(self.now, 6)
        verdict.checks = self.checks
        verdict.unchecked = sorted(self.assertions.unknown | self.sockets.unchecked)
        return verdict

    def step(self, event: Event) -> None:
        """Carry out one event at its time."""
        when = event.when
        start = self.now if when.kind == "any" else when.start_s + (self.before if when.kind == "after" else 0.0)
        if isinstance(event.body, ScriptPacket) and event.body.outbound:
            latest = None if when.latest_s is None else when.latest_s + (self.before if when.kind == "after" else 0.0)
            at = self.expect(event.body, start, latest, any_time=when.kind == "any")
            start = start if when.kind != "any" and when.latest_s is None else at
        else:
            self.go_to(start)
            self.act(event, start)
        self.before = start
        self.finish_call()

    def act(self, event: Event, start: float) -> None:
        """Carry out an event that the script causes."""
        match event.body:
            case ScriptPacket() as packet:
                self.inject(packet)
            case Shell(text):
                option = self.host.ecn_option
                apply_shell(self.host, text, self.folder)
                if self.sockets.endpoint is not None and self.host.ecn_option != option:
                    raise NotApplicableError("sysctl tcp_ecn_option while a connection is open")
            case Code(text):
                self.check_code(text)
            case Call() as call:
                result = self.call(call)
                if result is None:
                    base = self.before if event.when.kind == "after" else 0.0
                    until = event.when.until_s + base if event.when.until_s is not None else start
                    self.blocked = (event, until)
                else:
                    self.compare_result(call, result)

    # --- packets that the endpoint sends

    def expect(self, packet: ScriptPacket, start: float, latest: float | None, any_time: bool) -> float:
        """Hold the next segment of the endpoint against the script; return when it left."""
        if packet.urgent:
            raise NotApplicableError("urgent data")
        margin = max(self.tolerance, TOLERANCE_SHARE * max(0.0, start - self.before))
        end = (latest if latest is not None else start) + margin
        at, segment = self.next_segment(3600.0 + self.now if any_time else end, packet)
        if not any_time and not start - margin - 1e-9 <= at <= end + 1e-9:
            raise DifferenceError(f"{packet_text(packet)} at {start:.6f} s", f"{segment} at {at:.6f} s")
        self.compare(packet, segment)
        self.now = max(self.now, at, 0.0 if any_time else start)
        self.go_to(self.now)
        self.checks += 1
        return at

    def next_segment(self, deadline: float, packet: ScriptPacket) -> tuple[float, Segment]:
        """Return the next segment that leaves until `deadline`, joined with those behind it that belong to one packet."""
        at, segment = self.pop(deadline, packet)
        while segment.len_bytes and segment.seq == packet.seq and segment.len_bytes < packet.len_bytes:
            self.collect()
            if not self.sent:
                break
            later, following = self.sent[0]
            if following.seq != segment.seq + segment.len_bytes or not following.len_bytes or later > at + self.tolerance:
                break
            self.sent.popleft()
            segment = joined(segment, following)
        return at, segment

    def pop(self, deadline: float, packet: ScriptPacket) -> tuple[float, Segment]:
        """Return the next segment, letting time pass until `deadline` at most."""
        end = self.sockets.endpoint
        self.collect()
        while not self.sent and end is not None:
            timer = end.state.next_timeout_s
            if timer is None or timer + self.began > deadline:
                break
            end.at(max(timer, end.state.now_s))
            self.collect()
        if not self.sent:
            raise DifferenceError(packet_text(packet), f"nothing until {min(deadline, 1e6):.6f} s")
        return self.sent.popleft()

    def collect(self) -> None:
        """Take over what the endpoint has sent and reported."""
        if self.sockets.endpoint is not None:
            self.sent.extend((at + self.began, segment) for at, segment in self.sockets.endpoint.sent())
            self.sockets.note_events()

    def compare(self, packet: ScriptPacket, segment: Segment) -> None:
        """Compare a segment with the packet of the script, field by field."""
        flags = letters(packet.flags)
        expected: list[Any] = [flags, packet.seq, packet.len_bytes]
        seen: list[Any] = [letters(segment.flags), segment.seq, segment.len_bytes]
        if "." in packet.flags:
            expected.append(packet.ack)
            seen.append(segment.ack)
        if self.compares_push(packet, segment):
            expected.append("P" in packet.flags)
            seen.append("P" in segment.flags)
        # Before any data has arrived no memory is taken: an unscaled window is then that of the buffer.
        by_memory = self.last_data_at is not None or self.scales()
        wanted = None if by_memory and self.host.freebsd else packet.window
        if wanted is not None:
            # RFC 7323 section 2.2: windows are scaled if both SYNs have the option, or none is.
            scale = 0 if "S" in packet.flags or not self.scales() else self.own_scale
            expected.append(wanted)
            seen.append(segment.window_bytes >> scale)
        elif packet.window is not None:
            self.sockets.unchecked.add("FreeBSD's windows")
        if packet.ecn is not None:
            expected.append(packet.ecn)
            seen.append(same_ecn(packet.ecn, segment.ecn))
        if packet.options is not None:
            expected.append(comparable(packet.options))
            seen.append(self.options_of(segment, packet.options))
        if "S" in segment.flags:
            self.own_scale = segment.window_scale or 0
            self.offers["ours"] = self.options_of(segment, {}).keys() | ({"ECN"} if "E" in segment.flags else set())
        if expected != seen:
            window = expected.index(wanted) if wanted is not None and wanted not in seen else -1
            if by_memory and window > 3 and expected[:window] + expected[window + 1 :] == seen[:window] + seen[window + 1 :]:
                numbers = f"script {wanted}, seen {seen[window]}"
                raise NotApplicableError(f"Linux's accounting of receive memory (the advertised window alone differs: {numbers})")
            raise DifferenceError(packet_text(packet), str(segment))

    def scales(self) -> bool:
        """Tell whether both ends have offered to scale windows."""
        return all("wscale" in self.offers.get(side, ()) for side in ("ours", "theirs"))

    def compares_push(self, packet: ScriptPacket, segment: Segment) -> bool:
        """Tell whether what was written decides on PSH: within a write it comes from how Linux divides it among buffers."""
        decided = segment.len_bytes == 0 or segment.seq + segment.len_bytes in self.sockets.ends
        if not decided and ("P" in packet.flags) != ("P" in segment.flags):
            self.sockets.unchecked.add("PSH within a write")
        return decided

    def options_of(self, segment: Segment, wanted: dict[str, Any]) -> dict[str, Any]:
        """Return the options of a segment; a new timestamp is remembered under the script's number."""
        options: dict[str, Any] = {}
        if "S" in segment.flags:
            options["mss"] = segment.mss_bytes
            if segment.window_scale is not None:
                options["wscale"] = segment.window_scale
            if segment.sack_permitted:
                options["sackOK"] = True
        if segment.timestamps_ms is not None:
            if "TS" in wanted:
                self.stamps[wanted["TS"][0]] = segment.timestamps_ms[0]
            options["TS"] = segment.timestamps_ms[1]
        if (counts := ecn_counters(segment)) is not None:
            options["accecn"] = counts
        if segment.sack:
            options["sack"] = tuple(tuple(block) for block in segment.sack)
        return options

    # --- packets that the script sends

    def inject(self, packet: ScriptPacket) -> None:
        """Let a packet of the script arrive."""
        if packet.urgent or "U" in packet.flags:
            raise NotApplicableError("urgent data")
        options = packet.options or {}
        comparable(options)
        syn = "S" in packet.flags
        end = self.sockets.endpoint
        over = end is not None and end.state.phase == "closed" and self.sockets.connected
        if end is None or (over and syn and "." not in packet.flags and not self.sockets.has_connection()):
            # The first packet for a socket that listens, or the first of its next connection.
            self.listen()
        if syn:
            self.peer_scale = options.get("wscale", 0)
            self.offers["theirs"] = options.keys() | ({"ECN"} if "E" in packet.flags else set())
        stamp = options.get("TS")
        window = packet.window or 0
        scale = 0 if syn or not self.scales() else self.peer_scale
        if packet.len_bytes > self.joins:
            self.sockets.unchecked |= {"segments joined by receive offload", "tcpi_rcv_mss"}
            self.assertions.hidden.add("tcpi_rcv_mss")
        flags = packet.flags.replace("A", "e")
        segment = Segment(
            seq=packet.seq,
            ack=packet.ack or 0,
            len_bytes=packet.len_bytes,
            flags=flags,
            window_bytes=window << scale,
            sack=options.get("sack", ()),
            timestamps_ms=None if stamp is None else (stamp[0], self.stamps.get(stamp[1], stamp[1])),  # pyright: ignore[reportArgumentType]
            ecn={"noecn": "not_ect", None: "not_ect"}.get(packet.ecn, packet.ecn or "not_ect"),
            ecn_bytes=ecn_bytes(options),
            mss_bytes=options.get("mss") if syn else None,
            window_scale=options.get("wscale") if syn else None,
            sack_permitted=bool(options.get("sackOK")) if syn else False,
        )
        if packet.len_bytes:
            self.last_data_at = self.now
        end = self.sockets.endpoint
        assert end is not None, "made above"
        end.inject(segment)
        self.collect()

    def listen(self) -> None:
        """Make the passive endpoint when its first packet arrives."""
        if not any(socket.role == "listening" for socket in self.sockets.open.values()):
            raise NotApplicableError("a packet for a socket that does not exist")
        self.sockets.begin(Endpoint.listen(endpoint_settings(self.sockets, active=False), auto_read=False))
        self.began = self.now

    # --- calls, code and time

    def call(self, call: Call) -> tuple[int | None, str | None] | None:
        """Carry out a system call."""
        before = self.sockets.endpoint
        result = carry_out(self.sockets, call)
        if self.sockets.endpoint is not before:
            self.began = self.now
            self.sent.clear()
        self.collect()
        return result

    def compare_result(self, call: Call, result: tuple[int | None, str | None]) -> None:
        """Compare the result of a system call."""
        value, errno = result
        if call.result is None or value is None:
            return
        self.checks += 1
        if (value, errno) != (call.result, call.errno):
            wanted = f"{call.result} {call.errno or ''}".strip()
            raise DifferenceError(f"{call.name} = {wanted}", f"{value} {errno or ''}".strip())

    def finish_call(self, at_end: bool = False) -> None:
        """Return from a blocking call if it can."""
        if self.blocked is None:
            return
        event, until = self.blocked
        call = event.body
        assert isinstance(call, Call), "only calls block"
        if not at_end and self.now < until - self.tolerance:
            return
        if at_end:
            self.go_to(until)
        result = self.call(call)
        if result is not None:
            self.blocked = None
            self.compare_result(call, result)
        elif at_end or self.now > until + self.tolerance:
            raise DifferenceError(f"{call.name} returns until {until:.6f} s", "it still blocks")

    def check_code(self, text: str) -> None:
        """Carry out the assertions of a piece of code."""
        if self.sockets.endpoint is None:
            raise NotApplicableError("code before the connection")
        try:
            self.checks += self.assertions.run(text, self.sockets.endpoint.state, self.counted())
        except AssertionMissedError as missed:
            raise DifferenceError(str(missed.args[0]), str(missed.args[1])) from None

    def counted(self) -> dict[str, int]:
        """Return fields of tcp_info that follow from what was seen from outside."""
        end = self.sockets.endpoint
        unread = end.state.readable_bytes if end is not None else 0
        fields = {"tcpi_snd_wscale": self.peer_scale, "tcpi_rcv_wscale": self.own_scale}
        if len(self.offers) == 2:
            both = self.offers["ours"] & self.offers["theirs"]
            fields["tcpi_options"] = sum(bit for name, bit in OPTION_BITS.items() if name in both)
        if not self.sockets.peer_closed:
            fields["tcpi_bytes_received"] = self.sockets.received + unread
        if self.last_data_at is not None:
            fields["tcpi_last_data_recv"] = int((self.now - self.last_data_at) * 1e3)
        return fields

    def go_to(self, time_s: float) -> None:
        """Let time pass."""
        self.now = max(self.now, time_s)
        end = self.sockets.endpoint
        if end is not None and end.state.now_s < self.now - self.began:
            end.at(self.now - self.began)
        self.collect()


def run_file(path: Path) -> ScriptVerdict:
    """Run the script in a file; raise InputError if it cannot be read."""
    if not path.is_file():
        raise InputError(str(path), "is not a file", "a packetdrill script, such as fr-4pkt.pkt")
    text = path.read_bytes().decode("utf-8", errors="replace")
    try:
        interpreter = Interpreter(read_script(str(path), text), path.parent)
    except NotApplicableError as reason:
        return ScriptVerdict(str(path), "not applicable", reason=str(reason))
    except InputError as error:
        line = error.path.split(":")[-2] if error.path.count(":") > 1 else ""
        reason = f"{error.path}: {error.message}; {error.hint}"
        return ScriptVerdict(str(path), "unreadable", line=int(line) if line.isdigit() else None, reason=reason)
    return interpreter.run()
