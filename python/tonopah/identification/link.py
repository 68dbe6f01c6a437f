"""The link of a trace: rate, delay and queue, from what its sender shows."""

import math
from dataclasses import dataclass

import numpy as np

from tonopah.errors import InputError
from tonopah.identification.sending import HEADERS, Seen, Sending

BESIDE = ("auto", "none", "cubic", "short")
WINDOW_RTTS, MIN_WINDOW_S, WINDOW_SHARE, WINDOW_STEPS = 25, 1.0, 0.25, 5
"""The delivery rate is taken over windows so long, at most a share of the trace, that begin so often in each."""
RATE_QUANTILE = 0.9
PEAK = 3
"""The queue is full at the third largest RTT: the largest may be another's fault."""
UNKNOWN_QUEUE = 10_000
STEP = 0.02
"""Width of the histogram of the spacing of ACKs."""
TRAIN = 3
"""ACKs that follow one another closely, at least."""
MORE = 1.15
"""Ratio of the capacity that spacing shows to the rate of the flow beyond which it was not alone."""
VARIES = 0.10
LATE = 0.05
"""The first part of a trace, in which the start's losses say nothing of others."""
FULL = 1.1
"""RTT above so many base RTTs: the queue is not empty."""
CROWD_STEPS, CROWD_WINDOWS, WAITING = 20, 8, 2.5
"""What others took is seen in windows of so many ACKs, in so many windows at least, in which so many packets wait throughout."""
SIGMA, NORMAL = 1.4826, 1.2816
"""Of a normal distribution: standard deviation by median deviation, and quantile 0.9 (`RATE_QUANTILE`) by standard deviation."""
STEADY = 1.02
"""The rate while packets wait is that of the link where its quantile 0.9 is so near to its median: other long flows spread it."""
LEAST_CROWD, MOST_CROWD = 0.003, 0.3
"""Share of the rate that others took, from which on there were others: a flow alone shows 0.001 at most, by the grain of ACKs."""


@dataclass(frozen=True)
class Company:
    """Who shared the link: nobody, one CUBIC flow, or short flows."""

    kind: str = "none"
    load: float = 0.0
    """Share of the rate that short flows ask for."""


@dataclass(frozen=True)
class PathOf:
    """A link as it was estimated or given."""

    rate_bps: float
    delay_s: float
    queue_packets: int
    mss_bytes: int
    estimated: tuple[str, ...]

    @property
    def rtt_s(self) -> float:
        """The RTT over an empty queue, with the transmission of a packet."""
        return 2 * self.delay_s + 8 * (self.mss_bytes + 2 * HEADERS) / self.rate_bps

    @property
    def bdp_bytes(self) -> float:
        """Payload in flight over an empty queue at the full rate."""
        return self.rate_bps / 8 * self.rtt_s * self.mss_bytes / (self.mss_bytes + HEADERS)


def rates_bps(sending: Sending, rtt_s: float) -> np.ndarray:
    """Return the rates of delivery over windows, in bit/s of packets."""
    times, total = sending.delivered[:, 0], sending.delivered[:, 1]
    if len(times) < 2:
        return np.zeros(0)
    window = min(max(WINDOW_RTTS * rtt_s, MIN_WINDOW_S), WINDOW_SHARE * float(times[-1] - times[0]))
    if window <= 0:
        return np.zeros(0)
    starts = np.arange(times[0], times[-1] - window + 1e-12, window / WINDOW_STEPS)
    low, high = (np.interp(starts + late, times, total) for late in (0.0, window))
    return 8 * (high - low) / window * (sending.mss_bytes + HEADERS) / sending.mss_bytes


def estimate(
    sending: Sending, rate_bps: float | None, delay_s: float | None, queue: int | None, handshake_s: float | None, source: str
) -> PathOf:
    """Return the link from what was given, and for the rest from what was seen; a handshake has no transmission to speak of.

    Raises InputError.
    """
    samples = sending.rtt[:, 1]
    of_handshake: list[float] = [handshake_s] if handshake_s else []
    least = min([*map(float, samples), *of_handshake], default=None)
    if least is None and delay_s is None:
        raise InputError("--delay", "no RTT sample is there to estimate it from", "like --delay 20ms", source)
    packet = sending.mss_bytes + HEADERS
    rate = rate_bps
    if rate is None:
        found = rates_bps(sending, least or 2 * (delay_s or 0.0))
        rate = float(np.quantile(found, RATE_QUANTILE)) if len(found) else 0.0
    if not rate >= 1:
        raise InputError("--rate", "too little is delivered to estimate it from", "like --rate 10Mbps", source)
    if rate_bps is None and least is not None:
        # Whoever empties the queue at each loss delivers less in the mean than while packets wait.
        waiting = busy(sending, rate, least)
        if len(waiting.rates_bps) and waiting.whole_bps < STEADY * (middle := float(np.median(waiting.rates_bps))):
            rate = max(rate, middle)
    serialisation = 8 * (packet + HEADERS) / rate
    delay = delay_s
    if delay is None:
        bases = [float(samples.min()) - serialisation] if len(samples) else []
        delay = max(0.0, min([*bases, *of_handshake])) / 2
    limit = queue
    if limit is None:
        limit = UNKNOWN_QUEUE
        if len(sending.retransmissions_s) and len(samples):
            peak = float(np.sort(samples)[-min(PEAK, len(samples))])
            limit = max(2, math.ceil((peak - 2 * delay - serialisation) * rate / 8 / packet))
    given = {"rate": rate_bps, "delay": delay_s, "queue": queue}
    return PathOf(rate, delay, limit, sending.mss_bytes, tuple(name for name, value in given.items() if value is None))


