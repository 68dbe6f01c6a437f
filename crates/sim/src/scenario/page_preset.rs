//! Pages of the web as its own statistics have them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a page is made of, by statistics of the web. They say nothing of `dns`, `server_time`, `depth` and `parse`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PagePreset {
    /// The mean page of 2010: 44.6 resources of 7 hosts, 320 kB, by HTTP/1.1 (Ramachandran 2010, Web metrics: size and number of
    /// resources).
    Web2010,
    /// The median page of 2024 on a desktop: 71 requests, 2652 kB, a document of 18 kB (HTTP Archive, Web Almanac 2024,
    /// Page Weight); by HTTP/2 over TLS 1.3. How many hosts it has is not said there.
    Web2024,
}

impl PagePreset {
    /// The keys of a page that it stands for.
    fn keys(self) -> Value {
        match self {
            PagePreset::Web2010 => json!({"objects": 44, "size": "320kB", "hosts": 7, "protocol": "h1"}),
            PagePreset::Web2024 => {
                json!({"objects": 70, "size": "2652kB", "html": "18kB", "protocol": "h2", "tls": 1})
            }
        }
    }
}

/// Writes the keys that presets of pages stand for, and that are left out, into a scenario as it was written.
pub(super) fn fill(scenario: &mut Value) {
    let lists = ["flow", "workload"];
    let Value::Object(table) = scenario else { return };
    for (key, value) in table.iter_mut() {
        match value {
            Value::Object(traffic) if key == "traffic" => traffic.get_mut("app").into_iter().for_each(fill_app),
            Value::Array(entries) if lists.contains(&key.as_str()) => {
                entries.iter_mut().filter_map(|entry| entry.get_mut("app")).for_each(fill_app);
            }
            _ => {}
        }
    }
}

fn fill_app(app: &mut Value) {
    let Value::Object(app) = app else { return };
    // What is no preset is told where it is read.
    let preset = app.get("preset").filter(|_| app.get("kind").is_some_and(|kind| kind == "page"));
    let Some(preset) = preset.and_then(|preset| PagePreset::deserialize(preset).ok()) else { return };
    let Value::Object(keys) = preset.keys() else { return };
    for (key, value) in keys {
        app.entry(key).or_insert(value);
    }
}
