"""Planted: an RTT below half of the least so far is taken for a broken clock, and the window for four segments."""

from twin import Twin


class RttShrinks(Twin):
    """The twin, but for an RTT that halves during the connection."""

    def __init__(self, setup):
        super().__init__(setup)
        self.least_s = None
        self.broken = False

    def on_ack(self, ack, view):
        super().on_ack(ack, view)
        if ack.rtt_s is not None:
            if self.least_s is not None and ack.rtt_s < 0.5 * self.least_s:
                self.broken = True
            self.least_s = ack.rtt_s if self.least_s is None else min(self.least_s, ack.rtt_s)
        if self.broken:
            self.cwnd_bytes = min(self.cwnd_bytes, 4 * view.mss_bytes)
