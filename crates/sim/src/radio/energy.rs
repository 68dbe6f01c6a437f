//! Energy consumption: the power of each radio state times the exact time spent in it. It needs no events: time is
//! accounted when the station is next advanced.
//!
//! The models differ in what counts as receiving: every signal at or above carrier sense, once where signals overlap, or the frame
//! that the receiver is locked on. Time is charged as it passes. Where a whole frame is charged when it begins, and idle time at the
//! next frame, the log leads or lags, and a battery is depleted at most one frame sooner or later.

use tcp::units::{Span, Time};

/// What counts as receiving.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum RxCriterion {
    /// All signals of at least this many watts, whatever their receiver address.
    Signals { min_power: f64 },
    /// The frame that the receiver is locked on.
    Frames,
}

/// Power of each radio state, and the initial energy. Watts; joules.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct EnergyModel {
    pub(crate) rx_criterion: RxCriterion,
    pub(crate) tx: f64,
    pub(crate) rx: f64,
    pub(crate) idle: f64,
    /// A depleted radio neither transmits nor receives; unlimited if absent.
    pub(crate) initial: Option<f64>,
}

/// State of a radio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RadioState {
    Tx,
    Rx,
    Idle,
}

/// Time spent in each state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Times {
    tx: Span,
    rx: Span,
    idle: Span,
    /// Depleted.
    off: Span,
}

/// Energy consumed in the measurement interval, joules.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Consumed {
    pub(crate) tx: f64,
    pub(crate) rx: f64,
    pub(crate) idle: f64,
}

impl Consumed {
    pub(crate) fn total(self) -> f64 {
        self.tx + self.rx + self.idle
    }
}

/// Energy meter of one radio.
#[derive(Clone, Debug)]
pub(crate) struct EnergyMeter {
    model: EnergyModel,
    times: Times,
    /// `times` at the start of the measurement interval.
    at_warmup_end: Times,
    /// `times` accounts for everything before this time.
    read_at: Time,
    /// Joules of CCAs beyond the power of the time, at the moment and at the start of the measurement interval, with sampled CCAs.
    cca: f64,
    cca_at_warmup_end: f64,
    /// End of the last such CCA.
    cca_until: Time,
    /// Time of depletion.
    empty_at: Option<Time>,
}

impl EnergyMeter {
    pub(super) fn new(model: EnergyModel) -> EnergyMeter {
        let empty_at = model.initial.filter(|joules| *joules <= 0.0).map(|_| Time::ZERO);
        let (times, at_warmup_end) = (Times::default(), Times::default());
        let (cca, cca_at_warmup_end, cca_until, read_at) = (0.0, 0.0, Time::ZERO, Time::ZERO);
        EnergyMeter { model, times, at_warmup_end, read_at, cca, cca_at_warmup_end, cca_until, empty_at }
    }

    pub(super) fn rx_criterion(&self) -> RxCriterion {
        self.model.rx_criterion
    }

    /// Charges the time since the last reading to `state`.
    pub(super) fn account(&mut self, now: Time, state: RadioState) {
        let span = now.since(self.read_at);
        let from = self.read_at;
        self.read_at = self.read_at.max(now);
        if self.empty_at.is_some() {
            self.times.off += span;
            return;
        }
        let watts = match state {
            RadioState::Tx => self.model.tx,
            RadioState::Rx => self.model.rx,
            RadioState::Idle => self.model.idle,
        };
        let lasts = self.left().filter(|left| watts > 0.0 && watts * span.as_secs_f64() >= *left);
        let alive = lasts.map_or(span, |left| Span::from_secs_f64(left / watts).min(span));
        let times = match state {
            RadioState::Tx => &mut self.times.tx,
            RadioState::Rx => &mut self.times.rx,
            RadioState::Idle => &mut self.times.idle,
        };
        *times += alive;
        self.times.off += span.saturating_sub(alive);
        self.empty_at = lasts.map(|_| from + alive);
    }