def capacity_bps(sending: Sending) -> float:
    """Return the rate that the spacing of ACKs shows most often; NaN of too few."""
    times, total = sending.delivered[:, 0], sending.delivered[:, 1]
    gaps, sizes = np.diff(times), np.diff(total)
    good = (gaps > 0) & (sizes > 0)
    if good.sum() < 10 * TRAIN:
        return float("nan")
    close = good & (gaps < 2 * np.median(gaps[good]))
    # Both neighbours of a gap are close too: it is inside of a train.
    inside = close & np.concatenate(([False], close[:-1])) & np.concatenate((close[1:], [False]))
    if inside.sum() < 10:
        return float("nan")
    rates = 8 * sizes[inside] / gaps[inside] * (sending.mss_bytes + HEADERS) / sending.mss_bytes
    steps = np.round(np.log(rates) / STEP).astype(int)
    values, counts = np.unique(steps, return_counts=True)
    return math.exp(STEP * float(values[counts.argmax()]))


@dataclass(frozen=True)
class Busy:
    """Rates of delivery in bit/s of packets in windows in which packets waited throughout, and how long these are."""

    rates_bps: np.ndarray
    window_s: float

    @property
    def whole_bps(self) -> float:
        """What the queue delivers: most windows have no other flow."""
        return float(np.quantile(self.rates_bps, RATE_QUANTILE))


def busy(sending: Sending, rate_bps: float, rtt_s: float) -> Busy:
    """Return the rates of delivery while packets waited: those of the link, less what others took."""
    times, total = sending.delivered[:, 0], sending.delivered[:, 1]
    sizes = np.diff(total)
    if not (sizes > 0).any() or len(sending.rtt) < CROWD_WINDOWS:
        return Busy(np.zeros(0), 0.0)
    packet_s = 8 * (sending.mss_bytes + HEADERS) / rate_bps
    window = max(rtt_s, CROWD_STEPS * packet_s * max(1.0, float(np.median(sizes[sizes > 0])) / sending.mss_bytes))
    starts = np.arange(times[0] + LATE * sending.seconds, times[-1] - window, window / 2)
    low, high = (np.searchsorted(sending.rtt[:, 0], starts + late) for late in (0.0, window + rtt_s))
    waits = np.concatenate(([0], np.cumsum(sending.rtt[:, 1] < rtt_s + WAITING * packet_s)))
    starts = starts[(high - low > 2) & (waits[high] == waits[low])]
    before, after = (np.interp(starts + late, times, total) for late in (0.0, window))
    rates = 8 * (after - before) / window * (sending.mss_bytes + HEADERS) / sending.mss_bytes
    return Busy(rates if len(rates) >= CROWD_WINDOWS else np.zeros(0), window)


def crowd(sending: Sending, path: PathOf) -> tuple[float, float]:
    """Return the share of the rate that others took while packets waited, and the whole rate; 0 where that cannot be seen.

    What the clock of the capture adds to the spread of windows is taken off, by the median error of the time between two ACKs.
    """
    found = busy(sending, path.rate_bps, path.rtt_s)
    if not len(found.rates_bps):
        return 0.0, path.rate_bps
    gaps, sizes = np.diff(sending.delivered[:, 0]), np.diff(sending.delivered[:, 1])
    payload_bps = path.rate_bps / 8 * path.mss_bytes / (path.mss_bytes + HEADERS)
    jitter_s = SIGMA * float(np.median(np.abs(gaps - sizes / payload_bps)[sizes > 0]))
    share = 1 - float(found.rates_bps.mean()) / found.whole_bps - NORMAL * jitter_s / found.window_s
    return (share, found.whole_bps) if share > LEAST_CROWD else (0.0, path.rate_bps)


def has_cubic(sending: Sending, path: PathOf) -> tuple[bool, float]:
    """Tell whether another long flow was on the link, and what the link's rate is then."""
    capacity = capacity_bps(sending)
    if capacity > MORE * path.rate_bps:
        return True, capacity
    rates = rates_bps(sending, path.rtt_s)
    full = float(np.quantile(sending.rtt[:, 1], 0.1)) > FULL * path.rtt_s if len(sending.rtt) else False
    varies = len(rates) > 2 and float(rates[len(rates) // 5 :].std() / rates.mean()) > VARIES
    return bool(full and varies), max(capacity, path.rate_bps) if not math.isnan(capacity) else path.rate_bps


def company_of(seen: Seen, path: PathOf, beside: str) -> tuple[Company, float]:
    """Return who shared the link, as it is given or (`auto`) seen, and the link's rate then. Samples do not show short flows."""
    if beside in ("cubic", "none"):
        return Company(beside), path.rate_bps
    if beside == "auto":
        cubic, capacity = has_cubic(seen.sending, path)
        if cubic:
            return Company("cubic"), capacity
    share, whole = (0.0, path.rate_bps) if beside == "auto" and seen.sampled else crowd(seen.sending, path)
    if beside == "short":
        share = max(share, LEAST_CROWD)
    return Company("short", min(share, MOST_CROWD)) if share else Company(), whole


def mark_threshold(seen: Seen, path: PathOf) -> int:
    """Return the packets above which a simulated queue marks, from the median RTT; 0 if the trace has no marks."""
    rtt = seen.sending.rtt[:, 1]
    if not seen.marked or not len(rtt):
        return 0
    return max(1, round((float(np.median(rtt)) - path.rtt_s) * path.rate_bps / 8 / (path.mss_bytes + HEADERS)))
