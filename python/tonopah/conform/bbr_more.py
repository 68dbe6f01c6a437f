"""The example test cases of draft-ietf-ccwg-bbr from 13 on, and two of ours."""

from itertools import pairwise

import numpy as np

from tonopah.conform.bbr import AGGREGATED, FAST, RATE, SPEC, W
from tonopah.conform.bbr_outside import carries, falls, follows_up, policed, stays_busy, undoes
from tonopah.conform.case import Trial
from tonopah.conform.observed import LOSS, Observed
from tonopah.conform.words import DeviatesError
from tonopah.conform.worlds import MSS, PAYLOAD, change, lost, script, world

case = SPEC.case
SMALL = 200e3 * PAYLOAD
"""Payload of a link whose BDP is a third of a packet, bit/s."""


@case("13", "CRUISE over aggregated ACKs", "5.5.9", carries)
def _(t: Trial) -> None:
    run = t.run(world(seconds=15, warmup=2, **AGGREGATED))
    t.check("share_of_rate", run.flow["goodput_bps"] / RATE, 0.94)
    at = t.must_stay(run, "cruise").begin + 0.5
    extra = run.at("extra_acked_bytes", at) / MSS
    t.check("extra_acked_segments", extra, 32, None, at)
    bdp = run.at("max_bw_bps", at) * run.at("min_rtt_s", at) / 8 / MSS
    t.check("cwnd_segments", run.at("cwnd", at) / MSS, 2 * bdp + 0.8 * extra, None, at)


@case("14", "a BDP below a packet", "5.6.4.3", stays_busy)
def _(t: Trial) -> None:
    run = t.run(world("200kbps", "10ms", 50, seconds=60, warmup=20))
    begin = t.must_stay(run, "cruise").begin
    times, windows = run.changes("cwnd", begin)
    least = min(run.held("cwnd", begin, np.inf)) / MSS
    t.check("least_cwnd_segments", least, 4, None, float(times[np.argmin(windows)]) if len(times) else begin)
    t.check("pacing_share", run.at("pacing_rate", 50) / SMALL, 0.85, 1.30, 50)
    t.check("share_of_rate", run.flow["goodput_bps"] / SMALL, 0.93)


@case("15", "ten times the bandwidth", "5.3.3.6", follows_up)
def _(t: Trial) -> None:
    at = t.stay(t.run(world("10Mbps", queue=2000, seconds=30)), "cruise", 1).begin + 0.3
    run = t.run(world("10Mbps", queue=2000, seconds=30, changes=[change(at, rate="100Mbps")]))
    up = t.must_stay(run, "up", after=at).begin
    least = run.at("min_rtt_s", up)
    reached = (run.first("max_bw_bps", 0.95 * 100e6 * PAYLOAD, at) - up) / least
    t.check("least_rtts_to_full_rate", reached, None, 22, up + 22 * least)


@case(
    "16",
    "a tenth of the bandwidth",
    "5.5.10",
    falls,
    note="with a shorter queue than the text's: else PROBE_RTT delays the filter",
)
def _(t: Trial) -> None:
    at = t.stay(t.run(world("100Mbps", queue=200, seconds=30)), "cruise", 1).begin + 0.3
    run = t.run(world("100Mbps", queue=200, seconds=30, changes=[change(at, rate="10Mbps")]))
    high = run.before("max_bw_bps", at)
    times, bounds = run.changes("bw_shortterm_bps", at)
    if len(bounds) < 3:
        raise DeviatesError(f"bw_shortterm takes {len(bounds)} values after the change")
    shares = [float(one) for one in bounds[:3] / np.concatenate([[high], bounds[:2]])]
    t.check("second_of_max_bw", bounds[1] / high, None, 0.72, float(times[1]))
    t.check("least_step", min(shares), 0.69, None, float(times[int(np.argmin(shares))]))
    times, rates = run.changes("max_bw_bps", at)
    low = times[rates <= 1.05 * 10e6 * PAYLOAD]
    adapted = float(low[0]) if len(low) else np.inf
    t.check("probes_to_new_rate", sum(at < stay.begin <= adapted for stay in run.stays if stay.word == "up"), None, 3)
    t.check("seconds_to_new_rate", adapted - at, None, 30 - at)
    # REFILL forgets the bounds of the short term (5.3.3.3): it paces at the largest rate, whatever was lost before.
    refill = t.must_stay(run, "refill", after=at).begin
    t.check("refill_pacing_of_max_bw", run.at("pacing_rate", refill) / run.at("max_bw_bps", refill), 0.9, 1.1, refill)


@case("17", "a policer", "5.5.10", policed)
def _(t: Trial) -> None:
    run = policed_run(t)
    t.check("bw_shortterm_set", run.shows("bw_shortterm_bps"), 1)
    t.check("inflight_shortterm_set", run.shows("inflight_shortterm_bytes"), 1)


def policed_run(t: Trial) -> Observed:
    """Check what a policer is to bring about from outside."""
    policed(t)
    t.made[-1].column("state")
    return t.made[-1]


