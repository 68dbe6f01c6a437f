"""Cases of HyStart++, RFC 9406: sections 4.2 and 4.3. CSS, conservative slow start, is seen by the window's growth in a round.

H is a link of 1 Gb/s with a queue of 20,000 packets, on which nothing is lost or queued in slow start; the delay is raised in the
middle of a round. Windows are in segments, at the ends of rounds.
"""

import math
from typing import Any

import numpy as np

from tonopah.conform.case import Spec, Trial
from tonopah.conform.cubic import round_trips
from tonopah.conform.observed import LOSS, Numbers, Observed
from tonopah.conform.worlds import MSS, change, lost, outage, world

SPEC = Spec("rfc9406", "HyStart++", "RFC 9406, May 2023", '{ name = "cubic", profile = "hystart++" }')
case = SPEC.case
UNPACED = {"pacing": False}
MIDDLE = 0.55
"""A time in the middle of a round of 100 ms."""


def h(delay_ms: float = 50, raised_ms: float = 0, at: float = MIDDLE, seconds: float = 4, **more: Any) -> dict[str, Any]:
    """Return H, whose delay one way is raised at a time."""
    changes = [change(at, delay=f"{delay_ms + raised_ms:g}ms")] if raised_ms else []
    changes += more.pop("changes", [])
    return world("1Gbps", f"{delay_ms:g}ms", 20000, seconds=seconds, changes=changes, **{"tcp": UNPACED, **more})


def at_ends(run: Observed) -> tuple[Numbers, Numbers]:
    """Return the ends of rounds, and the window there."""
    ends = run.round_starts[1:]
    return ends, run.sampled("cwnd", np.nextafter(ends, 0)) / run.mss


def growth(run: Observed) -> tuple[Numbers, Numbers]:
    """Return the ends of rounds from the second on, and by what the window has grown in each."""
    ends, windows = at_ends(run)
    return ends[1:], windows[1:] / windows[:-1]


def slow(run: Observed, start: float, rounds: int = 99) -> float:
    """Return the end of the first round after a time, of so many, in which the window grows by 1.05 to 1.9."""
    ends, factors = growth(run)
    later = [(end, factor) for end, factor in zip(ends, factors, strict=True) if end > start][:rounds]
    return next((float(end) for end, factor in later if 1.05 < factor < 1.9), math.inf)


def doubles(t: Trial, run: Observed, start: float, rounds: int) -> None:
    """Hold each of the rounds that end after a time, of so many, against slow start; one segment is given."""
    ends, windows = at_ends(run)
    for place in [place for place in range(1, len(ends)) if ends[place] > start][:rounds]:
        wanted = 2 * windows[place - 1]
        t.check(f"cwnd_{ends[place]:.2f}_s".replace(".", "_"), windows[place], wanted - 1, wanted + 1, float(ends[place]))


@case("h1", "doubles while nothing rises", "4.2")
def _(t: Trial) -> None:
    run = t.run(h())
    t.binds(run.at("rtt", 0.6) < 1.02 * run.least_rtt, "something queues")
    doubles(t, run, 0.2, 5)


@case("h2", "a rise below the threshold", "4.2, 4.3")
def _(t: Trial) -> None:
    run = t.run(h(50, 11))
    doubles(t, run, 0.55, 3)


@case("h3", "a rise above the threshold", "4.2, 4.3")
def _(t: Trial) -> None:
    run = t.run(h(50, 14))
    begin = slow(run, MIDDLE, 3)
    t.check("css_in_rounds", run.rounds(MIDDLE, begin) if math.isfinite(begin) else math.inf, None, 3, MIDDLE + 0.35)
    ends, factors = growth(run)
    inside = [float(factor) for end, factor in zip(ends, factors, strict=True) if end > begin][:4]
    for number, factor in enumerate(inside, 1):
        t.near(f"growth_in_css_{number}", factor, 1.25, 0.02, float(ends[ends > begin][number - 1]))
    leaves = run.changes("ssthresh", MIDDLE)
    t.check("ssthresh_set", float(len(leaves[0]) > 0), 1, 1, begin)
    if len(leaves[0]):
        at = float(leaves[0][0])
        # The round in which it begins counts.
        t.check("rounds_in_css", run.rounds(begin - 1e-9, at), 5, 5, at)
        t.check("ssthresh_less_cwnd", (run.at("ssthresh", at) - run.at("cwnd", at)) / MSS, -1, 1, at)


