"""Cases of loss recovery and congestion control of TCP: RFC 5681, 6582, 6675, 8985, 6298, 7661; for algorithms of the Reno kind.

T is a link of 20 Mb/s, 20 ms, with a queue of 400 packets. The threshold of slow start is 60 segments at first, so that the 300th
segment, from which on is lost what a case loses, is in congestion avoidance. Windows are in segments.
"""

import math
from typing import Any

import numpy as np

from tonopah.conform.case import Spec, Trial
from tonopah.conform.cubic import in_flight, recovery, round_trips, segments
from tonopah.conform.observed import LOSS, Observed
from tonopah.conform.worlds import MSS, change, lost, outage, script, world

SPEC = Spec("tcp", "TCP loss recovery and congestion control", "RFC 5681, 6298, 6582, 6675, 7661 and 8985", "reno")
case = SPEC.case
FIRST = 300
"""The first segment that is lost."""
RACK = {"recovery": "rack"}


def tee(tcp: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return T."""
    return world(tcp={"initial_ssthresh": "60p", **(tcp or {})}, **{"seconds": 10, **more})


def growth(t: Trial, run: Observed, start: float, length: float) -> None:
    """Hold the growth of congestion avoidance against a segment in each round trip."""
    grown = segments(run, "cwnd", start + length) - segments(run, "cwnd", start)
    t.near("segments_per_rtt", grown / round_trips(run, start, start + length), 1, 0.1, start + length)


@case("r1", "growth", "5681 3.1")
def _(t: Trial) -> None:
    run = t.run(tee())
    start = run.first("cwnd", 60 * MSS)
    t.binds(start < 5, "the window does not reach 60 segments in 5 s")
    times, windows = run.changes("cwnd", end=start)
    acked = run.sampled("acked", times)
    over = (np.diff(windows) - np.minimum(np.diff(acked), MSS)) / MSS
    worst = int(np.argmax(over))
    t.check("segments_beyond_one_per_ack", float(over[worst]), None, 0.01, float(times[worst + 1]))
    growth(t, run, start + 0.2, 2)


def repeated(packets: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the first retransmission."""
    return next((one for one in packets if one["event"] == "sent" and one["retransmission"]), None)


@case("r2", "three duplicate ACKs", "5681 3.2, 6582 3.2")
def _(t: Trial) -> None:
    run = t.run(tee(loss=lost(FIRST)))
    stay = recovery(t, run)
    packets = t.packets(stay.end)
    again = repeated(packets)
    t.binds(again is not None, "nothing is sent again")
    assert again is not None
    acks = [one for one in packets if one["event"] == "delivered" and one["ack"] == again["seq"] and one["t_s"] <= again["t_s"]]
    t.check("duplicate_acks", len(acks) - 1, 3, 3, again["t_s"])
    wanted = max(in_flight(run, stay) / 2, 2)
    t.check("ssthresh", segments(run, "ssthresh", stay.end), wanted - 1, wanted + 1, stay.begin)


@case("r3", "partial ACKs", "6582 3.2 step 3")
def _(t: Trial) -> None:
    run = t.run(tee({"sack": False, "recovery": "newreno"}, loss=lost(FIRST, 10, 3)))
    t.binds(bool(run.recoveries()), "no recovery begins")
    stay = run.recoveries()[0]
    times, counts = run.changes("retransmits", stay.begin - 1e-9, stay.begin + 5)
    t.check("retransmissions", counts[-1] if len(counts) else 0, 3, 3, stay.begin)
    t.check("most_at_once", float(np.max(np.diff(np.concatenate([[0], counts])))) if len(counts) else 0, 1, 1, stay.begin)
    gaps = np.diff(times) / run.at("srtt", stay.begin)
    t.check("least_rtts_apart", float(np.min(gaps)) if len(gaps) else 0, 0.8, 1.5, float(times[-1]) if len(times) else None)
    t.check("reductions", len([one for one in run.recoveries() if one.begin < stay.begin + 2]), 1, 1, stay.begin)
    t.check("time_outs", run.flow["rto_count"], 0, 0, stay.end)


@case("r4", "repair by SACK", "6675 5")
def _(t: Trial) -> None:
    run = t.run(tee({"recovery": "sack"}, loss=lost(FIRST, 2, 20)))
    stay = recovery(t, run)
    rtt = run.at("srtt", stay.begin)
    t.check("rtts_to_repair", stay.length / rtt, None, 3, stay.end)
    t.check("time_outs", run.flow["rto_count"], 0, 0, stay.end)
    # In the first round trip the window comes down to the new one.
    inside = run.held("pipe", min(stay.begin + rtt, stay.end), float(np.nextafter(stay.end, 0))) / MSS
    t.check("most_in_flight", float(np.max(inside)), None, segments(run, "ssthresh", stay.begin) + 1, stay.end)


@case("r5", "reordering is no loss", "8985 6.2")
def _(t: Trial) -> None:
    steps = [change(at + late, delay=delay, overtake=True) for at in (1, 2, 3) for late, delay in ((0, "26ms"), (0.005, "20ms"))]
    run = t.run(tee(RACK, changes=steps, seconds=5))
    t.binds(run.flow.get("reordered_packets", 0) > 0, "nothing is reordered")
    # The first of the three steps is when it is seen.
    known = run.at("retransmits", 1.999)
    t.check("declared_lost", run.at("retransmits", 5) - known, 0, 0, run.first("retransmits", known + 1))
    # The third once more while a segment that is lost is repaired: it alone is sent again. ACKs tell of the third step from 3.046
    # to 3.051 s; the loss is found a round trip and a quarter of the least after it was sent, and repaired another later.
    sent = 3.0485 - 1.5 * run.before("srtt", 3) - run.flow["min_rtt_s"] / 4
    lossy = t.run(tee(RACK, changes=steps, seconds=5, loss=lost(run.sent_packets(sent))))
    stay = next((one for one in lossy.recoveries() if one.begin < 3.046 and one.end > 3.051), None)
    t.binds(stay is not None, "no recovery is under way while segments overtake others")
    known = lossy.before("retransmits", 2.5)
    t.check("sent_again_in_recovery", lossy.at("retransmits", 5) - known, 1, 1, stay.begin if stay else None)


@case("r6", "a probe for the tail", "8985 7")
def _(t: Trial) -> None:
    run = t.run(tee({**RACK, "tlp": True}, loss=lost(347, 1, 3), app={"kind": "bulk", "bytes": f"{350 * MSS}B"}))
    times, _, sent = run.sending
    t.binds(float(sent[-1]) >= 350 * MSS - 1, "not all is sent")
    # What arms the timer: new data, and an ACK that advances (7.2).
    last = float(max(times[np.searchsorted(sent, 350 * MSS - 1)], run.changes("acked", end=run.first("retransmits", 1))[0][-1]))
    probe = float(run.first("retransmits", 1))
    t.check("ms_beyond_2_srtt", (probe - last - 2 * run.at("srtt", last)) * 1e3, -5, 5, min(probe, last + 1))
    t.check("time_outs", run.flow["rto_count"], 0, 0, probe)
    done = run.flow["completion_s"]
    t.check("rtts_to_the_end", ((done if done is not None else math.inf) - last) / run.at("srtt", last), None, 4, last + 1)


@case("r7", "time-outs", "6298 2, 5")
def _(t: Trial) -> None:
    run = t.run(tee({"tlp": False}, seconds=12, **outage(1, 6)))
    found = run.recoveries(1, LOSS)
    t.binds(bool(found), "no time-out")
    begin = found[0].begin
    srtt, spread = run.before("srtt", begin), 4 * run.before("rttvar", begin)
    # G: a clock of up to 10 ms.
    most = max(1.0, srtt + max(0.2, spread)) + 0.01
    t.check("rto_s", run.before("rto", begin), srtt + spread - 0.01, most, begin)
    packets = [one for one in t.packets(6, begin - 1e-6) if one["event"] == "sent" and one["payload_bytes"]]
    times = np.array([one["t_s"] for one in packets])
    t.binds(len(times) >= 3, "fewer than three retransmissions")
    ratios = np.diff(times)[1:] / np.diff(times)[:-1]
    worst = int(np.argmax(np.abs(ratios - 2)))
    t.near("doubled", float(ratios[worst]), 2, 0.02, float(times[worst + 2]))
    t.check("segments_at_once", len(times) / len(np.unique(times)), 1, 1, begin)


@case("r8", "a retransmission is lost", "5681 4.3, 8985 3.4")
def _(t: Trial) -> None:
    run = t.run(tee(RACK, loss=lost(FIRST)))
    stay = recovery(t, run)
    packets = [one for one in t.packets(stay.end) if one["event"] == "sent" and one["payload_bytes"]]
    number = next((place for place, one in enumerate(packets) if one["retransmission"]), None)
    t.binds(number is not None, "nothing is sent again")
    run = t.run(tee(RACK, loss={"kind": "nth", "data_packets": [FIRST, number]}))
    found = recovery(t, run)
    times, thresholds = run.changes("ssthresh", found.begin - 1e-9, found.end + 1)
    t.binds(bool(run.at("retransmits", found.end + 1) >= 2), "the retransmission is not sent again")
    falls = int(np.sum(np.diff(np.concatenate([[run.before("ssthresh", found.begin)], thresholds])) != 0))
    t.check("reductions", falls, 2, None, float(times[-1]) if len(times) else found.begin)
    # What RACK is for: it needs no time-out to see that.
    t.check("time_outs", run.flow["rto_count"], 0, 0, found.end)


@case("r9", "a restart after idle", "5681 4.1, 7661")
def _(t: Trial) -> None:
    run = t.run(tee({"slow_start_after_idle": True}, app=script((0, 2e6), (5, 2e6))))
    first = run.column("cwnd")[1][0]
    t.binds(run.before("cwnd", 5) > first, "the window has not grown before the pause")
    t.check("restart_window", segments(run, "cwnd", 5), None, float(first) / MSS + 0.01, 5)


@case("r10", "a window that is not used", "7661 4.3, 2861")
def _(t: Trial) -> None:
    # So large that the segment of the round trip before the limit shows is within the bound.
    large = {"initial_ssthresh": "120p", "cwnd_validation": True}
    base = t.run(tee(large, loss=lost(FIRST)))
    end = recovery(t, base).end
    app = script((0, base.sent(end)), (end, MSS, MSS * 8 / 2e6, end + 20))
    run = t.run(tee(large, loss=lost(FIRST), app=app, seconds=math.ceil(end + 20.5)))
    t.check("share_20_s_later", run.at("cwnd", end + 20) / run.at("cwnd", end), None, 1.03, end + 20)
