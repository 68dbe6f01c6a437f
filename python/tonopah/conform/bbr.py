"""The example test cases of draft-ietf-ccwg-bbr, and three of ours: STARTUP to PROBE_BW. The rest is in `bbr_more.py`.

W is a link of 20 Mb/s, 20 ms, with a queue of 400 packets: a BDP of 66.7 segments. Where a case changes something "when DRAIN
begins", the world is run without the change, and again with it at the time that was read: up to then both runs are the same.
"""

from typing import Any

import numpy as np

from tonopah.conform.bbr_outside import aggregated, drains, full_pipe, probe_rtt_dips, probes, restarts, restarts_by_requests
from tonopah.conform.case import Spec, Trial
from tonopah.conform.observed import Observed
from tonopah.conform.worlds import MSS, PAYLOAD, cbr, change, lost, script, world

SPEC = Spec(
    "bbr-draft", "BBR congestion control, example test cases", "draft-ietf-ccwg-bbr, text of 2026-08-03", "bbr3",
    "our reading of the prose of a draft", ("algorithm", "transport"),
)  # fmt: skip
case = SPEC.case
W = world()
RATE = 20e6 * PAYLOAD
"""Payload that W's link carries, bit/s."""
AGGREGATED: dict[str, Any] = {"reverse": {"acks": {"kind": "decimate", "every": 64, "timeout": "30ms"}}}
FAST = 0.125
"""Within this time after it a loss of this size ends a state, seconds: three round trips."""


def bdps(run: Observed, name: str, at: float) -> float:
    """Return a number of bytes at a time in BDPs of the algorithm: max_bw times min_rtt."""
    return run.at(name, at) * 8 / (run.at("max_bw_bps", at) * run.at("min_rtt_s", at))


@case("01", "STARTUP ends at a plateau", "5.3.1.2", full_pipe)
def _(t: Trial) -> None:
    run = t.run(W)
    drain = t.must_stay(run, "drain").begin
    bw = run.at("max_bw_bps", drain)
    t.near("max_bw_bps", bw, RATE, 0.02, drain)
    t.check("srtt_at_full_rate", (drain - run.first("max_bw_bps", bw / 1.25)) / run.at("srtt", drain), 1.5, 5, drain)
    t.check("full_bw_reached", min(run.held("full_bw_reached", drain, np.inf)), 1, 1, drain)


@case("02", "STARTUP ends by loss", "5.3.1.3")
def _(t: Trial) -> None:
    def limited(step: int, count: int) -> Observed:
        """Run an application of 40 Mb/s that loses packets from the 4000th on."""
        return t.run(world("100Mbps", queue=2000, seconds=4, app=cbr("40Mbps"), loss=lost(4000, step, count)))

    run = limited(10, 400)
    found = run.recoveries()
    t.binds(bool(found), "no recovery begins")
    left = run.stays[0].end
    t.check("ms_to_leave", (left - found[0].begin) * 1e3, 0, FAST * 1e3, min(left, found[0].begin + FAST))
    few = limited(100, 100)
    t.check("states_at_1_percent", len(few.stays), 1, 1, few.stays[0].end)


@case("03", "DRAIN ends by data in flight", "5.3.2", drains)
def _(t: Trial) -> None:
    run = t.run(W)
    drain = t.must_stay(run, "drain")
    t.near("pacing_gain", run.at("pacing_gain", drain.begin), 0.5, 0.01, drain.begin)
    t.check("ms_in_drain", drain.length * 1e3, None, FAST * 1e3, min(drain.end, drain.begin + FAST))
    t.check("in_flight_bdp", bdps(run, "pipe", drain.end), None, 1.02, drain.end)


@case("04", "DRAIN ends by rounds", "5.3.2", note="the text cuts the rate by 10 %, which does not bind: here by half")
def _(t: Trial) -> None:
    begin = t.stay(t.run(W), "drain").begin
    run = t.run(world(changes=[change(begin, rate="10Mbps")]))
    drain = t.must_stay(run, "drain")
    t.check("rounds_in_drain", run.rounds(drain.begin, drain.end), 3, 5, drain.end if np.isfinite(drain.end) else drain.begin)
    in_flight = bdps(run, "pipe", drain.end)
    t.binds(in_flight > 1.02 or not all(one.holds for one in t.measures), f"in flight at its end: {in_flight:.2f} BDP")


@case("05", "UP ends at a plateau", "5.3.3.6", probes, note="its gains are checked too, which the text does not")
def _(t: Trial) -> None:
    run = t.run(W)
    up = t.must_stay(run, "up")
    t.near("pacing_gain", run.at("pacing_gain", up.begin), 1.25, 0.01, up.begin)
    t.near("cwnd_gain", run.at("cwnd_gain", up.begin), 2.25, 0.01, up.begin)
    t.follows(run, up, ("down",))
    t.check("rounds_in_up", run.rounds(up.begin, up.end), 3, 4, up.end)
    t.check("retransmissions", run.at("retransmits", up.end) - run.at("retransmits", up.begin), 0, 0, up.end)


@case("06", "UP ends by loss", "5.3.3.6", note="not checked: whether inflight_longterm moves; text and pseudocode differ")
def _(t: Trial) -> None:
    base = t.run(W)
    begin = t.stay(base, "up").begin
    limited = script((0, base.sent(begin)), (begin, MSS, 0.0008, 20))
    without = t.stay(t.run(world(app=limited)), "up")
    t.check("seconds_without_loss", without.length, 1, None, without.end)
    run = t.run(world(app=limited, loss=lost(base.sent_packets(begin) + 40, 10, 20)))
    t.binds(bool(run.recoveries(begin)), "no recovery begins")
    up = t.stay(run, "up")
    t.check("ms_in_up", up.length * 1e3, None, FAST * 1e3, min(up.end, up.begin + FAST))


