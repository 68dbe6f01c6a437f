//! What ns-2's agents and their algorithms have to say to each other beside the signals of every sender.

use crate::units::Span;

/// An algorithm that works with one of ns-2's agents, or with recovery `vegas`.
pub trait AgentSignals {
    /// Age at which a duplicate ACK retransmits the oldest segment; recovery `vegas` asks.
    fn head_timeout(&self) -> Option<Span>;

    /// A duplicate ACK found the oldest segment `age` old, but a time-out has sent it again already.
    fn on_expired_head(&mut self, age: Span);

    /// The time of the ACK that follows and its RTT in seconds, as a clock of doubles has them.
    fn on_seconds(&mut self, now: f64, rtt: Option<f64>);
}
