"""Cases of draft-ietf-ccwg-bbr from outside: by what is sent, acknowledged and in flight, where an algorithm shows nothing."""

import numpy as np

from tonopah.conform.case import Trial
from tonopah.conform.observed import Numbers, Observed
from tonopah.conform.worlds import change, script, world

W_BPS = 20e6
"""Of W's link."""


def in_bdps(run: Observed) -> tuple[Numbers, Numbers]:
    """Return the data in flight over time in BDPs: the payload rate of W's link times the least RTT."""
    times, in_flight = run.column("pipe")
    return times, in_flight * 8 / (W_BPS * run.payload * run.least_rtt)


def sent_rate(run: Observed, start: float, length: float) -> float:
    """Return what was sent in a stretch of time, in bit/s."""
    return (run.sent(start + length) - run.sent(start)) * 8 / length


def full_pipe(t: Trial) -> None:
    """01: the link is filled, and then in flight falls."""
    run = t.run(world())
    t.near("largest_delivery_bps", float(np.max(run.delivered(run.least_rtt, end=3))), W_BPS * run.payload, 0.02)
    times, in_flight = in_bdps(run)
    early = times < 3
    peak = int(np.argmax(in_flight[early]))
    t.check("peak_in_flight_bdp", in_flight[peak], 1.8, None, times[peak])
    after = (times > times[peak]) & (times <= times[peak] + 6 * run.least_rtt)
    t.check("least_then_bdp", float(np.min(in_flight[after])), None, 1.05, times[peak] + 6 * run.least_rtt)


def drains(t: Trial) -> None:
    """03: after the peak little is sent until the queue is gone."""
    run = t.run(world())
    times, in_flight = in_bdps(run)
    start = float(times[np.argmax(np.where(times < 3, in_flight, 0))])
    low = times[(times > start) & (in_flight <= 1.05)]
    t.binds(bool(len(low)), "in flight never falls to 1.05 BDP")
    length = max(float(low[0]) - start, run.least_rtt)
    t.check("share_of_rate", sent_rate(run, start, length) / (W_BPS * run.payload), None, 0.6, float(low[0]))


def probes(t: Trial) -> None:
    """05: in flight is above its level for three to five round trips at a time."""
    run = t.run(world())
    times, in_flight = in_bdps(run)
    settled = times[(times > 0.5) & (in_flight <= 1.05)]
    t.binds(bool(len(settled)), "in flight never falls to 1.05 BDP")
    kept = times > settled[0]
    times, above = times[kept], in_flight[kept] > 1.2
    edges = np.flatnonzero(np.diff(above.astype(int)))
    t.binds(len(edges) >= 2, "in flight never rises above 1.2 BDP and falls again")
    length = float(times[edges[1] + 1] - times[edges[0] + 1]) / run.least_rtt
    t.check("least_rtts_above", length, 3, 5, float(times[edges[1] + 1]))


def probe_rtt_dips(t: Trial) -> None:
    """10: in flight falls to half a BDP every five seconds, for a moment."""
    run = t.run(world())
    times, in_flight = in_bdps(run)
    kept = (times > 1) & (times < 19)
    times, low = times[kept], (in_flight[kept] < 0.7)
    edges = np.flatnonzero(np.diff(low.astype(int))) + 1
    t.binds(len(edges) >= 4, "in flight does not fall below 0.7 BDP twice")
    first, last, second = (float(times[edge]) for edge in edges[:3])
    dip = in_flight[kept][edges[0] : edges[1]]
    t.check("least_in_flight_bdp", float(np.min(dip)), 0.40, 0.55, first)
    t.check("ms_below", (last - first) * 1e3, 160, 400, last)
    t.check("seconds_between", second - first, 5, 5.6, second)


def restarts(t: Trial) -> None:
    """11: after a pause a BDP leaves in a round trip."""
    run = t.run(world(app=script((0, 8e6), (12, 8e6)), seconds=14))
    bytes_sent = run.sent(12 + run.least_rtt) - run.sent(11.999)
    t.check("first_rtt_bdp", bytes_sent * 8 / (W_BPS * run.payload * run.least_rtt), 0.9, None, 12 + run.least_rtt)


