//! Window validation beyond Linux's rule: what the window may be of a sender that does not fill it.

use crate::cc::{Ack, Cause, Congestion, CongestionControl, Sent, View, Window};
use crate::settings::CwndValidation;
use crate::units::{Bytes, Span, Time};

/// RFC 7661 §4.3: NVP.
const NON_VALIDATED_PERIOD: Span = Span::from_millis(300_000);
/// RFC 7661 §4.2: the sampling period of pipeACK is at least this.
const LEAST_PERIOD: Span = Span::from_millis(1000);

/// The rule of a connection, besides Linux's and none.
#[derive(Debug)]
pub(crate) enum Validation {
    RateLimited(RateLimited),
    Rfc7661(PipeAck),
}

impl Validation {
    pub(crate) fn of(kind: CwndValidation, initial_window: Bytes) -> Option<Validation> {
        match kind {
            CwndValidation::Linux | CwndValidation::None => None,
            CwndValidation::RateLimited => Some(Validation::RateLimited(RateLimited::new(initial_window))),
            CwndValidation::Rfc7661 => Some(Validation::Rfc7661(PipeAck::new(initial_window))),
        }
    }

    /// An ACK reaches the algorithm, whose window was `before`.
    pub(crate) fn on_ack(&mut self, algorithm: &mut dyn CongestionControl, ack: &Ack, view: &View, before: Window) {
        match self {
            Validation::RateLimited(limited) => limited.on_ack(algorithm, ack, view, before),
            Validation::Rfc7661(used) => used.on_ack(algorithm, ack, view, before),
        }
    }

    /// The algorithm has answered to congestion.
    pub(crate) fn on_congestion(&mut self, algorithm: &mut dyn CongestionControl, event: &Congestion, view: &View) {
        match self {
            Validation::RateLimited(limited) => limited.on_reduction(),
            Validation::Rfc7661(used) => used.on_congestion(algorithm, event.cause, event.flight, view.mss),
        }
    }

    /// An idle period has taken the window down.
    pub(crate) fn on_reduction(&mut self) {
        if let Validation::RateLimited(limited) = self {
            limited.on_reduction();
        }
    }

    pub(crate) fn on_recovery_end(&mut self, algorithm: &mut dyn CongestionControl, view: &View) {
        if let Validation::Rfc7661(used) = self {
            used.on_recovery_end(algorithm, view.mss);
        }
    }

    /// The reduction is undone.
    pub(crate) fn on_undo(&mut self) {
        match self {
            Validation::RateLimited(limited) => limited.on_undo(),
            Validation::Rfc7661(used) => used.on_undo(),
        }
    }

    /// A segment is sent, and FlightSize with it is `flight`.
    pub(crate) fn on_sent(&mut self, sent: &Sent, flight: Bytes) {
        match self {
            Validation::RateLimited(limited) => limited.on_sent(flight),
            Validation::Rfc7661(used) if sent.retransmission => used.on_retransmission(sent.bytes),
            Validation::Rfc7661(_) => {}
        }
    }
}

/// draft-ietf-ccwg-ratelimited-increase-10.
#[derive(Debug)]
pub(crate) struct RateLimited {
    /// maxFS: the largest FlightSize since cwnd was last reduced. A transmission alone raises it: what the ACK of a reduction
    /// found outstanding was sent before.
    max_flight: Bytes,
    /// Before the last reduction.
    saved: Bytes,
}

impl RateLimited {
    fn new(initial_window: Bytes) -> RateLimited {
        RateLimited { max_flight: initial_window, saved: initial_window }
    }

    fn on_sent(&mut self, flight: Bytes) {
        self.max_flight = self.max_flight.max(flight);
    }