def pair(t: Trial, delay_ms: float, below_ms: float, above_ms: float, at: float) -> None:
    """Hold a rise just below the threshold, and one just above."""
    rtt = 2 * delay_ms / 1e3
    for name, raised, wanted in (("below", below_ms, 0), ("above", above_ms, 1)):
        run = t.run(h(delay_ms, raised, at))
        found = slow(run, at, 3)
        t.check(f"css_{name}", float(math.isfinite(found)), wanted, wanted, found if math.isfinite(found) else at + 3 * rtt)


@case("h4", "a threshold of at least 4 ms", "4.3")
def _(t: Trial) -> None:
    pair(t, 10, 3, 5, 0.11)


@case("h5", "a threshold of at most 16 ms", "4.3")
def _(t: Trial) -> None:
    pair(t, 100, 14, 18, 1.1)


@case("h6", "the rise was chance", "4.2")
def _(t: Trial) -> None:
    base = t.run(h(50, 14))
    begin = slow(base, MIDDLE, 3)
    t.binds(math.isfinite(begin), "no CSS begins")
    back = begin - 0.114 + 0.15
    run = t.run(h(50, 14, changes=[change(back, delay="50ms")]))
    ends, factors = growth(run)
    # The round under way at the change, and the one whose samples tell, are not whole.
    whole = [(float(end), float(factor)) for end, factor in zip(ends, factors, strict=True) if end > back + 0.1][1:3]
    best = max(whole, key=lambda one: one[1], default=(back, 0.0))
    t.near("growth_again", best[1], 2, 0.02, best[0])


@case("h7", "fewer than eight samples", "4.2")
def _(t: Trial) -> None:
    run = t.run(h(50, 14, 0.15, tcp={**UNPACED, "initial_window": "6p"}))
    doubles(t, run, 0.25, 2)


@case("h8", "at most eight segments an ACK", "4.2, 4.3")
def _(t: Trial) -> None:
    thinned: dict[str, Any] = {"reverse": {"acks": {"kind": "decimate", "every": 32, "timeout": "5ms"}}}
    for paced in (False, True):
        run = t.run(h(tcp={"pacing": paced}, **thinned))
        times, windows = run.changes("cwnd", end=0.7)
        _, acked = run.changes("acked", end=0.7)
        t.binds(float(np.max(np.diff(acked))) > 8.5 * MSS, "no ACK is for more than eight segments")
        largest = float(np.max(np.diff(windows))) / MSS
        at = float(times[1 + np.argmax(np.diff(windows))])
        if paced:
            t.check("most_with_pacing", largest, 8.5, None, at)
        else:
            t.check("most_without_pacing", largest, None, 8, at)


@case("h9", "a loss in CSS", "4.2")
def _(t: Trial) -> None:
    base = t.run(h(50, 14))
    begin = slow(base, MIDDLE, 3)
    t.binds(math.isfinite(begin), "no CSS begins")
    run = t.run(h(50, 14, loss=lost(base.sent_packets(begin + 0.05))))
    found = [stay for stay in run.recoveries(begin) if math.isfinite(stay.end)]
    t.binds(bool(found), "no recovery ends")
    end = found[0].end
    t.check("ssthresh_less_cwnd", (run.at("ssthresh", end) - run.at("cwnd", end)) / MSS, -1, 1, end)
    ends, factors = growth(run)
    later = factors[ends > end + 0.15]
    t.check("growth_then", float(np.max(later)) if len(later) else 1.0, None, 1.05, end + 0.15)


@case("h10", "the first slow start alone", "4.3")
def _(t: Trial) -> None:
    run = t.run(world("100Mbps", "20ms", 200, seconds=8, tcp=UNPACED, **outage(3, 4)))
    found = [stay for stay in run.recoveries(3, LOSS) if math.isfinite(stay.end)]
    t.binds(bool(found), "no time-out is overcome")
    begin, end = found[0].begin, found[0].end
    first, last = run.first("cwnd", 8 * run.mss, begin), run.first("cwnd", 0.9 * run.at("ssthresh", end), begin)
    t.binds(last > first, "slow start after the time-out has no whole round")
    ratio = run.at("cwnd", last) / run.at("cwnd", first)
    t.check("growth_per_rtt", ratio ** (1 / round_trips(run, first, last)), 1.9, None, last)
