//! Reading values with errors that name the field, the value and what is allowed.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{ScenarioError, join};
use super::renamed;

/// Separates an inner path from the message while serde carries both in one text.
pub(super) const MARK: char = '\u{1f}';

/// Reads JSON text that stands at `path` of a scenario; `prepare` may change it before it is deserialized.
pub(super) fn from_json<T: DeserializeOwned>(
    text: &str,
    path: &str,
    what: &str,
    prepare: fn(&mut Value),
) -> Result<T, ScenarioError> {
    let mut value: Value =
        serde_json::from_str(text).map_err(|e| ScenarioError::new(path, format!("{what}not valid JSON: {e}")))?;
    prepare(&mut value);
    read(value)
        .map_err(|error: ScenarioError| renamed::explain(ScenarioError { path: join(path, &error.path), ..error }))
}

/// Deserializes with the path to the fault, through nested tagged values.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T, ScenarioError> {
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
