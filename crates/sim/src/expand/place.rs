//! The place of a queue or shaper in the scenario, and what is checked of single keys there.

use std::fmt::Display;

use tcp::units::{Bytes, Span};

use crate::packet::{IP_HEADER, UDP_HEADER};
use crate::scenario::{Amount, CeSelector, Overhead, ScenarioError, join};

/// Where a queue stands in the scenario.
pub(super) struct Place<'a>(pub(super) &'a str);

impl Place<'_> {
    pub(super) fn error(&self, field: &str, message: String) -> ScenarioError {
        ScenarioError::new(join(self.0, field), message)
    }

    pub(super) fn check(&self, field: &str, value: impl Display, ok: bool, allowed: &str) -> Result<(), ScenarioError> {
        if ok { Ok(()) } else { Err(self.error(field, format!("{value} is not {allowed}"))) }
    }

    pub(super) fn limit(&self, limit: Amount) -> Result<(), ScenarioError> {
        // A packet is queued before it is transmitted, even on an idle link: one that does not fit is dropped.
        let smallest = IP_HEADER + UDP_HEADER;
        let nothing = match limit {
            Amount::Packets(packets) => packets == 0,
            Amount::Bytes(bytes) => bytes < smallest,
            Amount::Unlimited | Amount::Bdp { .. } => false,
        };
        let message = || format!("{limit} holds no packet, so that every packet would be dropped");
        let hint = || {
            let headers = format!("headers alone have {smallest}, a full segment of TCP about 1500B");
            format!("at least 1p, or the bytes of the largest packet ({headers}), or \"unlimited\"")
        };
        if nothing { Err(self.error("limit", message()).with_hint(hint())) } else { Ok(()) }
    }

    /// A number above 0 and up to `most`.
    pub(super) fn number(&self, field: &str, x: f64, most: f64) -> Result<(), ScenarioError> {
        self.check(field, x, x > 0.0 && x <= most, &format!("a number above 0 and up to {most}"))
    }

    pub(super) fn probability(&self, field: &str, p: f64) -> Result<(), ScenarioError> {
        self.check(field, p, (0.0..=1.0).contains(&p), "a probability from 0 to 1")
    }

    /// A time long enough for a clock of the simulator and short enough to matter in a run.
    pub(super) fn time(&self, field: &str, span: Span) -> Result<(), ScenarioError> {
        let (least, most) = (Span::from_micros(1), Span::from_millis(1_000_000));
        self.check(field, span, (least..=most).contains(&span), &format!("a time from {least} to {most}"))
    }

    pub(super) fn ce_threshold(
        &self,
        threshold: Option<Span>,
        selector: Option<CeSelector>,
    ) -> Result<(), ScenarioError> {
        match threshold {
            Some(span) => self.time("ce_threshold", span),
            None if selector.is_some() => {
                Err(self.error("ce_threshold_selector", "needs ce_threshold beside it, to which it belongs".into()))
            }
            None => Ok(()),
        }
    }

    pub(super) fn size(&self, field: &str, bytes: Bytes) -> Result<(), ScenarioError> {
        let most = Bytes(1_000_000);
        self.check(field, bytes, (Bytes(1)..=most).contains(&bytes), &format!("a size from 1B to {most}"))
    }

    pub(super) fn count(&self, field: &str, count: u64, most: u64) -> Result<(), ScenarioError> {
        self.check(field, count, (1..=most).contains(&count), &format!("a count from 1 to {most}"))
    }

    /// The size of a token bucket: at least a packet, or nothing would ever pass.
    pub(super) fn burst(&self, field: &str, burst: Option<Bytes>) -> Result<(), ScenarioError> {
        let (least, most) = (IP_HEADER + UDP_HEADER, Bytes(1_000_000_000_000));
        let allowed = format!("a size from {least}, the smallest packet, to {most}");
        burst.map_or(Ok(()), |burst| self.check(field, burst, (least..=most).contains(&burst), &allowed))
    }
}

/// Checks the framing of a line.
pub(super) fn check_framing(overhead: &Overhead, path: &str) -> Result<(), ScenarioError> {
    let Overhead::Framed(framing) = overhead else { return Ok(()) };
    let place = Place(path);
    place.check("bytes", framing.bytes, (-64..=256).contains(&framing.bytes), "a number from -64 to 256")?;
    place.check("mpu", framing.mpu, framing.mpu <= 256, "a number from 0 to 256")
}