    /// Charges a sampled CCA that ends at `end`: with the power of reception for `charged`, even where some of that time
    /// is charged already, and with twice that power less the idle one if the radio is active until after the CCA.
    pub(super) fn charge_cca(&mut self, active_until: Time, end: Time, charged: Span) {
        if self.empty_at.is_some() {
            return;
        }
        let known_until = active_until.max(self.cca_until);
        let EnergyModel { rx, idle, .. } = self.model;
        let cost = if known_until < end {
            let alone = end.since(known_until).min(charged);
            rx * charged.as_secs_f64() - idle * alone.as_secs_f64()
        } else {
            (2.0 * rx - idle) * charged.as_secs_f64()
        };
        let left = self.left();
        self.cca += left.map_or(cost, |left| cost.min(left));
        self.cca_until = end;
        self.empty_at = left.filter(|left| cost >= *left).map(|_| self.read_at);
    }

    /// True if the radio is depleted.
    pub(super) fn is_empty(&self) -> bool {
        self.empty_at.is_some()
    }

    pub(crate) fn empty_at(&self) -> Option<Time> {
        self.empty_at
    }

    /// Joules left, if limited.
    fn left(&self) -> Option<f64> {
        Some((self.model.initial? - self.total()).max(0.0))
    }

    fn joules(&self, times: Times) -> Consumed {
        Consumed {
            tx: self.model.tx * times.tx.as_secs_f64(),
            rx: self.model.rx * times.rx.as_secs_f64(),
            idle: self.model.idle * times.idle.as_secs_f64(),
        }
    }

    pub(super) fn on_warmup_end(&mut self) {
        (self.at_warmup_end, self.cca_at_warmup_end) = (self.times, self.cca);
    }

    /// Consumed since the run began, joules.
    pub(crate) fn total(&self) -> f64 {
        self.joules(self.times).total() + self.cca
    }

    /// Energy consumed in the measurement interval.
    ///
    /// Panics if the times do not add up to the time of the last reading, or a battery gave more than it held: bugs.
    pub(crate) fn consumed(&self) -> Consumed {
        let Times { tx, rx, idle, off } = self.times;
        let accounted = tx + rx + idle + off;
        assert!(
            Time::ZERO + accounted == self.read_at,
            "{accounted} of {} are accounted for by an energy meter",
            self.read_at
        );
        // Depletion is rounded to a nanosecond.
        let spare = 1e-9 * self.model.tx.max(self.model.rx).max(self.model.idle);
        let overdrawn = self.model.initial.is_some_and(|joules| self.total() > joules * (1.0 + 1e-12) + spare);
        assert!(!overdrawn, "a battery of {:?} J gave {} J", self.model.initial, self.total());
        let since = |now: Span, then: Span| now.saturating_sub(then);
        let consumed = self.joules(Times {
            tx: since(tx, self.at_warmup_end.tx),
            rx: since(rx, self.at_warmup_end.rx),
            idle: since(idle, self.at_warmup_end.idle),
            off: Span::ZERO,
        });
        Consumed { rx: consumed.rx + (self.cca - self.cca_at_warmup_end), ..consumed }
    }
}

#[cfg(test)]
mod tests {
    use tcp::rng::Rng;

    use super::*;
    use crate::ids::StationId;
    use crate::radio::backoff::Backoff;
    use crate::radio::errors::{Mode, PhyHeader, RateMode};
    use crate::radio::receiver::{MacTiming, Receiver, Reception, Signal};

