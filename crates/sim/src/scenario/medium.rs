//! Keys of links where a radio is the medium: the error says why there are none.

use super::error::ScenarioError;

/// What links do to packets, and a modelled medium does by itself.
const OF_LINKS: [&str; 9] =
    ["service", "jitter", "reorder", "duplicate", "corrupt", "harq", "acks", "marks", "overhead"];

/// An error, with the reason if it is about a key of links in the table of a channel or a radio.
pub(super) fn explain(error: ScenarioError) -> ScenarioError {
    let Some((key, known)) = error.message.strip_prefix("unknown key `").and_then(|rest| rest.split_once('`')) else {
        return error;
    };
    let table = error.path.strip_suffix(key).unwrap_or(&error.path).trim_end_matches('.');
    let of_radio = table == "radio" || table.ends_with(".radio") || known.contains("`radio`");
    if !(OF_LINKS.contains(&key) && of_radio) {
        return error;
    }
    let message = format!("`{key}` is for links; here the medium is modelled");
    ScenarioError { message, hint: None, ..error }.with_hint("errors of frames are radio.frame_error")
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;
    use super::OF_LINKS;

    fn error_of(rest: &str) -> String {
        Scenario::from_json(&format!(r#"{{"duration": "1s", {rest}}}"#)).unwrap_err().to_string()
    }

    #[test]
    fn what_links_do_is_refused_where_the_medium_is_modelled() {
        let graph = r#""network": {"kind": "graph"}, "channel": [{"#;
        for key in OF_LINKS {
            for (table, place) in [
                (format!(r#""network": {{"kind": "infrastructure", "{key}": {{}}}}"#), "network."),
                (format!(r#""network": {{"kind": "adhoc", "radio": {{"{key}": {{}}}}}}"#), "network.radio."),
                (format!(r#"{graph}"{key}": {{}}}}]"#), "channel[0]."),
            ] {
                let error = error_of(&table);
                let expected = format!("{place}{key}: `{key}` is for links; here the medium is modelled");
                assert!(error.starts_with(&expected), "{error}");
            }
        }
        let error = error_of(r#""network": {"kind": "star", "jitter": {}}"#);
        assert!(error.contains("unknown key"), "{error}");
    }
}
