"""Cases of RFC 9002, loss recovery and congestion control of QUIC; for whole transports, seen by their datagrams and their log.

Q is a link of 20 Mb/s, 20 ms, with a queue of 200 packets and one stream of 20 MB. The client sends the data. What needs packet
numbers, losses or RTTs is read of the qlog that the client writes.
"""

import math
from collections import Counter
from typing import Any

import numpy as np

from tonopah.conform.carried import Carried
from tonopah.conform.case import Spec, Trial
from tonopah.conform.connection import GRANULARITY_S, MAX_ACK_DELAY_S, SAME_S, Connection, Numbers
from tonopah.conform.observed import Observed
from tonopah.conform.words import NotApplicableError
from tonopah.conform.worlds import ACCESS, change, lost, outage, script, time
from tonopah.qlog.trace import UDP_HEADERS
from tonopah.scenario.worlds import drop_tail, dumbbell, link

SPEC = Spec(
    "rfc9002", "QUIC loss recovery and congestion control", "RFC 9002 and 9000", "./libquinn_endpoint.so", takes=("transport",)
)  # fmt: skip
case = SPEC.case
Table = dict[str, Any]
DELAY = "20ms"
BULK = {"kind": "bulk", "bytes": "20MB"}
BASE = 1200
"""Bytes of the smallest datagram that a path of QUIC has to carry."""


def queue(app: Table | None = None, seconds: float = 20, packets: int | Table = 200, **more: Any) -> Table:
    """Return Q; other keys are those of its link, but for `transport`, those of the flow's."""
    flow = {"from": "left0", "to": "right0", "app": app or BULK, "transport": more.pop("transport", {})}
    rate, delay, access = more.pop("rate", "20Mbps"), more.pop("delay", DELAY), more.pop("access", ACCESS)
    held = link(rate, delay, drop_tail(packets) if isinstance(packets, int) else packets, **more)
    return dumbbell(f"{seconds:g}s", held, {}, access=access, flow=[flow])


def connected(t: Trial, world: Table) -> tuple[Observed, Connection]:
    """Run a world, and return what it shows with its connection."""
    run = t.run(world)
    t.binds(run.flow["handshake_s"] is not None, "the connection is not established")
    assert isinstance(run, Carried)
    return run, run.connection


def newreno(run: Observed) -> None:
    """Raise NotApplicableError unless the transport runs NewReno."""
    if "newreno" not in str(run.flow["cc"]).lower():
        raise NotApplicableError('the case is about NewReno: { transport = "…", cc = "newreno" }')


def number_at(seen: Connection, t_s: float) -> int:
    """Return the number of the first datagram that the client sends after a time."""
    return int(np.searchsorted(seen.sent.t_s, t_s, "right"))


def late(seen: Connection, number: int, by_s: float) -> list[Table]:
    """Return changes of the link that make one datagram of the client so much later than it was.

    Nothing before may be lost: datagrams arrive in the order in which they are sent. The delay is that where transmission begins.
    """
    start = float(seen.arrived.t_s[number]) - 0.02 - float(seen.sent.payload[number] + UDP_HEADERS) * 8 / 20e6
    return [change(start - 1e-4, delay=time(0.02 + by_s), overtake=True), change(start + 1e-4, delay=DELAY, overtake=True)]


@case("q1", "samples of the RTT", "5.1 to 5.3")
def _(t: Trial) -> None:
    steps = [change(1, delay="30ms"), change(2, delay="20ms")]
    _, seen = connected(t, queue(seconds=5, changes=steps, loss=lost(200)))
    names = ("latest_rtt", "min_rtt", "smoothed_rtt", "rtt_variance")
    counts = [Counter(at for at, _ in seen.log.metrics.get(name, ())) for name in names]
    # Of ACKs that are read at the same time, the log does not say what each has changed.
    times = [at for at in counts[2] if at > 0.1 and all(one[at] <= 1 for one in counts)]
    t.binds(len(times) > 100, "fewer than 100 changes of the smoothed RTT are in the log")
    rows, before = (np.array([[seen.metric(name, at - early) for name in names] for at in times]).T for early in (0, 2 * SAME_S))
    latest, least, smoothed, spread = rows
    _, _, before_smoothed, before_spread = before
    # What was taken off for the delay of the ACK follows from the smoothed RTT.
    taken = 8 * smoothed - 7 * before_smoothed
    allowed = 1e-5 + 1e-3 * latest
    beyond = np.maximum(taken - latest, np.minimum(latest - MAX_ACK_DELAY_S, latest) - taken)
    below = np.where(np.abs(taken - latest) > allowed, least - taken, -1.0)
    new, old = (0.75 * before_spread + 0.25 * np.abs(one - taken) for one in (smoothed, before_smoothed))
    # The text and its pseudocode have the two in another order (erratum 7539).
    off = np.minimum(np.abs(spread - new), np.abs(spread - old))
    for name, wrong in (("ms_taken_off_beyond", beyond), ("ms_below_min_rtt", below), ("ms_of_rttvar", off)):
        worst = int(np.argmax(wrong - allowed))
        t.check(name, 1e3 * float(wrong[worst]), None, 1e3 * float(allowed[worst]), times[worst])