    /// An ACK reaches the algorithm, whose window was `before`; it may have grown beyond what has been used.
    fn on_ack(&mut self, algorithm: &mut dyn CongestionControl, ack: &Ack, view: &View, before: Window) {
        algorithm.on_ack(ack, view);
        let after = algorithm.window();
        if ack.prior_flight >= before.cwnd || after.cwnd <= before.cwnd {
            return;
        }
        // limit(maxFS): the window that one maxFS acknowledged makes of maxFS
        let limit = if before.in_slow_start() {
            self.max_flight.saturating_add(self.max_flight)
        } else {
            algorithm.after_round(self.max_flight, view)
        };
        if after.cwnd > limit {
            algorithm.begin(Window { cwnd: limit.max(before.cwnd), ..after });
        }
    }

    /// cwnd has been reduced.
    fn on_reduction(&mut self) {
        self.saved = std::mem::take(&mut self.max_flight);
    }

    /// The reduction is undone.
    fn on_undo(&mut self) {
        self.max_flight = self.max_flight.max(self.saved);
    }
}

/// RFC 7661: growth while at least half of the window is in use, and a reduction to what is.
#[derive(Debug)]
pub(crate) struct PipeAck {
    initial_window: Bytes,
    /// The largest volume acknowledged in a round trip, of this sampling period and the one before; absent before the first.
    largest: Option<[Bytes; 2]>,
    period_ends: Time,
    /// Delivered in all when the round under way began.
    round_from: Bytes,
    /// The non-validated phase has lasted since.
    since: Option<Time>,
    /// An episode of losses that began in it: max(pipeACK, LossFlightSize), and what has been retransmitted since.
    loss: Option<(Bytes, Bytes)>,
}

impl PipeAck {
    fn new(initial_window: Bytes) -> PipeAck {
        PipeAck {
            initial_window,
            largest: None,
            period_ends: Time::ZERO,
            round_from: Bytes::ZERO,
            since: None,
            loss: None,
        }
    }

    fn pipe_ack(&self) -> Option<Bytes> {
        self.largest.map(|[now, before]| now.max(before))
    }

    /// §4.2: two bins of a sampling period of max(3 RTT, 1 s) (§4.5.1).
    fn sample(&mut self, view: &View) {
        if view.now >= self.period_ends {
            let period = (view.srtt.unwrap_or_default() * 3).max(LEAST_PERIOD);
            let missed = view.now.since(self.period_ends) >= period;
            self.largest = self.largest.map(|[now, _]| [Bytes::ZERO, if missed { Bytes::ZERO } else { now }]);
            self.period_ends = view.now + period;
        }
        if view.round_start {
            let volume = view.delivered.saturating_sub(self.round_from);
            self.round_from = view.delivered;
            let [now, before] = self.largest.unwrap_or_default();
            self.largest = Some([now.max(volume), before]);
        }
    }

    /// §4.3: half of the window at least is in use.
    fn is_validated(&self, cwnd: Bytes) -> bool {
        self.pipe_ack().is_none_or(|volume| volume >= Bytes(cwnd.0 / 2))
    }

    fn on_ack(&mut self, algorithm: &mut dyn CongestionControl, ack: &Ack, view: &View, before: Window) {
        self.sample(view);
        let validated = self.is_validated(before.cwnd);
        self.since = if validated { None } else { self.since.or(Some(view.now)) };
        algorithm.on_ack(ack, &View { may_grow: view.may_grow && validated, ..*view });
        if self.since.is_some_and(|since| view.now.since(since) >= NON_VALIDATED_PERIOD) {
            // §4.3: cwnd = max(cwnd / 2, IW), ssthresh = max(ssthresh, 3 cwnd / 4)
            let Window { cwnd, ssthresh } = algorithm.window();
            algorithm.begin(Window {
                cwnd: Bytes(cwnd.0 / 2).max(self.initial_window).min(cwnd),
                ssthresh: ssthresh.max(Bytes(cwnd.0 / 4 * 3)),
            });
            self.since = Some(view.now);
        }
    }

