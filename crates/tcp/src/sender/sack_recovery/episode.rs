//! An episode of congestion: what it alone has.

use crate::cc::State;
use crate::recovery::CwndReduction;

/// The episode under way. [`crate::cc::State`] shows it to algorithms and traces; `SackRecovery::enter` and `leave` keep
/// the two in step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Episode {
    /// Open or Disorder.
    None,
    /// The window is being reduced; nothing is to be retransmitted.
    Cwr { reduction: CwndReduction },
    /// Fast recovery; `rescued`: the rescue retransmission has been sent (RFC 6675 §4, NextSeg rule 4).
    Recovery { reduction: CwndReduction, rescued: bool },
    /// After a time-out; `frto`: F-RTO watches whether it was spurious (RFC 5682).
    Loss { frto: bool },
}

impl Episode {
    /// The state that shows the episode; without one it is Open or Disorder.
    pub(super) fn state(&self) -> State {
        match self {
            Episode::None => State::Open,
            Episode::Cwr { .. } => State::Cwr,
            Episode::Recovery { .. } => State::Recovery,
            Episode::Loss { .. } => State::Loss,
        }
    }

    /// True if `state` shows this episode.
    pub(super) fn is_shown_as(&self, state: State) -> bool {
        self.state() == state || (matches!(self, Episode::None) && state == State::Disorder)
    }

    /// The reduction of the window, while there is one.
    #[inline]
    pub(super) fn reduction(&self) -> Option<&CwndReduction> {
        match self {
            Episode::Cwr { reduction } | Episode::Recovery { reduction, .. } => Some(reduction),
            Episode::None | Episode::Loss { .. } => None,
        }
    }

    #[inline]
    pub(super) fn reduction_mut(&mut self) -> Option<&mut CwndReduction> {
        match self {
            Episode::Cwr { reduction } | Episode::Recovery { reduction, .. } => Some(reduction),
            Episode::None | Episode::Loss { .. } => None,
        }
    }
}
