"""Senders that are none of those which `tonopah identify` simulates; `Stairs` is that of `v6`."""

import math

from stairs import Stairs

import tonopah as tp

__all__ = ["Gentle", "Ramp", "Stairs", "Steep", "Swing"]


class Additive(tp.CongestionControl):
    """Adds segments per round trip; a loss leaves a share of the window."""

    segments = 1.0
    left = 0.5

    def on_ack(self, ack, view):
        if not view.may_grow or not ack.acked_bytes:
            return
        if self.cwnd_bytes < self.ssthresh_bytes:
            self.cwnd_bytes += ack.acked_bytes
        else:
            self.cwnd_bytes += self.segments * view.mss_bytes * ack.acked_bytes / self.cwnd_bytes

    def on_congestion(self, event, view):
        self.ssthresh_bytes = max(self.cwnd_bytes * self.left, 2 * view.mss_bytes)
        self.cwnd_bytes = event.loss_window_bytes if event.cause == "timeout" else self.ssthresh_bytes


class Gentle(Additive):
    """A third of a segment per round trip; a loss takes away a tenth."""

    segments = 0.33
    left = 0.9


class Steep(Additive):
    """Three segments per round trip; a loss takes away three quarters."""

    segments = 3.0
    left = 0.25


class Ramp(Additive):
    """Grows with the root of the time since the last loss: fast at first, then ever more slowly."""

    def __init__(self, setup):
        super().__init__(setup)
        self.since_s, self.from_bytes = 0.0, 0.0

    def on_ack(self, ack, view):
        if self.cwnd_bytes < self.ssthresh_bytes:
            super().on_ack(ack, view)
        elif view.may_grow and ack.acked_bytes:
            base = self.from_bytes or self.cwnd_bytes
            self.cwnd_bytes = max(self.cwnd_bytes, base * (1 + 0.25 * math.sqrt(max(0.0, view.now_s - self.since_s))))

    def on_congestion(self, event, view):
        super().on_congestion(event, view)
        self.since_s, self.from_bytes = view.now_s, self.ssthresh_bytes


class Swing(Additive):
    """Swings by a fifth about what its path holds with a short queue, every three seconds."""

    def on_ack(self, ack, view):
        if self.cwnd_bytes < self.ssthresh_bytes or not view.srtt_s:
            super().on_ack(ack, view)
        elif ack.acked_bytes:
            rate = self.cwnd_bytes / view.srtt_s
            wanted = rate * view.min_rtt_s * (1.25 + 0.2 * math.sin(2 * math.pi * view.now_s / 3))
            self.cwnd_bytes = max(4 * view.mss_bytes, wanted)