    /// The algorithm has answered to congestion at `flight` outstanding. §4.4.1: in the non-validated phase
    /// cwnd = max(pipeACK, LossFlightSize) / 2.
    fn on_congestion(&mut self, algorithm: &mut dyn CongestionControl, cause: Cause, flight: Bytes, mss: Bytes) {
        self.loss = None;
        if let Some(volume) = self.pipe_ack().filter(|_| self.since.is_some() && cause != Cause::Timeout) {
            let used = volume.max(flight);
            self.loss = Some((used, Bytes::ZERO));
            let window = algorithm.window();
            algorithm.begin(Window { cwnd: Bytes(used.0 / 2).max(mss * 2), ..window });
        }
    }

    fn on_retransmission(&mut self, bytes: Bytes) {
        if let Some((_, retransmitted)) = &mut self.loss {
            *retransmitted += bytes;
        }
    }

    /// §4.4.1: cwnd = ssthresh = (max(pipeACK, LossFlightSize) - R) / 2.
    fn on_recovery_end(&mut self, algorithm: &mut dyn CongestionControl, mss: Bytes) {
        if let Some((used, retransmitted)) = self.loss.take() {
            let half = Bytes(used.saturating_sub(retransmitted).0 / 2).max(mss * 2);
            algorithm.begin(Window { cwnd: half, ssthresh: half });
        }
    }

