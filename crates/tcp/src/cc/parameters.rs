//! Parameters of an algorithm: their ranges, defaults and values, and the profiles that set several of them.

use std::fmt;
use std::ops::RangeInclusive;

use crate::settings::RecoveryKind;

/// A parameter of an algorithm.
#[derive(Debug)]
pub struct Param {
    /// As written in a scenario.
    pub name: &'static str,
    /// Type and range.
    pub kind: ParamKind,
    /// Default, which a profile or the user may override.
    pub default: Value,
    /// Unit, or "" for a pure number.
    pub unit: &'static str,
    /// Description.
    pub doc: &'static str,
    /// Source of its default.
    pub source: &'static str,
}

/// Type and range of a parameter.
#[derive(Debug)]
pub enum ParamKind {
    /// A number in a closed range.
    Number {
        /// Minimum.
        min: f64,
        /// Maximum.
        max: f64,
    },
    /// On or off.
    Flag,
}

/// The value of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A number.
    Number(f64),
    /// On or off.
    Flag(bool),
}

/// A variant of an algorithm as found in one document or implementation: values that replace the defaults.
#[derive(Debug)]
pub struct Profile {
    /// As written in a scenario.
    pub name: &'static str,
    /// Values that differ from the parameters' defaults.
    pub set: &'static [(&'static str, Value)],
    /// The loss recovery of that implementation; `None` leaves it to the connection's profile.
    pub recovery: Option<RecoveryKind>,
}

/// All parameters of an algorithm, resolved; in alphabetical order. In one piece, since every connection has a copy.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ParamValues(pub(super) Box<[(&'static str, Value)]>);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(x) => write!(f, "{x}"),
            Value::Flag(x) => write!(f, "{x}"),
        }
    }
}

impl ParamValues {
    /// The defaults of these.
    pub(super) fn defaults(params: &[Param]) -> ParamValues {
        ParamValues(params.iter().map(|param| (param.name, param.default)).collect())
    }

    /// [`BETA_ECN`], where it is another than that after a loss.
    pub(super) fn beta_ecn(&self) -> Option<f64> {
        Some(self.number(BETA_ECN.name)).filter(|beta| *beta > 0.0)
    }

    // A name is known where an algorithm reads its value, and compared in an instruction or two there: every connection does so.
    #[inline]
    fn get(&self, name: &str) -> Value {
        let found = self.0.iter().find(|(own, _)| *own == name);
        found.unwrap_or_else(|| panic!("parameter {name:?} is not in the algorithm's list")).1
    }

    /// The value of a number.
    ///
    /// # Panics
    ///
    /// If the algorithm does not list it as a number.
    #[inline]
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Number(x) => x,
            Value::Flag(_) => panic!("parameter {name:?} is a flag"),
        }
    }

    /// The value of a flag.
    ///
    /// # Panics
    ///
    /// If the algorithm does not list it as a flag.
    #[inline]
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Flag(x) => x,
            Value::Number(_) => panic!("parameter {name:?} is a number"),
        }
    }

    /// Names and values in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.0.iter().copied()
    }
}

impl Param {
    /// A number in a closed range.
    pub const fn number(name: &'static str, range: RangeInclusive<f64>, default: f64) -> Param {
        let kind = ParamKind::Number { min: *range.start(), max: *range.end() };
        Param { name, kind, default: Value::Number(default), unit: "", doc: "", source: "" }
    }

    /// A flag.
    pub const fn flag(name: &'static str, default: bool) -> Param {
        Param { name, kind: ParamKind::Flag, default: Value::Flag(default), unit: "", doc: "", source: "" }
    }

    /// This parameter with another default.
    pub const fn default(self, default: Value) -> Param {
        Param { default, ..self }
    }

    /// This parameter with this unit.
    pub const fn unit(self, unit: &'static str) -> Param {
        Param { unit, ..self }
    }

    /// This parameter with this description.
    pub const fn doc(self, doc: &'static str) -> Param {
        Param { doc, ..self }
    }

    /// This parameter with this source of its default.
    pub const fn source(self, source: &'static str) -> Param {
        Param { source, ..self }
    }

    /// What is wrong with `value`, if anything.
    pub(super) fn check(&self, value: Value) -> Result<(), String> {
        match (&self.kind, value) {
            (ParamKind::Number { min, max }, Value::Number(x)) if (*min..=*max).contains(&x) => Ok(()),
            (ParamKind::Number { min, max }, x) => Err(format!("{x} is not a number from {min} to {max}")),
            (ParamKind::Flag, Value::Flag(_)) => Ok(()),
            (ParamKind::Flag, x) => Err(format!("{x} is not true or false")),
        }
    }
}

/// Two rules of RFCs that Linux does not keep ([`super::CongestionControl::is_strict`]).
pub(super) const fn strict() -> Param {
    Param::flag("strict", false)
        .doc(
            "the loss of a retransmission reduces again (with recovery by RACK), and a mark at a window of one segment \
             stops the sender until its retransmission timer expires",
        )
        .source("RFC 5681 section 4.3, RFC 3168 section 6.1.2; Linux does neither")
}

/// Alternative Backoff with ECN: 0 until a profile or the user sets it.
pub(super) const BETA_ECN: Param = Param::number("beta_ecn", 0.0..=1.0, 0.0)
    .doc("what remains of the window after an ECN echo, which a queue sends earlier than it drops; 0: as after a loss")
    .source("RFC 8511 section 3.1: 0.8 for Reno, 0.85 for CUBIC; 1 would not answer");