@case("18", "a spurious fast recovery", "5.5.11", undoes)
def _(t: Trial) -> None:
    at = t.stay(t.run(W), "up").begin + 0.05
    jump = [change(at, delay="50ms", overtake=True), change(at + 0.002, delay="20ms", overtake=True)]
    run = t.run(world(seconds=12, changes=jump))
    found = run.recoveries(at)
    t.binds(bool(found), "no recovery begins")
    begin = found[0].begin
    again = [
        max(stay.begin, begin)
        for stay in run.stays
        if stay.word in ("up", "refill") and begin < stay.end and stay.begin <= begin + 0.4
    ]
    back = [one for one in again if one > begin] or again
    t.check("ms_to_probe_again", (back[0] - begin) * 1e3 if back else np.inf, None, 400, begin + 0.4)
    if back:
        t.check("share_of_window", run.at("cwnd", back[0] + 0.1) / run.before("cwnd", begin), 0.95, None, back[0] + 0.1)


@case("19", "a spurious time-out", "5.5.11")
def _(t: Trial) -> None:
    at = t.stay(t.run(W), "up").begin + 0.05
    run = t.run(world(seconds=12, changes=[change(at, delay="620ms"), change(at + 0.1, delay="20ms")]))
    found = run.recoveries(at, LOSS)
    t.binds(bool(found), "no time-out")
    end = found[0].end
    window = max(run.held("cwnd", end, end + 0.15)) if np.isfinite(end) else 0.0
    t.check("share_of_window", window / run.before("cwnd", found[0].begin), 0.95, None, end)


@case("20", "PROBE_RTT during STARTUP", "5.3.4.3")
def _(t: Trial) -> None:
    run = t.run(world(delay="750ms", queue=4000, seconds=30))
    wanted = ("startup", "probe_rtt", "startup")
    words = [stay.word for stay in run.stays[:3]]
    other = next((stay for stay, word in zip(run.stays, wanted, strict=False) if stay.word != word), run.stays[-1])
    t.check("startup_probe_rtt_startup", float(words == list(wanted)), 1, 1, other.begin)


@case("21", "loss in UP with a known bound", "5.3.3.6")
def _(t: Trial) -> None:
    base = t.run(world(queue=60))
    begin = t.stay(base, "up", after=t.stay(base, "probe_rtt").end).begin
    run = t.run(world(queue=60, loss=lost(base.sent_packets(begin) + 80, 8, 12)))
    up = t.stay(run, "up", after=begin - 1e-9)
    t.check("ms_in_up", up.length * 1e3, None, FAST * 1e3, min(up.end, up.begin + FAST))
    t.follows(run, up, ("down",))
    before, after = (run.at("inflight_longterm_bytes", one) / MSS for one in (up.begin, up.end))
    t.binds(np.isfinite(before), "inflight_longterm is not set before")
    t.check("longterm_segments", after, None, float(np.nextafter(before, 0)), up.end)
    bdp = run.at("max_bw_bps", up.end) * run.at("min_rtt_s", up.end) / 8 / MSS
    t.check("longterm_bdp", after / bdp, 0.95 * 0.7, None, up.end)


@case("22", "limited by the application in REFILL", "5.3.3.5")
def _(t: Trial) -> None:
    base = t.run(W)
    begin = t.stay(base, "refill").begin
    few = (begin + 0.02, MSS, 0.0029, begin + 0.02 + 59 * 0.0029)
    run = t.run(world(app=script((0, base.sent(begin)), few, (begin + 0.3, 30e6))))
    times, rates = run.changes("max_bw_bps", begin, begin + 1.5)
    high = run.at("max_bw_bps", begin)
    off = np.abs(np.concatenate([[high], rates]) / high - 1)
    t.check("max_bw_change", float(np.max(off)), None, 0.02, float(times[np.argmax(off[1:])]) if len(times) else None)
    t.follows(run, t.stay(run, "refill", after=begin - 1e-9), ("up",))


@case("o1", "STARTUP doubles", "5.3.1.1 (own)", note="no case of the text misses the gain of STARTUP")
def _(t: Trial) -> None:
    run = t.run(W)
    drain = t.must_stay(run, "drain").begin
    t.near("pacing_gain", run.before("pacing_gain", drain), 2.77, 0.01, drain)
    starts = run.round_starts
    sent = [run.sent(b) - run.sent(a) for a, b in pairwise(starts[:5])]
    t.check("fourth_round_of_first", sent[3] / sent[0], 5.5, None, float(starts[4]))


@case("o2", "the least RTT lives 10 s", "5.5.7.2 (own)", note="no case of the text misses that time")
def _(t: Trial) -> None:
    run = t.run(world(seconds=30, changes=[change(6, delay="30ms")]))
    t.near("min_rtt_ms_before", run.at("min_rtt_s", 14.5) * 1e3, 40, 0.03, 14.5)
    t.near("min_rtt_ms_after", run.at("min_rtt_s", 16) * 1e3, 60, 0.03, 16)
