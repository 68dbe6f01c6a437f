"""Classes for test_compiled.py, in a file so that they have lines. Each is used as it stands and compiled."""

import math

import tonopah as tp

SLOWEST = 8
NAME = "calm"


def half(number, least):
    """A function of the module."""
    if number is None:
        return None
    return max(number // 2, least)


class Everything(tp.CongestionControl):
    """Uses every signal and every answer: what it reads moves the window."""

    GAIN = 1.25
    strict = True

    def __init__(self, setup, *, factor=0.7, gentle=True):
        super().__init__(setup)
        self.factor, self.gentle = factor, gentle
        self.phase = "start"
        self.last_rate_bps = None
        self.seen = 0
        self.timer_s = None
        self.unused = [1, 2, 3]

    def on_ack(self, ack, view):
        """Grow by a number in which every field has a part."""
        self.seen += ack.acked_segments + ack.cumulative_segments + ack.duplicate + ack.partial + ack.echo
        for value in (ack.rtt_s, ack.rtt_oldest_s, ack.one_way_s, view.srtt_s, view.min_rtt_s):
            if value is not None:
                self.seen += value
        self.seen += (ack.lost_bytes + ack.prior_flight_bytes + ack.prior_pipe_bytes + ack.ce_bytes) % 7
        self.seen += (view.snd_una + view.snd_nxt + view.flight_bytes + view.pipe_bytes + view.rwnd_bytes % 1000) % 11
        self.seen += view.rttvar_s + view.rto_s + view.lost_bytes + view.retransmitted_bytes + view.lost_total_bytes % 5
        self.seen += view.delivered_bytes % 13 + view.delivered_ce_bytes + view.round % 3 + view.round_start
        self.seen += view.cwnd_limited + 2 * view.app_limited + 4 * view.slow_start_after_idle
        if ack.rate is not None:
            rate = ack.rate
            if rate.rate_bps is not None:
                self.last_rate_bps = rate.rate_bps
            self.seen += rate.delivered_bytes % 5 + rate.prior_delivered_bytes % 3 + rate.interval_s + rate.sent_at_s
            self.seen += rate.tx_in_flight_bytes % 7 + rate.lost_bytes + rate.app_limited
        # The truth of what may be absent, in a test and as a value.
        if (ack.rtt_s and not (view.srtt_s and ack.rtt_s > 2 * view.srtt_s)) or not ack.rate:
            self.seen += 1
        self.seen += (self.last_rate_bps or 3.0) % 5 + ((ack.one_way_s and 2.0) or 1.0) + bool(ack.rtt_s)
        while self.seen > 1e6 and ack.acked_bytes:
            self.seen = self.seen / 2
        if self.phase == NAME and view.state == "open":
            self.phase = "start"
        if view.may_grow and self.seen % 2 < 1.9:
            self.grow(ack.acked_bytes, view.mss_bytes)
        self.timer_s = view.now_s + 0.1

    def grow(self, acked, mss):
        """A method that is called."""
        self.cwnd_bytes += acked if self.cwnd_bytes < self.ssthresh_bytes else mss * acked // self.cwnd_bytes * self.GAIN

    def on_congestion(self, event, view):
        """Come down by the cause."""
        self.seen += event.flight_bytes % 3 + event.head_transmissions + 8 * event.again
        if event.head_sent_at_s is not None:
            self.seen += event.head_sent_at_s
        least = 2 * view.mss_bytes
        self.ssthresh_bytes = max(int(self.cwnd_bytes * (self.factor if self.gentle else 0.5)), least)
        if event.cause == "timeout":
            self.cwnd_bytes = event.loss_window_bytes if event.first else half(self.cwnd_bytes, least)
        elif event.cause in ("sack", "rack", "dup_ack") or event.state_before == "disorder":
            self.cwnd_bytes = self.ssthresh_bytes
        else:
            self.cwnd_bytes = half(self.cwnd_bytes, least)
        self.phase = NAME

    def on_recovery_end(self, view):
        """A method without a signal."""
        self.seen += math.sqrt(view.mss_bytes)

    def on_undo(self, before, view):
        """The base class's, and more."""
        super().on_undo(before, view)
        self.seen += before[0] % 3

    def on_sent(self, sent):
        """A method without a view."""
        self.seen += sent.now_s + sent.seq % 3 + sent.len_bytes % 7 + sent.pipe_bytes % 5 + sent.retransmission

    def on_lost(self, lost, view):
        """A method of both."""
        self.seen += lost.len_bytes % 3 + lost.sent_at_s + lost.tx_in_flight_bytes % 3 + lost.lost_since_bytes % 3

    def on_idle(self, idle_s, view):
        """A number as signal."""
        self.seen += idle_s

    def on_timer(self, view):
        """Come down a little."""
        self.timer_s = None
        self.cwnd_bytes = max(self.cwnd_bytes - 10, 2 * view.mss_bytes)

    def next_timer(self):
        """Seconds or nothing."""
        return self.timer_s

    def pacing_rate(self):
        """Bits per second or nothing."""
        if self.last_rate_bps is None or self.seen % 3 > 2.5:
            return None
        return max(1e5, 2.0 * self.last_rate_bps)


class Listing(tp.CongestionControl):
    """Holds what no double can."""

    def __init__(self, setup):
        super().__init__(setup)
        self.history = []

    def on_ack(self, ack, view):
        """Remember."""
        self.history.append(ack.acked_bytes)  # the line of the mistake

    def on_congestion(self, event, view):
        """Nothing."""


class Wording(Listing):
    """Does what numba cannot."""

    def on_ack(self, ack, view):
        """An address."""
        self.cwnd_bytes = id(view)  # the second line


class Dividing(Listing):
    """Raises when it runs."""

    def on_ack(self, ack, view):
        """Divide by nothing."""
        self.cwnd_bytes = view.mss_bytes * 10 / (ack.acked_bytes - ack.acked_bytes)


class Falling(Listing):
    """Ends with a window that is no number."""

    def on_ack(self, ack, view):
        """Spoil it."""
        self.cwnd_bytes = math.inf - math.inf
