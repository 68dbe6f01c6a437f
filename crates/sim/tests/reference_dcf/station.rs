//! A station: its motion, its carrier sense, its backoff counter, and the frame it transmits.

use std::collections::VecDeque;

use tcp::rng::Rng;

use super::reception::Signals;
use super::simulation::Request;

/// Motion at constant velocity, in metres and seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) from: [f64; 2],
    pub(crate) velocity: [f64; 2],
}

/// State of a station in a frame exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Idle,
    /// Waiting for channel access with a frame.
    Contends,
    WaitsForCts,
    /// The CTS has arrived; the data frame follows after SIFS.
    Cleared,
    WaitsForAck,
    /// Transmitting a broadcast.
    Broadcasts,
}

/// A response due after SIFS.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Cts { to: usize, duration: u64 },
    Ack { to: usize },
    Data,
}

/// The frame that a station transmits.
#[derive(Clone, Copy, Debug)]
pub(super) struct InHand {
    pub(super) request: Request,
    pub(super) short: u32,
    pub(super) long: u32,
}

/// A station.
#[derive(Clone, Debug)]
pub(super) struct Station {
    pub(super) hears: Signals,
    pub(super) sending: bool,
    pub(super) nav: u64,
    /// The RTS that has set the NAV, and the NAV before.
    pub(super) nav_of_rts: Option<(usize, u64)>,
    /// Start of the idle period by physical and virtual carrier sense.
    pub(super) idle_since: Option<u64>,
    /// The last frame was received in error.
    pub(super) bad: bool,
    /// The backoff counter, during a backoff.
    pub(super) slots: Option<u32>,
    /// No slot is counted before this time.
    pub(super) not_before: u64,
    /// Backoff events with another number are void.
    pub(super) count: u64,
    pub(super) window: u32,
    pub(super) rng: Rng,
    pub(super) chances: Rng,
    pub(super) state: State,
    pub(super) queue: VecDeque<Request>,
    pub(super) in_hand: Option<InHand>,
    pub(super) sequence: u32,
    /// Timeouts with another number are void.
    pub(super) wait: u64,
    pub(super) answer: Option<Answer>,
    /// ns-2: after a CTS the station waits until then for the data frame.
    pub(super) expects_data_until: u64,
}

impl Station {
    pub(super) fn new(window: u32, rng: Rng, chances: Rng) -> Station {
        Station {
            hears: Signals::default(),
            sending: false,
            nav: 0,
            nav_of_rts: None,
            idle_since: Some(0),
            bad: false,
            slots: None,
            not_before: 0,
            count: 0,
            window,
            rng,
            chances,
            state: State::Idle,
            queue: VecDeque::new(),
            in_hand: None,
            sequence: 0,
            wait: 0,
            answer: None,
            expects_data_until: 0,
        }
    }
}
