//! The congestion control of an endpoint: an algorithm, its profile and its parameters, checked against the algorithm's
//! description.

use std::collections::BTreeMap;

use super::algorithm::{Algorithm, Setup};
use super::controller::CongestionControl;
use super::parameters::{ParamValues, Value};
use crate::settings::RecoveryKind;

/// An algorithm with every parameter resolved.
#[derive(Clone, PartialEq, Debug)]
pub struct CcConfig {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// The profile that the values start from.
    pub profile: &'static str,
    /// The values.
    pub values: ParamValues,
}

/// Why a configuration is refused: `field` is the key at fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CcConfigError {
    /// The key at fault.
    pub field: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl CcConfig {
    /// Resolves `algorithm`, which need not be registered, in `profile` (the first one if `None`) with `overrides` on top.
    ///
    /// # Errors
    ///
    /// If there is no such profile or parameter, or a value is of the wrong type or out of range.
    pub fn of(
        algorithm: &'static Algorithm,
        profile: Option<&str>,
        overrides: &[(String, Value)],
    ) -> Result<CcConfig, CcConfigError> {
        let fail = |field: &str, message: String| Err(CcConfigError { field: field.to_owned(), message });
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
        Ok(CcConfig { algorithm, profile: profile.name, values: ParamValues(values.into_iter().collect()) })
    }

    /// The loss recovery that the profile prescribes, if any.
    pub fn recovery(&self) -> Option<RecoveryKind> {
        self.algorithm.recovery(self.profile)
    }

    /// Builds the algorithm for a connection.
    ///
    /// # Panics
    ///
    /// If the algorithm reads a parameter that its description lacks.
    pub fn build(&self, setup: &Setup) -> Box<dyn CongestionControl> {
        (self.algorithm.build)(&self.values, setup)
    }
}
