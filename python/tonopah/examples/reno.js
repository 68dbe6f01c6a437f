// Reno (RFC 5681): the same decisions, byte for byte, as reno.py beside it.
class Reno extends CongestionControl {
  static reference = "RFC 5681";
  static strict = true;
  static parameters = { beta: { default: 0.5, min: 0.1, max: 0.9, doc: "what remains of the window after a loss" } };

  constructor(setup, { beta }) {
    super(setup);
    this.beta = beta;
    this.initial_window_bytes = setup.initial_window_bytes;
    this.counted_bytes = 0;
  }

  // One segment per ACK in slow start, one per window in congestion avoidance.
  on_ack(ack, view) {
    let acked = ack.acked_bytes;
    if (!view.may_grow || acked === 0) return;
    if (this.cwnd_bytes < this.ssthresh_bytes) {
      acked = Math.min(acked, view.mss_bytes);
      const grown = Math.min(acked, this.ssthresh_bytes - this.cwnd_bytes);
      this.cwnd_bytes += grown;
      acked -= grown;
    }
    if (acked && this.cwnd_bytes >= this.ssthresh_bytes) this.avoid_congestion(acked, view.mss_bytes);
  }

  avoid_congestion(acked, mss_bytes) {
    const price = this.cwnd_bytes;
    if (this.counted_bytes >= price) {
      this.counted_bytes = 0;
      this.cwnd_bytes += mss_bytes;
    }
    this.counted_bytes += acked;
    this.cwnd_bytes += Math.floor(this.counted_bytes / price) * mss_bytes;
    this.counted_bytes %= price;
  }

  // Half of what is outstanding (equation 4); after a time-out again from the loss window (section 3.1).
  on_congestion(event, view) {
    const base = event.again ? this.ssthresh_bytes : event.flight_bytes, floor = event.cause === "ecn" ? 1 : 2;
    const ssthresh = Math.max(Math.floor(base * this.beta), floor * view.mss_bytes);
    this.counted_bytes = 0;
    this.cwnd_bytes = ssthresh;
    if (event.cause === "timeout") this.cwnd_bytes = event.loss_window_bytes;
    if (event.cause !== "timeout" || event.first) this.ssthresh_bytes = ssthresh;
  }

  on_idle(idle_s, view) {
    if (view.slow_start_after_idle && idle_s > view.rto_s) this.cwnd_bytes = Math.min(this.cwnd_bytes, this.initial_window_bytes);
  }
}
