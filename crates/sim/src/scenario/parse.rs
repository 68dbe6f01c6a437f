//! Reading a scenario with errors that name the field, the value and what is allowed.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Scenario, TcpOptions};

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

    /// The same with advice.
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

/// Separates an inner path from the message while serde carries both in one text.
pub(super) const MARK: char = '\u{1f}';

/// Deserializes with the path to the fault, through nested [`tagged`] values.
fn with_path<T: DeserializeOwned>(value: Value) -> Result<T, ScenarioError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let outer = match error.path().to_string() {
            path if path == "." => String::new(),
            path => path,
        };
        let text = error.into_inner().to_string();
        match text.split_once(MARK) {
            Some((inner, message)) => ScenarioError::new(join(&outer, inner), message),
            None => ScenarioError::new(outer, plain(&text)),
        }
    })
}

/// serde's words with those of a scenario's author: a field is a key.
fn plain(text: &str) -> String {
    text.replace("unknown field", "unknown key")
        .replace("missing field", "missing key")
        .replace("expected one of", "known:")
}

/// How one kind of a tagged value is read.
pub(super) type Reader<T> = fn(Value) -> Result<T, ScenarioError>;

/// A reader that deserializes into `V` and wraps it.
pub(super) fn read<V: DeserializeOwned>(value: Value) -> Result<V, ScenarioError> {
    with_path(value)
}

/// Reads a table whose `kind` says which of `kinds` it is. (serde's own tagged enums lose the path to the fault.)
pub(super) fn tagged<'de, D: Deserializer<'de>, T>(
    d: D,
    what: &str,
    kinds: &[(&str, Reader<T>)],
) -> Result<T, D::Error> {
    let carry = |e: ScenarioError| D::Error::custom(format!("{}{MARK}{}", e.path, e.message));
    let known = || kinds.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let value = Value::deserialize(d)?;
    let Value::Object(mut table) = value else {
        let message =
            format!("{what} is a table with a `kind`, such as {{ kind = {:?} }}; known: {}", kinds[0].0, known());
        return Err(carry(ScenarioError::new("", message)));
    };
    let Some(kind) = table.remove("kind") else {
        return Err(carry(ScenarioError::new("kind", format!("missing key `kind`; known: {}", known()))));
    };
    match kinds.iter().find(|(name, _)| kind == *name) {
        Some((_, reader)) => reader(Value::Object(table)).map_err(carry),
        None => Err(carry(ScenarioError::new("kind", format!("unknown kind {kind}; known: {}", known())))),
    }
}

impl TcpOptions {
    /// Reads the settings of endpoints from JSON text, as under `tcp` in a scenario; errors start at `path`.
    pub fn from_json(text: &str, path: &str) -> Result<TcpOptions, ScenarioError> {
        let value: Value =
            serde_json::from_str(text).map_err(|e| ScenarioError::new(path, format!("not valid JSON: {e}")))?;
        with_path(value).map_err(|error: ScenarioError| ScenarioError { path: join(path, &error.path), ..error })
    }
}

/// Reads a scenario from JSON text.
pub(super) fn scenario(text: &str) -> Result<Scenario, ScenarioError> {
    let mut value: Value = serde_json::from_str(text)
        .map_err(|e| ScenarioError::new("", format!("the scenario is not valid JSON: {e}")))?;
    only_listed_flows(&mut value);
    with_path(value)
}

/// Who lists flows wants no others unless `network.flows` asks for them: its default is for scenarios without a list.
fn only_listed_flows(scenario: &mut Value) {
    let listed = scenario.get("flow").and_then(Value::as_array).is_some_and(|flows| !flows.is_empty());
    if let Some(Value::Object(network)) = scenario.get_mut("network")
        && listed
        && network.get("kind").is_some_and(|kind| kind != "graph")
    {
        network.entry("flows").or_insert(0.into());
    }
}
