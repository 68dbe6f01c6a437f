//! Alternative backoff with ECN (RFC 8511): a mark, which a queue sets earlier than it drops, lowers the window less than a loss.

use super::signals::{Cause, Congestion};

/// What marks lower, and from where a loss in the round trip of a mark lowers instead.
#[derive(Debug)]
pub(super) struct MarkBackoff<W, B> {
    /// Beta after an ECN echo; absent if it is that after a loss.
    beta_ecn: Option<B>,
    /// The window that the last reduction started from.
    before: W,
}

impl<W: Copy + Default, B: Copy> MarkBackoff<W, B> {
    pub(super) fn new(beta_ecn: Option<B>) -> MarkBackoff<W, B> {
        MarkBackoff { beta_ecn, before: W::default() }
    }

    /// The window that a reduction starts from, `base` unless a mark has reduced it already, and what it leaves of that: `beta`
    /// after a loss (§3.1).
    pub(super) fn of(&mut self, event: &Congestion, base: W, beta: B) -> (W, B) {
        if !event.after_mark() {
            self.before = base;
        }
        let after_mark = self.beta_ecn.filter(|_| event.cause == Cause::Ecn);
        (self.before, after_mark.unwrap_or(beta))
    }

    /// True if a mark lowers the window less than a loss.
    pub(super) fn spares_marks(&self) -> bool {
        self.beta_ecn.is_some()
    }
}
