"""CUBIC in Python (RFC 9438), to start from: the engine's own `cubic` in its profile `rfc`, without HyStart++ and options.

A class of one's own derives from it and changes one method, or the numbers `C` and `beta`.
"""

import math

from tonopah import Ack, Congestion, CongestionControl, Setup, View


class Cubic(CongestionControl):
    """CUBIC: a cubic function of the time since the last loss; windows in segments, times in seconds."""

    reference = "RFC 9438"
    strict = True
    observed = ("w_max", "w_est", "k_s")
    parameters = {  # noqa: RUF012
        "beta": {"min": 0.1, "max": 0.9, "doc": "what remains of the window after a loss", "source": "RFC 9438 section 4.6"},
        "c": {"min": 0.01, "max": 10, "doc": "steepness of the curve", "source": "RFC 9438 section 5.1"},
    }

    def __init__(self, setup: Setup, *, beta: float = 0.7, c: float = 0.4):
        super().__init__(setup)
        self.beta = beta
        self.c = c
        self.initial_window_bytes = setup.initial_window_bytes
        self.fraction = 0.0
        self.w_max: float | None = None
        self.cwnd_prior: float | None = None
        self.epoch_s: float | None = None
        self.origin = self.k_s = self.w_est = 0.0
        self.accounted_s = 0.0
        self.saved: tuple[float | None, float | None, float | None, float, float, float] = (None, None, None, 0.0, 0.0, 0.0)

    def on_ack(self, ack: Ack, view: View) -> None:
        """Grow: by one segment per ACK in slow start, along the curve beyond. Time without data to send does not count (5.8)."""
        if not view.may_grow and self.epoch_s is not None:
            self.epoch_s += view.now_s - self.accounted_s
        self.accounted_s = view.now_s
        acked = ack.acked_bytes
        if not view.may_grow or acked == 0:
            return
        if self.cwnd_bytes < self.ssthresh_bytes:
            acked = min(acked, view.mss_bytes)
            grown = min(acked, self.ssthresh_bytes - self.cwnd_bytes)
            self.cwnd_bytes += grown
            acked -= grown
        if acked and self.cwnd_bytes >= self.ssthresh_bytes:
            self.avoid_congestion(acked / view.mss_bytes, view)

    def avoid_congestion(self, acked: float, view: View) -> None:
        """Grow along the curve, or as Reno would where that is more (sections 4.2 to 4.4); `acked` is in segments."""
        w = (self.cwnd_bytes + self.fraction) / view.mss_bytes
        if self.epoch_s is None:
            self.begin_epoch(w, view.now_s)
        # Section 4.3: alpha is 1 from the window before the loss on.
        caught_up = self.cwnd_prior is not None and self.w_est >= self.cwnd_prior
        self.w_est += (1.0 if caught_up else 3 * (1 - self.beta) / (1 + self.beta)) * acked / w
        t = view.now_s - (self.epoch_s or 0.0)
        growth = max(0.0, self.w_est - w)
        if self.curve(t) >= self.w_est:
            target = min(max(self.curve(t + (view.srtt_s or 0.0)), w), 1.5 * w)
            growth = min(acked, w) * (target - w) / w
        whole = self.fraction + growth * view.mss_bytes
        self.fraction = whole - math.floor(whole)
        self.cwnd_bytes += math.floor(whole)

    def begin_epoch(self, w: float, now_s: float) -> None:
        """Begin a stage of congestion avoidance; without a loss before, or after a time-out, on the plateau (section 4.8)."""
        self.w_max = w if self.w_max is None else self.w_max
        self.cwnd_prior = w if self.cwnd_prior is None else self.cwnd_prior
        self.epoch_s, self.w_est, self.origin = now_s, w, max(self.w_max, w)
        self.k_s = ((self.origin - w) / self.c) ** (1 / 3)

    def curve(self, t: float) -> float:
        """Return the window that the curve has so long after the start of the stage (equation 1)."""
        return self.c * (t - self.k_s) ** 3 + self.origin

    def on_congestion(self, event: Congestion, view: View) -> None:
        """Remember the window as the next plateau, and keep `beta` of it (sections 4.6 and 4.7)."""
        w = (self.cwnd_bytes + self.fraction) / view.mss_bytes
        if event.first:
            self.saved = (self.w_max, self.cwnd_prior, self.epoch_s, self.origin, self.k_s, self.w_est)
        if event.cause == "timeout":
            self.w_max = None
        elif self.w_max is not None and w < self.w_max:
            self.w_max = w * (1 + self.beta) / 2
        else:
            self.w_max = w
        if event.first or event.again:
            # A further time-out finds the loss window, which is no window before a reduction.
            self.cwnd_prior = w
        self.epoch_s, self.fraction = None, 0.0
        base = self.ssthresh_bytes if event.again else event.flight_bytes
        ssthresh = max(math.floor(base * self.beta + 0.5), (1 if event.cause == "ecn" else 2) * view.mss_bytes)
        if event.cause != "timeout":
            self.cwnd_bytes = self.ssthresh_bytes = ssthresh
            return
        self.cwnd_bytes = event.loss_window_bytes
        if event.first:
            self.ssthresh_bytes = ssthresh

    def on_undo(self, before: tuple[int, float], view: View) -> None:
        """Return to the state before a reduction that was needless (section 4.9.2)."""
        super().on_undo(before, view)
        self.w_max, self.cwnd_prior, self.epoch_s, self.origin, self.k_s, self.w_est = self.saved
        self.accounted_s = view.now_s

    def on_idle(self, idle_s: float, view: View) -> None:
        """Come down to the initial window after silence longer than the time-out (RFC 5681 section 4.1)."""
        if self.epoch_s is not None:
            self.epoch_s += view.now_s - self.accounted_s
        self.accounted_s = view.now_s
        if view.slow_start_after_idle and idle_s > view.rto_s and self.cwnd_bytes > self.initial_window_bytes:
            self.cwnd_bytes = self.initial_window_bytes
            self.epoch_s, self.fraction = None, 0.0
