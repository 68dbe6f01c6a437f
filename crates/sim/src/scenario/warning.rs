//! What is allowed in a scenario and seldom meant, and where.

use std::fmt;

use serde::Serialize;

/// What is allowed in a scenario and seldom meant, and where. It changes nothing of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ScenarioWarning {
    /// The field as the scenario has it, such as `link[2].queue.rate`.
    pub path: String,
    /// What it leads to.
    pub message: String,
}

impl ScenarioWarning {
    /// A warning at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> ScenarioWarning {
        ScenarioWarning { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for ScenarioWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