@case("q2", "packets out of order", "6.1.1")
def _(t: Trial) -> None:
    _, base = connected(t, queue(seconds=3))
    numbers = number_at(base, 0.2) + np.array([0, 30])
    gap = float(np.median(np.diff(base.arrived.t_s[numbers[0] : numbers[1]])))
    by = gap * np.array([2.5, 4.5])
    steps = [step for number, later in zip(numbers, by, strict=True) for step in late(base, int(number), float(later))]
    _, seen = connected(t, queue(seconds=3, changes=steps))
    moved = [np.min(np.abs(seen.arrived.t_s - at)) for at in base.arrived.t_s[numbers] + by]
    t.binds(max(moved) < gap / 4, "the two do not arrive late")
    two, four = (seen.packet(int(number)) for number in numbers)
    t.check("lost_where_two_overtake", float(math.isfinite(seen.lost_s(two))), 0, 0, min(seen.lost_s(two), 3))
    # The ACK of the third that overtakes, and as late as one ACK after it.
    due = float(base.arrived.t_s[numbers[1] + 3]) + 0.02
    t.check("ms_after_the_third_ack", 1e3 * (seen.lost_s(four) - due), -1e3 * gap, 2e3 * gap, min(seen.lost_s(four), 3))


@case("q3", "lost by time", "6.1.2")
def _(t: Trial) -> None:
    app = script((0, 300e3), (2, 4 * BASE))
    _, base = connected(t, queue(app, 4))
    first = number_at(base, 1.99)
    burst = base.sent.within(1.99, 2.02)
    t.binds(len(burst.t_s) >= 3, "the burst is of fewer than three datagrams")
    _, seen = connected(t, queue(app, 4, loss=lost(first + len(burst.t_s) - 2)))
    gone = seen.packet(first + len(burst.t_s) - 2)
    found = seen.lost_s(gone)
    at = found if math.isfinite(found) else 2.1
    wanted = max(1.125 * max(seen.metric("smoothed_rtt", at), seen.metric("latest_rtt", at)), GRANULARITY_S)
    t.check("ms_beyond_9_8_of_the_rtt", 1e3 * (found - gone.t_s - wanted), -1, 1, at)


def probes(t: Trial, seen: Connection, start: float, end: float) -> tuple[float, Numbers]:
    """Return when the client sent last before its probes, and when these left: what follows a silence of half a time-out."""
    times, _ = seen.sent.within(start, end).instants
    silences = np.flatnonzero(np.diff(times) > 0.5 * seen.probe_timeout_s(float(seen.heard.within(0, end).t_s[-1])))
    t.binds(len(silences) >= 3, f"fewer than three probes from {start:g} to {end:g} s")
    return float(times[silences[0]]), times[silences[0] + 1 :]


@case("q4", "probe time-outs", "6.2.1, 6.2.4")
def _(t: Trial) -> None:
    run, seen = connected(t, queue(**outage(1, 4)))
    last, times = probes(t, seen, 1, 4)
    first = float(times[0])
    wanted = seen.probe_timeout_s(first - 2 * SAME_S)
    t.check("ms_beyond_the_time_out", 1e3 * (first - last - wanted), -1, 1, first)
    waits = np.diff(np.concatenate([[last], times]))
    ratios = waits[1:] / waits[:-1]
    worst = int(np.argmax(np.abs(ratios - 2)))
    t.near("doubled", float(ratios[worst]), 2, 0.001, float(times[worst + 1]))
    counts = np.array([float(np.sum(seen.sent.t_s == at)) for at in times])
    t.check("most_datagrams_of_a_probe", float(np.max(counts)), 1, 2, float(times[np.argmax(counts)]))
    fallen = run.held("cwnd", first - SAME_S, float(times[-1]))
    t.check("share_of_cwnd_kept", float(np.min(fallen) / fallen[0]), 1, None, first)


@case("q5", "probes of the handshake", "6.2.2, 6.2.3")
def _(t: Trial) -> None:
    # All that the server sends until the client asks for the third time.
    gone = {"loss": {"kind": "packet", "p": 1.0}, "during": [["0s", "2.9s"]]}
    run, seen = connected(t, queue({"kind": "bulk", "bytes": "100kB"}, 12, reverse=gone))
    times, _ = seen.sent.within(-1, 5).instants
    t.binds(len(times) >= 3, "the client sends fewer than three times")
    t.check("ms_to_the_second", 1e3 * (times[1] - times[0]), 998, 1000, float(times[1]))
    t.check("ms_to_the_third", 1e3 * (times[2] - times[1]), 1996, 2000, float(times[2]))
    t.check("connected_s", run.flow["handshake_s"], None, 10, run.flow["handshake_s"])