def restarts_by_requests(t: Trial) -> None:
    """11b: the same where a request ends the pause."""
    app = {"kind": "request_response", "requests": 4, "response": "2MB", "think": {"kind": "constant", "length": "8s"}}
    run = t.run(world(app=app, seconds=40))
    times, _, sent = run.sending
    gaps = np.flatnonzero(np.diff(times) > 5) + 1
    t.binds(len(gaps) >= 3, "the application does not pause")
    bdp_bits = W_BPS * run.payload * run.least_rtt
    shares = [(run.sent(times[gap] + run.least_rtt) - sent[gap - 1]) * 8 / bdp_bits for gap in gaps]
    least = int(np.argmin(shares))
    t.check("first_rtt_bdp", shares[least], 0.9, None, float(times[gaps[least]]))


def aggregated_run(t: Trial) -> Observed:
    """Run W with aggregated ACKs."""
    return t.run(world(seconds=15, warmup=2, reverse={"acks": {"kind": "decimate", "every": 64, "timeout": "30ms"}}))


def aggregated(t: Trial) -> None:
    """12: the link is filled within two seconds."""
    run = aggregated_run(t)
    t.near("largest_delivery_bps", float(np.max(run.delivered(10 * run.least_rtt, end=2))), W_BPS * run.payload, 0.02, 2)


def carries(t: Trial) -> None:
    """13: goodput."""
    run = aggregated_run(t)
    t.check("share_of_rate", run.flow["goodput_bps"] / (W_BPS * run.payload), 0.94)


def stays_busy(t: Trial) -> None:
    """14: goodput, and never fewer than two packets in flight."""
    run = t.run(world("200kbps", "10ms", 50, seconds=60, warmup=20))
    t.check("share_of_rate", run.flow["goodput_bps"] / (200e3 * run.payload), 0.93)
    times, in_flight = run.changes("pipe", 20)
    t.check("least_in_flight_packets", float(np.min(in_flight)) / run.mss, 2, None, float(times[np.argmin(in_flight)]))


def follows_up(t: Trial) -> None:
    """15: the new rate is reached within five seconds."""
    run = t.run(world("10Mbps", queue=2000, seconds=30, changes=[change(10, rate="100Mbps")]))
    most = float(np.max(run.delivered(run.least_rtt, 10, 15)))
    t.check("share_of_new_rate", most / (100e6 * run.payload), 0.95, None, 15)


def falls(t: Trial) -> None:
    """16: no more than the new rate is sent from 16 s after the change on."""
    run = t.run(world("100Mbps", queue=200, seconds=30, changes=[change(10, rate="10Mbps")]))
    rates = [sent_rate(run, start, 1) / (10e6 * run.payload) for start in np.arange(26, 29.01, 0.25)]
    t.check("share_of_new_rate", max(rates), None, 1.1, 26.0 + 0.25 * int(np.argmax(rates)))


def policed(t: Trial) -> None:
    """17: goodput and loss behind a policer."""
    queue = {"kind": "policer", "rate": "10Mbps", "burst": "100kB", "queue": "1000p"}
    run = t.run(world("100Mbps", queue=queue, seconds=40, warmup=10))
    t.check("share_of_tokens", run.flow["goodput_bps"] / (10e6 * run.payload), 0.90)
    t.check("loss_percent", run.flow["loss_ratio"] * 100, None, 4)


def undoes(t: Trial) -> None:
    """18: as much is sent after the undo as before."""
    base = t.run(world())
    times, in_flight = in_bdps(base)
    high = times[(times > 2) & (in_flight > 1.2)]
    at = float(high[0]) if len(high) else 3.0
    jump = [change(at, delay="50ms", overtake=True), change(at + 0.002, delay="20ms", overtake=True)]
    run = t.run(world(seconds=12, changes=jump))
    found = run.recoveries(at)
    t.binds(bool(found), "no recovery begins")
    before, after = (sent_rate(run, start, run.least_rtt) for start in (at - run.least_rtt, found[0].begin + 0.1))
    t.check("share_sent", after / before, 0.9, None, found[0].begin + 0.1)
