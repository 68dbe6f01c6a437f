//! A naive station: its medium, its counter, the frame it has in hand.

use std::collections::VecDeque;

use tcp::rng::Rng;

use super::ear::Hearing;
use super::world::Offer;

/// Where a station is in an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Idle,
    /// It has a frame and waits for its turn.
    Contends,
    WaitsForCts,
    /// The CTS is there, the data have not left yet.
    Cleared,
    WaitsForAck,
    /// A frame for all is on the air.
    Broadcasts,
}

/// What a station will send in answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Cts { to: usize, duration: u64 },
    Ack { to: usize },
    Data,
}

/// The frame in hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct InHand {
    pub(super) offer: Offer,
    pub(super) short: u32,
    pub(super) long: u32,
}

/// A station.
#[derive(Clone, Debug)]
pub(super) struct Station {
    pub(super) hears: Hearing,
    pub(super) sending: bool,
    pub(super) nav: u64,
    /// An RTS has raised the NAV: its frame, and what the NAV was before.
    pub(super) nav_of_rts: Option<(usize, u64)>,
    /// The medium has been idle since then, by both senses.
    pub(super) idle_since: Option<u64>,
    /// The last frame was bad.
    pub(super) bad: bool,
    /// The counter of the backoff, if one is under way.
    pub(super) slots: Option<u32>,
    /// Counting does not begin before.
    pub(super) not_before: u64,
    /// Events of the counter with another number are void.
    pub(super) count: u64,
    pub(super) window: u32,
    pub(super) draws: Rng,
    pub(super) chances: Rng,
    pub(super) state: State,
    pub(super) queue: VecDeque<Offer>,
    pub(super) in_hand: Option<InHand>,
    pub(super) sequence: u32,
    /// The wait for an answer with another number is void.
    pub(super) wait: u64,
    pub(super) answer: Option<Answer>,
}

impl Station {
    pub(super) fn new(window: u32, draws: Rng, chances: Rng) -> Station {
        Station {
            hears: Hearing::default(),
            sending: false,
            nav: 0,
            nav_of_rts: None,
            idle_since: Some(0),
            bad: false,
            slots: None,
            not_before: 0,
            count: 0,
            window,
            draws,
            chances,
            state: State::Idle,
            queue: VecDeque::new(),
            in_hand: None,
            sequence: 0,
            wait: 0,
            answer: None,
        }
    }
}