@case("q6", "three times what came", "9000 8.1")
def _(t: Trial) -> None:
    # The first flight arrives after 20 ms, the second after 61.
    _, seen = connected(t, queue({"kind": "bulk", "bytes": "100kB"}, 12, **outage(0.03, 3)))
    sent = seen.answers.within(-1, 3)
    t.binds(len(sent.t_s) > 0, "the server has sent nothing")
    total = np.cumsum(sent.payload)
    received = np.array([float(np.sum(seen.arrived.payload[seen.arrived.t_s <= at])) for at in sent.t_s])
    worst = int(np.argmax(total / received))
    t.check("sent_by_received", float(total[worst] / received[worst]), None, 3, float(sent.t_s[worst]))


@case("q7", "persistent congestion", "7.6, example of 7.6.3")
def _(t: Trial) -> None:
    run, seen = connected(t, queue(**outage(1, 4)))
    later = seen.heard.within(4, 20).t_s
    t.binds(len(later) > 0, "nothing is heard after 4 s")
    back = float(later[0])
    size = float(np.max(seen.sent.within(0, back - SAME_S).payload))
    times, windows = run.changes("cwnd", 4, back + 1)
    t.binds(len(times) > 0, "the window does not change within a second of the first ACK")
    t.check("datagrams_of_window", float(np.min(windows)) / size, 1.99, 2.01, float(times[np.argmin(windows)]))
    # Slow start: it doubles in each of two round trips, one of which may be that of the ACK.
    rtt = seen.metric("smoothed_rtt", back)
    t.check("datagrams_3_rtts_later", run.at("cwnd", back + 3 * rtt) / size, 5, None, back + 3 * rtt)


@case("q8", "no persistent congestion", "7.6.1")
def _(t: Trial) -> None:
    # The first probe is lost too: what is lost spans more than one time-out, and less than the three of persistent congestion.
    _, base = connected(t, queue(**outage(1, 4)))
    _, times = probes(t, base, 1, 4)
    end = float(times[0] + times[1]) / 2
    run, seen = connected(t, queue(**outage(1, end)))
    t.binds(bool(np.any(seen.sent.t_s == times[0])), "the first probe does not leave")
    until = float(times[1]) + 1
    t.check("share_of_cwnd_kept", float(np.min(run.held("cwnd", 1, until))) / run.at("cwnd", 1), 0.49, None, until)


def halved(t: Trial) -> tuple[Observed, Connection, float]:
    """Return a run of NewReno in which three datagrams of a round trip are lost, and when the window falls."""
    _, base = connected(t, queue(seconds=8))
    run, seen = connected(t, queue(seconds=8, loss=lost(number_at(base, 0.2), 5, 3)))
    newreno(run)
    times, windows = run.column("cwnd")
    falls = np.flatnonzero(np.diff(windows) < 0)
    t.binds(len(falls) > 0, "the window never falls")
    return run, seen, float(times[falls[0] + 1])


@case("q9", "one reduction for a round trip", "7.3.2")
def _(t: Trial) -> None:
    run, seen, at = halved(t)
    size = seen.largest
    t.check("datagrams_off_half", (run.at("cwnd", at) - run.before("cwnd", at) / 2) / size, -1, 1, at)
    rtt = seen.metric("latest_rtt", at)
    held = run.held("cwnd", at, at + 0.99 * rtt)
    t.check("falls_within_the_round_trip", float(np.sum(np.diff(held) < 0)), 0, 0, at + rtt)


@case("q10", "congestion avoidance", "7.3.3")
def _(t: Trial) -> None:
    run, seen, at = halved(t)
    start, end = at + 0.2, at + 0.2
    for _ in range(10):
        end += seen.metric("smoothed_rtt", end)
    t.binds(not np.any(np.diff(run.held("cwnd", start, end)) < 0), "the window falls within ten round trips")
    grown = (run.at("cwnd", end) - run.at("cwnd", start)) / seen.largest
    t.near("datagrams_per_rtt", grown / 10, 1, 0.1, end)


@case("q11", "marks", "7.1, 7.3.2, 9000 13.4")
def _(t: Trial) -> None:
    marking = {"kind": "codel", "ecn": True}
    run, seen = connected(t, queue(packets=marking))
    t.binds(run.flow["marked_packets"] > 0 and run.flow["dropped_packets"] == 0, "nothing is marked, or something is dropped")
    t.check("declared_lost", run.flow["declared_lost_packets"], 0, 0)
    times, windows = run.column("cwnd")
    falls = times[1:][np.diff(windows) < 0]
    t.check("reductions", len(falls), 1, run.flow["marked_packets"])
    if len(falls) > 1:
        apart = np.diff(falls) / np.array([seen.metric("latest_rtt", one) for one in falls[1:]])
        t.check("least_rtts_apart", float(np.min(apart)), 0.9, None, float(falls[1 + int(np.argmin(apart))]))


