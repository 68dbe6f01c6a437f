//! What is wrong with a scenario, and where.

use std::fmt;

/// What is wrong with a scenario, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// The field, such as `link[2].queue.limit`; empty for the whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ScenarioError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> ScenarioError {
        ScenarioError { path: path.into(), message: message.into(), hint: None }
    }

    /// This error with advice.
    pub fn with_hint(self, hint: impl Into<String>) -> ScenarioError {
        ScenarioError { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

impl std::error::Error for ScenarioError {}

/// `outer.inner`, where either may be empty and `inner` may begin with an index.
pub fn join(outer: &str, inner: &str) -> String {
    let dot = if outer.is_empty() || inner.is_empty() || inner.starts_with('[') { "" } else { "." };
    format!("{outer}{dot}{inner}")
}
