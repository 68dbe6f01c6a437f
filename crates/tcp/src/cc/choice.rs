//! A user's choice of algorithm: name, profile and parameters, checked against the algorithm's description.

use std::collections::BTreeMap;
use std::fmt;

use crate::config::RecoveryKind;

use super::{Algorithm, CongestionControl, Setup, find};

/// A parameter of an algorithm.
#[derive(Debug)]
pub struct Param {
    /// As written in a scenario.
    pub name: &'static str,
    /// Type and range.
    pub kind: ParamKind,
    /// Value unless a profile or the user says otherwise.
    pub default: Value,
    /// Unit, or "" for a pure number.
    pub unit: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Where its default comes from.
    pub source: &'static str,
}

/// What values a parameter takes.
#[derive(Debug)]
pub enum ParamKind {
    /// A number in a closed range.
    Number {
        /// Least value.
        min: f64,
        /// Greatest value.
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

/// A historical form of an algorithm: values that replace the defaults.
#[derive(Debug)]
pub struct Profile {
    /// As written in a scenario.
    pub name: &'static str,
    /// Values that differ from the parameters' defaults.
    pub set: &'static [(&'static str, Value)],
    /// The loss recovery this form came with; `None` leaves it to the connection's profile.
    pub recovery: Option<RecoveryKind>,
}

/// All parameters of an algorithm, resolved.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Values(BTreeMap<&'static str, Value>);

/// An algorithm with every parameter resolved.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// The profile the values started from.
    pub profile: &'static str,
    /// The values.
    pub values: Values,
}

/// Why a choice is refused: `field` is the key at fault ("" for the choice itself).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChoiceError {
    /// The key at fault.
    pub field: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(x) => write!(f, "{x}"),
            Value::Flag(x) => write!(f, "{x}"),
        }
    }
}

impl Values {
    fn get(&self, name: &str) -> Value {
        *self.0.get(name).unwrap_or_else(|| panic!("parameter {name:?} is not in the algorithm's list"))
    }

    /// A number; panics if the algorithm does not list it as one.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Number(x) => x,
            Value::Flag(_) => panic!("parameter {name:?} is a flag"),
        }
    }

    /// A flag; panics if the algorithm does not list it as one.
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Flag(x) => x,
            Value::Number(_) => panic!("parameter {name:?} is a number"),
        }
    }

    /// Names and values in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.0.iter().map(|(name, value)| (*name, *value))
    }
}

impl Choice {
    /// Resolves `name` in `profile` (the first one if `None`) with `overrides` on top.
    pub fn new(name: &str, profile: Option<&str>, overrides: &[(String, Value)]) -> Result<Choice, ChoiceError> {
        let Some(algorithm) = find(name) else {
            let names: Vec<&str> = super::ALGORITHMS.iter().map(|a| a.name).collect();
            let message = format!("unknown algorithm {name:?}; known: {}", names.join(", "));
            return Err(ChoiceError { field: "name".to_owned(), message });
        };
        Choice::of(algorithm, profile, overrides)
    }

    /// The same for an algorithm at hand, which need not be listed.
    pub fn of(
        algorithm: &'static Algorithm,
        profile: Option<&str>,
        overrides: &[(String, Value)],
    ) -> Result<Choice, ChoiceError> {
        let fail = |field: &str, message: String| Err(ChoiceError { field: field.to_owned(), message });
        let name = algorithm.name;
        let chosen = profile.unwrap_or(algorithm.profiles[0].name);
        let Some(profile) = algorithm.profile(chosen) else {
            let names: Vec<&str> = algorithm.profiles.iter().map(|p| p.name).collect();
            return fail("profile", format!("{name} has no profile {chosen:?}; known: {}", names.join(", ")));
        };
        let mut values: BTreeMap<_, _> = algorithm.params.iter().map(|p| (p.name, p.default)).collect();
        values.extend(profile.set.iter().copied());
        for (key, value) in overrides {
            let Some(param) = algorithm.params.iter().find(|p| p.name == key) else {
                let names: Vec<&str> = algorithm.params.iter().map(|p| p.name).collect();
                return fail(key, format!("{name} has no parameter {key:?}; known: {}", names.join(", ")));
            };
            if let Err(message) = param.check(*value) {
                return fail(key, message);
            }
            values.insert(param.name, *value);
        }
        Ok(Choice { algorithm, profile: profile.name, values: Values(values) })
    }

    /// The recovery this form of the algorithm insists on, if any.
    pub fn recovery(&self) -> Option<RecoveryKind> {
        self.algorithm.recovery(self.profile)
    }

    /// Makes the algorithm for a connection.
    pub fn build(&self, setup: &Setup) -> Box<dyn CongestionControl> {
        (self.algorithm.build)(&self.values, setup)
    }
}

impl Param {
    fn check(&self, value: Value) -> Result<(), String> {
        match (&self.kind, value) {
            (ParamKind::Number { min, max }, Value::Number(x)) if (*min..=*max).contains(&x) => Ok(()),
            (ParamKind::Number { min, max }, x) => Err(format!("{x} is not a number from {min} to {max}")),
            (ParamKind::Flag, Value::Flag(_)) => Ok(()),
            (ParamKind::Flag, x) => Err(format!("{x} is not true or false")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_key_and_what_is_allowed() {
        let error = Choice::new("cubik", None, &[]).unwrap_err();
        assert!(error.field == "name" && error.message.contains("cubic"), "{error:?}");
        let error = Choice::new("cubic", Some("vms"), &[]).unwrap_err();
        assert!(error.field == "profile" && error.message.contains("linux"), "{error:?}");
        let error = Choice::new("cubic", None, &[("betta".into(), Value::Number(0.5))]).unwrap_err();
        assert!(error.field == "betta" && error.message.contains("beta"), "{error:?}");
        let error = Choice::new("cubic", None, &[("beta".into(), Value::Number(1.5))]).unwrap_err();
        assert!(error.field == "beta" && error.message.contains(" to "), "{error:?}");
    }

    #[test]
    fn every_algorithm_is_described_consistently() {
        for algorithm in super::super::ALGORITHMS {
            for profile in algorithm.profiles {
                for (name, value) in profile.set {
                    let param = algorithm.params.iter().find(|p| p.name == *name);
                    assert!(
                        param.is_some_and(|p| p.check(*value).is_ok()),
                        "{} {} {name}",
                        algorithm.name,
                        profile.name
                    );
                }
                assert!(Choice::new(algorithm.name, Some(profile.name), &[]).is_ok());
            }
            for param in algorithm.params {
                assert_eq!(param.check(param.default), Ok(()), "{} {}", algorithm.name, param.name);
            }
        }
    }
}
