import tonopah as tp


class Stairs(tp.CongestionControl):
    """Holds its window for two seconds, then adds a quarter; a loss takes away a third."""

    def __init__(self, setup):
        super().__init__(setup)
        self.step_at_s = 0.0

    def on_ack(self, ack, view):
        if not view.may_grow or not ack.acked_bytes:
            return
        if self.cwnd_bytes < self.ssthresh_bytes:
            self.cwnd_bytes += ack.acked_bytes
        elif view.now_s >= self.step_at_s:
            self.step_at_s = view.now_s + 2.0
            self.cwnd_bytes *= 1.25

    def on_congestion(self, event, view):
        self.ssthresh_bytes = max(self.cwnd_bytes * 2 / 3, 2 * view.mss_bytes)
        self.cwnd_bytes = event.loss_window_bytes if event.cause == "timeout" else self.ssthresh_bytes
        self.step_at_s = view.now_s + 2.0
