//! Drives an algorithm without a network, for vectors that were computed apart from this code.

use super::algorithm::Setup;
use super::config::CcConfig;
use super::controller::CongestionControl;
use super::parameters::Value;
use super::signals::{Ack, Cause, Congestion, Head, RateSample, RttSample, State, View};
use crate::seq::SeqNo;
use crate::units::{Bytes, Rate, Span, Time};

/// The segment size: a round number.
pub(crate) const MSS: Bytes = Bytes(1000);

/// An algorithm and the signals it receives; tests set the fields of `view` that matter to them.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) cc: Box<dyn CongestionControl>,
    pub(crate) view: View,
}

impl Driver {
    /// `cc` in `profile` with some parameters changed; cwnd and ssthresh in segments at the start. The time is 1 s.
    pub(crate) fn new(cc: &str, profile: &str, changed: &[(&str, Value)], cwnd: u64, ssthresh: Option<u64>) -> Driver {
        let changed: Vec<(String, Value)> = changed.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let config = CcConfig::by_name(cc, Some(profile), &changed).expect("a registered profile and parameters");
        let now = Time::ZERO + Span::from_millis(1000);
        let cc = config.build(&Setup {
            now,
            initial_ssthresh: ssthresh.map_or(Bytes::MAX, |segments| MSS * segments),
            ..Setup::plain(MSS, MSS * cwnd)
        });
        let view = View {
            now,
            mss: MSS,
            snd_una: SeqNo::FIRST_DATA,
            snd_nxt: SeqNo::FIRST_DATA + MSS * cwnd,
            flight: MSS * cwnd,
            pipe: MSS * cwnd,
            rwnd: Bytes(1 << 30),
            rto: Span::from_millis(1000),
            cwnd_limited: true,
            slow_start_after_idle: true,
            may_grow: true,
            ..View::default()
        };
        Driver { cc, view }
    }

    /// cwnd in segments.
    pub(crate) fn cwnd(&mut self) -> f64 {
        self.cc.window().cwnd.as_f64() / MSS.as_f64()
    }

    /// ssthresh in segments.
    pub(crate) fn ssthresh(&mut self) -> f64 {
        self.cc.window().ssthresh.as_f64() / MSS.as_f64()
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, time: Span) {
        self.view.now = self.view.now + time;
    }

    /// An ACK of `segments`, with an RTT in milliseconds if there is a sample. The window is full again after it.
    pub(crate) fn ack(&mut self, segments: u32, rtt_ms: Option<f64>) {
        let rtt = rtt_ms.map(|ms| Span::from_secs_f64(ms / 1e3));
        self.view.min_rtt = self.view.min_rtt.into_iter().chain(rtt).min();
        self.view.srtt = rtt.or(self.view.srtt);
        let ack = Ack {
            acked: MSS * u64::from(segments),
            acked_segments: segments,
            cumulative_segments: segments,
            rtt: rtt.map(|rtt| RttSample { latest: rtt, oldest: rtt }),
            prior_flight: self.view.flight,
            prior_pipe: self.view.pipe,
            ..Ack::default()
        };
        self.ack_with(&ack);
    }

    /// An ACK of one segment that samples an RTT and a delivery rate: `segments` arrived in that RTT. It
    /// may begin a round as the algorithm counts them: what it reports left after everything that had arrived before.
    pub(crate) fn sample(&mut self, rtt_ms: u64, segments: u64, new_round: bool) -> Ack {
        let rtt = Span::from_millis(rtt_ms);
        let delivered = MSS * segments;
        Ack {
            acked: MSS,
            acked_segments: 1,
            cumulative_segments: 1,
            rtt: Some(RttSample { latest: rtt, oldest: rtt }),
            prior_flight: self.view.flight,
            prior_pipe: self.view.pipe,
            rate: Some(RateSample {
                rate: Some(Rate::of(delivered, rtt)),
                delivered,
                prior_delivered: if new_round { self.view.delivered } else { Bytes::ZERO },
                interval: rtt,
                sent_at: Time::from_nanos(self.view.now.as_nanos().saturating_sub(rtt.as_nanos())),
                tx_in_flight: self.view.pipe,
                lost: Bytes::ZERO,
                app_limited: false,
            }),
            ..Ack::default()
        }
    }

    /// Any ACK: `acked` counts as acknowledged cumulatively, and as much new data leaves.
    pub(crate) fn ack_with(&mut self, ack: &Ack) {
        self.view.snd_una += ack.acked;
        self.view.snd_nxt = self.view.snd_nxt.max(self.view.snd_una) + ack.acked;
        self.view.delivered += ack.acked;
        self.cc.on_ack(ack, &self.view);
    }

    fn event(&mut self, cause: Cause) -> Congestion {
        Congestion {
            cause,
            state_before: self.view.state,
            flight: self.cc.window().cwnd,
            first: true,
            again: false,
            loss_window: MSS,
            head: Some(Head { sent_at: self.view.now, transmissions: 1 }),
        }
    }

    /// A retransmission was lost.
    pub(crate) fn lost_again(&mut self) {
        let event = Congestion { first: false, again: true, ..self.event(Cause::Rack) };
        self.cc.on_congestion(&event, &self.view);
    }

    /// An episode begins, with the whole window outstanding.
    pub(crate) fn congestion(&mut self, cause: Cause) {
        let event = self.event(cause);
        self.view.may_grow = false;
        self.cc.on_congestion(&event, &self.view);
        self.view.state = match cause {
            Cause::Timeout => State::Loss,
            Cause::Ecn | Cause::Algorithm => State::Cwr,
            _ => State::Recovery,
        };
        self.view.may_grow = cause == Cause::Timeout;
    }

    /// The episode is over.
    pub(crate) fn recovered(&mut self) {
        let was_reducing = self.view.state.in_cwnd_reduction();
        (self.view.state, self.view.may_grow) = (State::Open, true);
        if was_reducing {
            self.cc.on_recovery_end(&self.view);
        }
    }

    /// A named internal.
    pub(crate) fn internal(&self, name: &str) -> f64 {
        let mut found = None;
        self.cc.observe(&mut |n, value| found = if n == name { Some(value) } else { found });
        found.unwrap_or_else(|| panic!("{name:?} is not observed"))
    }
}

/// True if the two agree to a millionth, more than any rounding makes.
pub(crate) fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}
