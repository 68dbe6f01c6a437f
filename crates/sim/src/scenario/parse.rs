//! Reading values with errors that name the field, the value and what is allowed.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{ScenarioError, join};
use super::near::did_you_mean;
use super::{medium, renamed};

/// Separates an inner path, the message and the hint while serde carries them in one text.
const MARK: char = '\u{1f}';

/// An error as the text that serde carries.
pub(super) fn carried(error: &ScenarioError) -> String {
    let hint = error.hint.as_deref().unwrap_or_default();
    format!("{}{MARK}{}{MARK}{hint}", error.path, error.message)
}

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
    read(value).map_err(|error: ScenarioError| {
        medium::explain(renamed::explain(ScenarioError { path: join(path, &error.path), ..error }))
    })
}

/// Deserializes with the path to the fault, through nested tagged values.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T, ScenarioError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let outer = match error.path().to_string() {
            path if path == "." => String::new(),
            path => path,
        };
        let text = error.into_inner().to_string();
        let mut pieces = text.splitn(3, MARK);
        match (pieces.next(), pieces.next(), pieces.next()) {
            (Some(inner), Some(message), hint) => ScenarioError {
                path: join(&outer, inner),
                message: message.to_owned(),
                hint: hint.filter(|hint| !hint.is_empty()).map(str::to_owned),
            },
            _ => ScenarioError { path: outer, message: plain(&text), hint: near(&text) },
        }
    })
}

/// Deserializes what remains of a table whose `own` keys were read before, so that an unknown key is told with those too.
pub(super) fn read_beside<T: DeserializeOwned>(value: Value, own: &[&str]) -> Result<T, ScenarioError> {
    read(value).map_err(|error: ScenarioError| {
        let unknown = format!("unknown key `{}`, known: ", error.path);
        let Some(others) = error.message.strip_prefix(&unknown) else { return error };
        let own: String = own.iter().map(|key| format!("`{key}`, ")).collect();
        let message = format!("{unknown}{own}{others}");
        ScenarioError { hint: near(&message), message, path: error.path }
    })
}

/// serde's words as those of a scenario's author: a field is a key, a sequence an array.
fn plain(text: &str) -> String {
    for (start, out_of_range) in [("invalid type: ", false), ("invalid value: ", true)] {
        if let Some((found, expected)) = text.strip_prefix(start).and_then(|rest| rest.rsplit_once(", expected ")) {
            return mismatch(found, expected, out_of_range);
        }
    }
    let text = text
        .replace("unknown field", "unknown key")
        .replace("unknown variant", "unknown value")
        .replace("missing field", "missing key")
        .replace("expected one of", "known:");
    if text.starts_with("unknown ") { text.replace(", expected ", ", known: ") } else { text }
}

/// What was found is not what was expected.
fn mismatch(found: &str, expected: &str, out_of_range: bool) -> String {
    let value = match found {
        "map" => "a table",
        "sequence" => "an array",
        "null" | "unit value" | "Option value" => "nothing",
        _ => match found.split_once('`') {
            Some((_, number)) => number.trim_end_matches('`'),
            None => found.strip_prefix("string ").unwrap_or(found),
        },
    };
    let whole = found.starts_with("floating point") && value.parse::<f64>().is_ok_and(|x| libm::trunc(x) == x);
    if whole && integer(expected).is_some() {
        return format!("{value} is too large or too small for a whole number");
    }
    let wanted = match integer(expected) {
        Some(most) if out_of_range && most < u64::MAX => format!("a whole number from 0 to {most}"),
        Some(_) if out_of_range => "a whole number from 0 on".to_owned(),
        Some(_) => "a whole number".to_owned(),
        None => match expected {
            "f64" | "f32" => "a number",
            "i64" | "i32" => "a whole number",
            "a boolean" => "true or false",
            "a string" => "a text",
            "a sequence" => "an array",
            "a map" | "map" => "a table",
            "string or map" => "a text or a table",
            other if other.starts_with("struct ") => "a table",
            other => other,
        }
        .to_owned(),
    };
    format!("{value} is not {wanted}")
}

/// The largest value of an unsigned type.
fn integer(name: &str) -> Option<u64> {
    match name {
        "u8" => Some(u8::MAX.into()),
        "u16" => Some(u16::MAX.into()),
        "u32" => Some(u32::MAX.into()),
        "u64" | "usize" => Some(u64::MAX),
        _ => None,
    }
}

