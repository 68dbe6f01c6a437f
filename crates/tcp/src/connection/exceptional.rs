//! What only a connection in trouble needs: resets, challenge ACKs, a peer that does not answer, a receiver that misbehaves,
//! an application that reads at intervals.

use super::forger::Forger;
use crate::config::TcpConfig;
use crate::segment::Segment;
use crate::units::{Span, Time};

/// What few connections ever need: allocated when it is first needed, so that the others stay small.
#[derive(Debug, Default)]
pub(super) struct Exceptional {
    /// A reset, or a challenge ACK before there is a sender, to send whatever the state.
    pub(super) first: Option<Segment>,
    /// When the last challenge ACK was called for.
    pub(super) challenged_at: Option<Time>,
    /// Something has arrived since the last probe.
    pub(super) answered: bool,
    /// Probes of a closed window that nothing has answered.
    pub(super) probes: u32,
    /// When the first retransmission or probe timed out.
    pub(super) since: Time,
    /// 0: none.
    pub(super) user_timeout: Span,
    /// The receiver misbehaves.
    pub(super) forger: Option<Forger>,
    /// The application reads at intervals.
    pub(super) reader: Option<Reader>,
}

/// An application that reads all that there is, and then does something else for a while.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    pub(super) interval: Span,
    /// It looks again from here on.
    pub(super) next: Time,
}

impl Exceptional {
    /// What a new connection needs of it.
    pub(super) fn of(config: &TcpConfig) -> Option<Box<Exceptional>> {
        let (user_timeout, forger) = (config.user_timeout, config.misbehaviour.map(Forger::new));
        let reader = (config.auto_read && config.read_interval > Span::ZERO)
            .then_some(Reader { interval: config.read_interval, next: Time::ZERO });
        let any = user_timeout > Span::ZERO || forger.is_some() || reader.is_some();
        any.then(|| Box::new(Exceptional { user_timeout, forger, reader, ..Exceptional::default() }))
    }

    /// What is sent before anything else: a reset, a challenge ACK, or forged ACKs.
    pub(super) fn poll(&mut self) -> Option<Segment> {
        self.first.take().or_else(|| self.forger.as_mut().and_then(Forger::poll))
    }
}