@case("07", "nothing ends without loss", "5.3.3.6", note="indefinitely is at most 5 s: then PROBE_RTT comes")
def _(t: Trial) -> None:
    run = t.run(world(app=cbr("4Mbps"), seconds=12))
    others = [stay for stay in run.stays if stay.word not in ("startup", "probe_rtt")]
    t.check("other_states", len(others), 0, 0, others[0].begin if others else None)
    base = t.run(W)
    begin = t.stay(base, "up", after=t.stay(base, "probe_rtt").end).begin
    run = t.run(world(app=script((0, base.sent(begin)), (begin, MSS, 0.002896, 20))))
    up = t.stay(run, "up", after=begin - 1e-9)
    if np.isfinite(up.end):
        t.follows(run, up, ("probe_rtt",))


@case("08", "DOWN ends by data in flight", "5.3.3.2")
def _(t: Trial) -> None:
    run = t.run(W)
    down = t.must_stay(run, "down")
    t.near("pacing_gain", run.at("pacing_gain", down.begin), 0.9, 0.01, down.begin)
    t.follows(run, down, ("cruise",))
    t.check("in_flight_bdp", bdps(run, "pipe", down.end), None, 1.02, down.end)
    if run.shows("inflight_longterm_bytes") and np.isfinite(run.at("inflight_longterm_bytes", down.end)):
        share = run.at("pipe", down.end) / run.at("inflight_longterm_bytes", down.end)
        t.check("share_of_longterm", share, None, 0.85, down.end)


@case(
    "09",
    "DOWN ends after its longest time",
    "5.3.3.2",
    note="a lower RTT just before keeps PROBE_RTT away, which cuts DOWN short",
)
def _(t: Trial) -> None:
    base = t.run(world(delay="50ms", queue=2000))
    refill = t.stay(base, "refill", after=t.stay(base, "probe_rtt").end).begin
    lower = change(refill - 0.3, delay="49.9ms")
    begin = t.stay(t.run(world(delay="50ms", queue=2000, changes=[lower])), "down", after=refill - 0.3).begin
    run = t.run(world(delay="50ms", queue=2000, changes=[lower, change(begin, rate="18Mbps")]))
    down = t.stay(run, "down", after=begin - 1e-9)
    t.follows(run, down, ("refill",))
    t.check("seconds_in_down", down.length, 2.0, 3.15, min(down.end, down.begin + 3.15))


@case("10", "PROBE_RTT comes and goes", "5.3.4.3", probe_rtt_dips)
def _(t: Trial) -> None:
    run = t.run(W)
    stay = t.must_stay(run, "probe_rtt")
    times, rtts = run.changes("rtt", end=stay.begin)
    t.check("seconds_after_least_rtt", stay.begin - times[np.argmin(rtts)], 4.95, 5.2, stay.begin)
    t.near("cwnd_gain", run.at("cwnd_gain", stay.begin), 0.5, 0.01, stay.begin)
    t.check("ms_in_probe_rtt", stay.length * 1e3, 200, 335, stay.end)
    bdp = run.at("max_bw_bps", stay.begin) * run.at("min_rtt_s", stay.begin) / 8
    t.check("least_in_flight_bdp", min(run.held("pipe", stay.begin, stay.end)) / bdp, 0.40, 0.55, stay.end)
    t.follows(run, stay, ("cruise", "down"))


@case("11", "a pause makes PROBE_RTT needless", "5.3.4.3", restarts)
def _(t: Trial) -> None:
    run = t.run(world(app=script((0, 8e6), (12, 8e6)), seconds=14))
    times, in_flight = run.changes("pipe", 0.5, 12)
    t.binds(bool(np.any(in_flight == 0)), "the application does not pause")
    paused = float(times[in_flight == 0][0])
    inside = [stay for stay in run.stays if stay.word == "probe_rtt" and stay.begin < 12.5 and stay.end > 12]
    t.check("probe_rtt_at_restart", len(inside), 0, 0, max(inside[0].begin, 12) if inside else None)
    t.check("share_of_window", run.at("cwnd", 12.05) / run.at("cwnd", paused), 0.95, None, 12.05)


@case("11b", "a request ends the pause", "5.3.4.3 (own)", restarts_by_requests)
def _(t: Trial) -> None:
    app = {"kind": "request_response", "requests": 4, "response": "2MB", "think": {"kind": "constant", "length": "8s"}}
    run = t.run(world(app=app, seconds=40))
    found = [stay for stay in run.stays if stay.word == "probe_rtt"]
    t.check("probe_rtt", len(found), 0, 0, found[0].begin if found else None)


@case("12", "STARTUP over aggregated ACKs", "5.5.9", aggregated)
def _(t: Trial) -> None:
    run = t.run(world(seconds=15, warmup=2, **AGGREGATED))
    drain = t.must_stay(run, "drain").begin
    t.near("max_bw_bps", run.at("max_bw_bps", drain), RATE, 0.02, drain)
    t.check("cwnd_bdp", bdps(run, "cwnd", drain), 2, None, drain)
    t.check("extra_acked_segments", run.at("extra_acked_bytes", drain) / MSS, 32, None, drain)
