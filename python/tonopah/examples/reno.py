"""Reno in Python (RFC 5681): the same decisions, byte for byte, as the engine's own `reno` in its profile `rfc`."""

from tonopah import Ack, Congestion, CongestionControl, Setup, View


class Reno(CongestionControl):
    """Reno: additive increase, halving."""

    reference = "RFC 5681"
    strict = True
    observed = ("counted_bytes",)
    parameters = {  # noqa: RUF012
        "beta": {"min": 0.1, "max": 0.9, "doc": "what remains of the window after a loss", "source": "RFC 5681 eq. 4"},
    }

    def __init__(self, setup: Setup, *, beta: float = 0.5):
        super().__init__(setup)
        self.beta = beta
        self.initial_window_bytes = setup.initial_window_bytes
        self.counted_bytes = 0

    def on_ack(self, ack: Ack, view: View) -> None:
        """Grow by one segment per ACK in slow start, by one segment per window in congestion avoidance."""
        acked = ack.acked_bytes
        if not view.may_grow or acked == 0:
            return
        if self.cwnd_bytes < self.ssthresh_bytes:
            # Equation 2; what is left at the threshold counts for congestion avoidance.
            acked = min(acked, view.mss_bytes)
            grown = min(acked, self.ssthresh_bytes - self.cwnd_bytes)
            self.cwnd_bytes += grown
            acked -= grown
        if acked and self.cwnd_bytes >= self.ssthresh_bytes:
            self.avoid_congestion(acked, view.mss_bytes)

    def avoid_congestion(self, acked: float, mss: int) -> None:
        """Grow by one segment for each window of acknowledged bytes (section 3.1)."""
        price = self.cwnd_bytes
        if self.counted_bytes >= price:
            # The window has come down since the last ACK: one increment is due already.
            self.counted_bytes = 0
            self.cwnd_bytes += mss
        self.counted_bytes += acked
        self.cwnd_bytes += self.counted_bytes // price * mss
        self.counted_bytes %= price

    def on_congestion(self, event: Congestion, view: View) -> None:
        """Halve (equation 4; to one segment at least if marks say so); after a time-out start again from the loss window.

        The loss of a retransmission halves again what is left (section 4.3).
        """
        base = self.ssthresh_bytes if event.again else event.flight_bytes
        floor = 1 if event.cause == "ecn" else 2
        ssthresh = max(int(base * self.beta), floor * view.mss_bytes)
        self.counted_bytes = 0
        if event.cause != "timeout":
            self.cwnd_bytes = self.ssthresh_bytes = ssthresh
            return
        self.cwnd_bytes = event.loss_window_bytes
        if event.first:
            self.ssthresh_bytes = ssthresh

    def on_idle(self, idle_s: float, view: View) -> None:
        """Come down to the initial window after silence longer than the time-out (section 4.1)."""
        if view.slow_start_after_idle and idle_s > view.rto_s:
            self.cwnd_bytes = min(self.cwnd_bytes, self.initial_window_bytes)
