"""Reno and CUBIC as a user writes them, to be held against specifications; each flag is a mistake of the field."""

import tonopah as tp


class Reno(tp.CongestionControl):
    """Reno (RFC 5681), with these mistakes on request."""

    def __init__(
        self, setup: tp.Setup, *, beta: bool = False, growth: bool = False, slow: bool = False, idle: bool = False,
        twice: bool = False, unused: bool = False,
    ):  # fmt: skip
        super().__init__(setup)
        self.initial_bytes = setup.initial_window_bytes
        self.beta = 0.7 if beta else 0.25 if twice else 0.5
        self.pace, self.most = 2 if growth else 1, 3 if slow else 1
        self.idles, self.validates = not idle, not unused

    def on_ack(self, ack: tp.Ack, view: tp.View) -> None:
        """Grow."""
        if self.validates and not view.may_grow:
            return
        if self.cwnd_bytes < self.ssthresh_bytes:
            self.cwnd_bytes += min(self.most * ack.acked_bytes, self.most * view.mss_bytes)
        else:
            self.cwnd_bytes += self.pace * view.mss_bytes * ack.acked_bytes / self.cwnd_bytes

    def on_congestion(self, event: tp.Congestion, view: tp.View) -> None:
        """Reduce."""
        reduced = max(self.beta * event.flight_bytes, 2 * view.mss_bytes)
        if event.first:
            self.ssthresh_bytes = reduced
        self.cwnd_bytes = event.loss_window_bytes if event.cause == "timeout" else self.ssthresh_bytes

    def on_idle(self, idle_s: float, view: tp.View) -> None:
        """Restart after silence."""
        if self.idles and view.slow_start_after_idle and idle_s > view.rto_s:
            self.cwnd_bytes = min(self.cwnd_bytes, self.initial_bytes)


class Cubic(tp.CongestionControl):
    """CUBIC (RFC 9438), the curve alone."""

    def __init__(self, setup: tp.Setup, *, beta: float = 0.7, c: float = 0.4):
        super().__init__(setup)
        self.beta, self.c = beta, c
        self.w_max = 0.0
        self.start_s: float | None = None

    def on_ack(self, ack: tp.Ack, view: tp.View) -> None:
        """Follow the curve."""
        if not view.may_grow:
            return
        if self.cwnd_bytes < self.ssthresh_bytes:
            self.cwnd_bytes += min(ack.acked_bytes, view.mss_bytes)
            return
        window = self.cwnd_bytes / view.mss_bytes
        if self.start_s is None:
            self.start_s, self.w_max = view.now_s, max(self.w_max, window)
            self.k_s = ((self.w_max - window) / self.c) ** (1 / 3)
        target = self.c * (view.now_s - self.start_s + (view.srtt_s or 0) - self.k_s) ** 3 + self.w_max
        target = min(max(target, window), 1.5 * window)
        self.cwnd_bytes += ack.acked_bytes * (target - window) / window

    def on_congestion(self, event: tp.Congestion, view: tp.View) -> None:
        """Reduce."""
        self.w_max, self.start_s = self.cwnd_bytes / view.mss_bytes, None
        self.ssthresh_bytes = max(self.beta * event.flight_bytes, 2 * view.mss_bytes)
        self.cwnd_bytes = event.loss_window_bytes if event.cause == "timeout" else self.ssthresh_bytes