/// The key or value that was meant, if what serde found is unknown: its text names what it found, then what it knows.
fn near(text: &str) -> Option<String> {
    let mut names = text.split('`').skip(1).step_by(2);
    let written = names.next().filter(|_| text.starts_with("unknown "))?;
    did_you_mean(written, names)
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;

    fn error_of(network: &str, rest: &str) -> String {
        let text = format!(r#"{{"duration": "1s", "network": {network}{rest}}}"#);
        Scenario::from_json(&text).unwrap_err().to_string()
    }

    #[test]
    fn a_value_of_a_wrong_type_is_named_in_the_words_of_a_user() {
        for (value, message) in [
            (r#""two""#, "network.pairs: \"two\" is not a whole number"),
            ("2.5", "network.pairs: 2.5 is not a whole number"),
            ("-5", "network.pairs: -5 is not a whole number from 0 on"),
            ("1e30", "network.pairs: 1e+30 is too large or too small for a whole number"),
            ("true", "network.pairs: true is not a whole number"),
            ("[]", "network.pairs: an array is not a whole number"),
            ("{}", "network.pairs: a table is not a whole number"),
        ] {
            assert_eq!(error_of(&format!(r#"{{"kind": "dumbbell", "pairs": {value}}}"#), ""), message);
        }
        let dumbbell = r#"{"kind": "dumbbell", "bottleneck": 5}"#;
        assert_eq!(error_of(dumbbell, ""), "network.bottleneck: 5 is not a table");
        let sack = error_of(r#"{"kind": "dumbbell"}"#, r#", "tcp": {"sack": "yes"}"#);
        assert_eq!(sack, "tcp.sack: \"yes\" is not true or false");
        let queue = error_of(r#"{"kind": "dumbbell", "bottleneck": {"queue": 20}}"#, "");
        assert!(queue.contains("20 is not a queue; it is a text such as \"20p\", or a table"), "{queue}");
    }

    #[test]
    fn a_value_in_place_of_a_table_is_answered_with_the_table_that_it_probably_stands_for() {
        for (options, message) in [
            (
                r#""loss": 0.01"#,
                r#"loss: 0.01 is not a loss model; it is a table with a `kind`, such as { kind = "packet", p = 0.01 }"#,
            ),
            (
                r#""loss": "5%""#,
                r#""5%" is not a loss model; it is a table with a `kind`, such as { kind = "packet", p = 0.05 }"#,
            ),
            (r#""marks": 0.1"#, r#"such as { kind = "packet", p = 0.1 }; known: `packet`, `gilbert_elliott`, `nth`"#),
            (r#""corrupt": 0.1"#, r#"such as { kind = "packet", p = 0.1 }; known: `packet`, `bit`"#),
            (r#""jitter": "4ms""#, r#"such as { kind = "constant", length = "4ms" }; known: `constant`, `uniform`, "#),
            (r#""loss": "nth""#, r#"such as { kind = "nth" }; known: `none`, `packet`, "#),
            (r#""loss": true"#, r#"true is not a loss model; it is a table with a `kind`, such as { kind = "none" }"#),
            (
                r#""loss": [1, 2]"#,
                r#"an array is not a loss model; it is a table with a `kind`, such as { kind = "none" }"#,
            ),
        ] {
            let error = error_of(&format!(r#"{{"kind": "dumbbell", "bottleneck": {{{options}}}}}"#), "");
            assert!(error.contains(message), "{error}");
        }
        let known = "known: `none`, `packet`, `bit`, `byte`, `gilbert_elliott`, `nth`";
        assert!(error_of(r#"{"kind": "dumbbell", "bottleneck": {"loss": 0.01}}"#, "").ends_with(known));
    }

    #[test]
    fn an_unknown_name_comes_with_the_one_that_was_meant() {
        let dumbbell = r#"{"kind": "dumbbell"}"#;
        for (network, rest, hint) in [
            (r#"{"kind": "dumbell"}"#, "", "did you mean dumbbell?"),
            (r#"{"kind": "dumbbell", "bottlenek": {}}"#, "", "did you mean bottleneck?"),
            (r#"{"kind": "dumbbell", "bottleneck": {"dealy": "1ms"}}"#, "", "did you mean delay?"),
            (dumbbell, r#", "tcp": {"profile": "linus"}"#, "did you mean linux?"),
            (dumbbell, r#", "record": {"series": ["ssrtt"]}"#, "did you mean srtt"),
        ] {
            let error = error_of(network, rest);
            assert!(error.contains(hint) && error.contains("known: "), "{error}");
        }
        assert!(!error_of(dumbbell, r#", "elephant": 1"#).contains("mean"));
    }
}