@case("q12", "the initial window", "7.2")
def _(t: Trial) -> None:
    run, seen = connected(t, queue())
    begun = run.flow["handshake_s"]
    first = seen.heard.t_s[seen.heard.t_s >= begun + 0.039]
    t.binds(len(first) > 0, "no ACK of data arrives")
    early = seen.sent.within(begun - SAME_S, float(first[0]) - SAME_S)
    size = float(np.max(early.payload))
    most = min(10 * size, max(14_720, 2 * size)) + size
    t.check("bytes_before_the_first_ack", float(np.sum(early.payload)), None, most, float(early.t_s[-1]))


@case("q13", "bursts after a pause", "7.7")
def _(t: Trial) -> None:
    app = script((0, 4e6), (4, 4e6))
    _, seen = connected(t, queue(app, 8, access={"rate": "1Gbps", "delay": "0ms", "queue": drop_tail(10_000)}))
    quiet = seen.sent.within(3, 4 - SAME_S)
    t.binds(not len(quiet.t_s), "it still sends in the second before 4 s")
    times, sizes = seen.sent.within(3, 8).instants
    worst = int(np.argmax(sizes))
    size = seen.largest
    t.check("largest_burst", float(sizes[worst]), None, min(10 * size, max(14_720, 2 * size)) + size, float(times[worst]))


@case("q14", "a window that is not used", "7.8")
def _(t: Trial) -> None:
    _, base = connected(t, queue(seconds=2))
    number = number_at(base, 0.2)
    start = 1.5
    app = script((0, 600e3), (start, 1250, 0.005, start + 20))
    run, seen = connected(t, queue(app, 23, loss=lost(number)))
    t.binds(run.flow["declared_lost_packets"] > 0, "nothing is lost")
    t.binds(seen.sent.within(start - 0.2, start - SAME_S).t_s.size == 0, "the first 600 kB last longer than 1.3 s")
    grown = (run.at("cwnd", start + 20) - run.at("cwnd", start)) / seen.largest
    t.check("datagrams_grown", grown, None, 2, start + 20)


@case("q15", "when a receiver acknowledges", "6.4, 9000 13.2")
def _(t: Trial) -> None:
    _, base = connected(t, queue(seconds=3))
    number = number_at(base, 0.3)
    run, seen = connected(t, queue(seconds=3, loss=lost(number)))
    begun = run.flow["handshake_s"] + 0.1
    arrivals, acks = seen.arrived.within(begun, 2.5).t_s, seen.answers.t_s
    following = acks[np.minimum(np.searchsorted(acks, arrivals, "left"), len(acks) - 1)]
    waits = following - arrivals
    worst = int(np.argmax(waits))
    t.check("ms_to_an_ack", 1e3 * float(waits[worst]), 0, 1e3 * MAX_ACK_DELAY_S + 1, float(arrivals[worst]))
    during = acks[(acks > begun) & (acks <= 2.5)]
    counts = np.diff(np.searchsorted(arrivals, during, "right"))
    most = int(np.argmax(counts))
    t.check("most_datagrams_for_an_ack", float(counts[most]), None, 2, float(during[most + 1]))
    # Datagrams before the one that is lost have arrived in turn, so that it is the next but one that shows the gap.
    hole = float(seen.arrived.t_s[number])
    t.check("ms_after_a_gap", 1e3 * float(acks[np.searchsorted(acks, hole)] - hole), 0, 1, hole)


@case("q16", "a smaller MTU", "9000 14.4")
def _(t: Trial) -> None:
    run, seen = connected(t, queue({"kind": "bulk", "bytes": "300kB"}, 5, transport={"mtu": "1400B"}))
    t.check("largest_that_arrives", float(np.max(seen.arrived.payload)), BASE, 1400 - UDP_HEADERS)
    t.check("falls_of_cwnd", float(np.sum(np.diff(run.column("cwnd")[1]) < 0)), 0, 0)
    t.check("arrives", float(run.flow["delivered_bytes"]), 300e3, None)


@case("q17", "slow start into a long queue", "own")
def _(t: Trial) -> None:
    run = t.run(queue({"kind": "bulk", "bytes": "200MB"}, 30, 1700, rate="500Mbps", delay="10ms"))
    t.check("closed_by_itself", float(run.flow["transport_closed"] == 2), 0, 0)
    t.check("bytes_that_arrive", float(run.flow["delivered_bytes"]), 200e6, None)