    /// The reduction is undone.
    fn on_undo(&mut self) {
        self.loss = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::driver::{Driver, MSS};
    use crate::cc::vectors::vectors;
    use crate::cc::{CcConfig, Setup, Value};

    const PER_ACK: [(&str, Value); 1] = [("per_ack", Value::Flag(true))];

    fn acked(bytes: u64, prior_flight: u64) -> Ack {
        let (acked, segments) = (Bytes(bytes), (bytes / MSS.0) as u32);
        Ack { acked, acked_segments: segments, prior_flight: Bytes(prior_flight), ..Ack::default() }
    }

    /// The 36 packets of the draft's appendix, and congestion avoidance with a reduction.
    #[test]
    fn the_window_does_not_grow_beyond_what_was_used() {
        for (name, ssthresh, initial) in [("appendix", None, 10), ("avoidance", Some(10), 20)] {
            let Driver { mut cc, view } = Driver::new("reno", "rfc", &PER_ACK, initial, ssthresh);
            let mut limited = RateLimited::new(MSS * 10);
            let mut flight = 0;
            for row in vectors("rate_limited_increase")[name].as_array().unwrap() {
                let bytes = row["event"][1].as_u64().unwrap();
                match row["event"][0].as_str().unwrap() {
                    "send" => {
                        flight += bytes;
                        limited.on_sent(Bytes(flight));
                    }
                    "ack" => {
                        let before = cc.window();
                        limited.on_ack(&mut *cc, &acked(bytes, flight), &view, before);
                        flight -= bytes;
                        assert_eq!(limited.max_flight.0, row["max_flight"], "{name} {row}");
                    }
                    _ => {
                        limited.on_reduction();
                        cc.begin(Window { cwnd: Bytes(bytes), ssthresh: Bytes(bytes) });
                    }
                }
                assert_eq!(
                    (flight, cc.window().cwnd.0),
                    (row["flight"].as_u64().unwrap(), row["cwnd"].as_u64().unwrap()),
                    "{name} {row}"
                );
            }
        }
    }

    /// What one maxFS acknowledged makes of maxFS, by the algorithm's own growth.
    #[test]
    fn the_limit_is_the_algorithms_growth_in_a_round_trip() {
        for (name, profile, used, limit) in [
            ("reno", "rfc", 100, 101_000),
            ("dctcp", "rfc", 100, 101_000),
            ("cubic", "rfc", 100, 150_000),
            ("cubic", "linux", 100, 150_000),
            ("scalable", "paper", 100, 101_000),
            ("scalable", "paper", 1000, 1_010_000),
            ("illinois", "linux", 100, 110_000),
        ] {
            let profile = crate::cc::find(name)
                .unwrap()
                .profile(profile)
                .map_or_else(|| crate::cc::find(name).unwrap().profiles[0].name, |p| p.name);
            let config = CcConfig::by_name(name, Some(profile), &[]).unwrap();
            let cc = config.build(&Setup::plain(MSS, MSS * 10));
            let view = View { mss: MSS, ..View::default() };
            assert_eq!(cc.after_round(MSS * used, &view).0, limit, "{name} {profile}");
        }
    }

    /// A mark takes the window down, then the algorithm sees the same ACK: what that found outstanding was sent before.
    #[test]
    fn what_was_sent_before_a_reduction_is_no_use_of_the_window() {
        let Driver { mut cc, view } = Driver::new("reno", "rfc", &[], 10, Some(20));
        let mut limited = RateLimited::new(MSS * 10);
        limited.on_sent(MSS * 10);
        limited.on_reduction();
        let before = cc.window();
        limited.on_ack(&mut *cc, &acked(8 * MSS.0, 10 * MSS.0), &View { may_grow: false, ..view }, before);
        assert_eq!(limited.max_flight, Bytes::ZERO);
        limited.on_sent(MSS * 3);
        assert_eq!(limited.max_flight, MSS * 3);
    }

    #[test]
    fn an_undone_reduction_gives_back_what_was_used() {
        let mut limited = RateLimited::new(MSS * 10);
        limited.on_reduction();
        assert_eq!(limited.max_flight, Bytes::ZERO);
        limited.on_undo();
        assert_eq!(limited.max_flight, MSS * 10);
    }

    /// A sender of five segments per round trip with a window of forty.
    fn at_leisure() -> (Driver, PipeAck) {
        let mut driver = Driver::new("reno", "rfc", &PER_ACK, 40, Some(20));
        let mut used = PipeAck::new(MSS * 10);
        for round in 0..10 {
            driver.view.now = driver.view.now + Span::from_millis(100);
            driver.view.delivered += MSS * if round == 0 { 40 } else { 5 };
            driver.view.round_start = true;
            let before = driver.cc.window();
            used.on_ack(&mut *driver.cc, &acked(1000, 5000), &driver.view, before);
        }
        (driver, used)
    }

    /// RFC 7661 §4.3: while the window of forty counts as used it grows, then no more.
    #[test]
    fn growth_stops_while_less_than_half_is_used() {
        let (mut driver, mut used) = at_leisure();
        assert!(used.is_validated(driver.cc.window().cwnd), "the sampling period still has the forty");
        for _ in 0..30 {
            driver.view.now = driver.view.now + Span::from_millis(100);
            driver.view.delivered += MSS * 5;
            let before = driver.cc.window();
            used.on_ack(&mut *driver.cc, &acked(1000, 5000), &driver.view, before);
        }
        let before = driver.cc.window();
        assert!(!used.is_validated(before.cwnd));
        used.on_ack(&mut *driver.cc, &acked(1000, 5000), &driver.view, before);
        assert_eq!(driver.cc.window(), before);
        // §4.3: after five minutes the window is halved, and ssthresh remembers three quarters.
        driver.view.now = driver.view.now + NON_VALIDATED_PERIOD;
        used.on_ack(&mut *driver.cc, &acked(1000, 5000), &driver.view, before);
        let after = driver.cc.window();
        assert_eq!((after.cwnd.0, after.ssthresh.0), (before.cwnd.0 / 2, before.cwnd.0 / 4 * 3));
    }

    /// §4.4.1: half of what was used, then less half of what was retransmitted.
    #[test]
    fn a_loss_reduces_to_half_of_what_is_used() {
        let (mut driver, mut used) = at_leisure();
        used.largest = Some([MSS * 5, MSS * 5]);
        used.since = Some(driver.view.now);
        used.on_congestion(&mut *driver.cc, Cause::Rack, MSS * 12, MSS);
        assert_eq!(driver.cwnd(), 6.0);
        used.on_retransmission(MSS * 2);
        used.on_recovery_end(&mut *driver.cc, MSS);
        assert_eq!((driver.cwnd(), driver.ssthresh()), (5.0, 5.0));
        used.on_recovery_end(&mut *driver.cc, MSS);
        assert_eq!(driver.cwnd(), 5.0, "an episode ends once");
    }
}