    fn meter(initial: Option<f64>) -> EnergyMeter {
        EnergyMeter::new(EnergyModel { rx_criterion: RxCriterion::Frames, tx: 1.0, rx: 0.5, idle: 0.1, initial })
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn energy_is_power_times_time() {
        let mut meter = meter(None);
        meter.account(at(100), RadioState::Idle);
        meter.on_warmup_end();
        meter.account(at(1100), RadioState::Tx);
        meter.account(at(3100), RadioState::Rx);
        meter.account(at(3100), RadioState::Tx);
        assert_eq!(meter.consumed(), Consumed { tx: 1.0, rx: 1.0, idle: 0.0 });
        assert!((meter.total() - 2.01).abs() < 1e-12);
    }

    #[test]
    fn a_battery_gives_no_more_than_its_initial_energy() {
        let mut meter = meter(Some(0.25));
        meter.account(at(1000), RadioState::Idle);
        assert!(!meter.is_empty());
        meter.account(at(3000), RadioState::Tx);
        assert_eq!(meter.empty_at(), Some(at(1150)));
        meter.account(at(9000), RadioState::Tx);
        assert!((meter.consumed().total() - 0.25).abs() < 1e-12);
    }

    /// Signals of [0, 8] and [4, 10] ms are 10 ms of reception; the station transmits during 2 more.
    fn one_rate() -> RateMode {
        let (end, length) = (Span::from_micros(192), Span::from_micros(48));
        let header = PhyHeader { end, length, bits: 48.0, mode: Mode::Dbpsk, tail: Span::ZERO };
        RateMode { rate: "1Mbps".parse().unwrap(), ratio: 1.0, sensitivity: 0.0, mode: Mode::Dbpsk, header }
    }

    #[test]
    fn overlapping_signals_are_charged_once() {
        let timing = MacTiming {
            slot: Span::from_micros(20),
            difs: Span::from_micros(50),
            eifs: Span::from_micros(364),
            reception: Reception::Capture { carrier_sense: 1e-11, receive: 1e-10, ratio: 10.0 },
            frame_error: 0.0,
            rate_modes: vec![one_rate()],
        };
        let signal = |number, start, end| Signal {
            number,
            from: StationId(1),
            start: at(start),
            end: at(end),
            power: 1e-9,
            rate_index: 0,
            aggregate: false,
            is_received: false,
            duration: Span::ZERO,
            nav_timeout: None,
        };
        let model = EnergyModel { rx_criterion: RxCriterion::Signals { min_power: 1e-11 }, ..meter(None).model };
        let mut receiver = Receiver::new(Rng::stream(1, "frame_error"));
        receiver.meter = Some(EnergyMeter::new(model));
        let mut backoff = Backoff::new(31, Rng::stream(1, "test"));
        receiver.add_signal(signal(1, 0, 8));
        receiver.add_signal(signal(2, 4, 10));
        receiver.add_signal(signal(3, 11, 20));
        receiver.advance_to(at(12), &timing, &mut backoff);
        receiver.send(at(12), at(14), &timing, &mut backoff);
        receiver.advance_to(at(100), &timing, &mut backoff);
        let meter = receiver.read_meter(at(100)).expect("there is a meter");
        assert_eq!(meter.times.rx, Span::from_millis(10 + 1 + 6));
        assert_eq!(meter.times.tx, Span::from_millis(2));
        assert_eq!(meter.times.idle, Span::from_millis(100 - 19));
    }

    /// 40 W idle, 75 W receiving: a CCA of 128 us is charged 320 us of reception, whatever part of them has been charged.
    #[test]
    fn a_sampled_cca_is_charged_more_than_its_time() {
        let charged = Span::from_micros(320);
        let cca = |active_until: u64| {
            let mut meter =
                EnergyMeter::new(EnergyModel { tx: 75.0, rx: 75.0, idle: 40.0, ..meter(Some(300.0)).model });
            meter.account(at(100), RadioState::Idle);
            let end = at(100) + Span::from_micros(64);
            meter.charge_cca(Time::ZERO + Span::from_micros(active_until), end, charged);
            meter.total() - 4.0
        };
        // After silence, 100 us after a frame, and during one.
        for (active_until, expected) in
            [(0, 35.0 * 320e-6), (99_964, 75.0 * 320e-6 - 40.0 * 100e-6), (101_000, 110.0 * 320e-6)]
        {
            assert!(
                (cca(active_until) - expected).abs() < 1e-12,
                "active until {active_until} us: {}",
                cca(active_until)
            );
        }
    }

    #[test]
    fn an_empty_battery_is_empty_from_the_start() {
        assert!(meter(Some(0.0)).is_empty());
    }
}
