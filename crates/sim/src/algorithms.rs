//! The list of algorithms as data, for whoever shows it: command line, documentation, forms.

use serde_json::{Value as Json, json};
use tcp::cc::{ALGORITHMS, Algorithm, Internal, Param, ParamKind, Value};
use tcp::compat::cc::is_compat;

/// Every algorithm with its parameters and profiles.
pub fn algorithms() -> Json {
    ALGORITHMS.iter().map(|algorithm| describe(algorithm)).collect()
}

fn describe(algorithm: &Algorithm) -> Json {
    let profiles: Json = algorithm
        .profiles
        .iter()
        .map(|profile| {
            let set: serde_json::Map<String, Json> =
                profile.set.iter().map(|(k, v)| ((*k).into(), value(*v))).collect();
            let of_stack = algorithm.of_stack(profile.name).is_some();
            json!({"name": profile.name, "set": set, "recovery": profile.recovery, "of_stack": of_stack})
        })
        .collect();
    json!({
        "name": algorithm.name,
        "title": algorithm.title,
        "reference": algorithm.reference,
        "compat": is_compat(algorithm),
        "requirements": {
            "owns_window": algorithm.requirements.owns_window,
            "ecn": algorithm.requirements.ecn,
            "timestamps": algorithm.requirements.timestamps,
        },
        "starts": starts(algorithm),
        "params": algorithm.params.iter().map(param).collect::<Json>(),
        "profiles": profiles,
        "internals": algorithm.internals.iter().map(internal).collect::<Json>(),
        "states": algorithm.states,
    })
}

/// What it takes of `tcp.start`: none, `resume` alone, or any.
fn starts(algorithm: &Algorithm) -> &'static str {
    match algorithm.starts {
        None => "none",
        Some(Algorithm::RESUMES) => "resume",
        Some(_) => "any",
    }
}

fn param(param: &Param) -> Json {
    let (min, max) = match param.kind {
        ParamKind::Number { min, max } => (json!(min), json!(max)),
        ParamKind::Flag => (Json::Null, Json::Null),
    };
    json!({
        "name": param.name,
        "default": value(param.default),
        "min": min,
        "max": max,
        "unit": param.unit,
        "doc": param.doc,
        "source": param.source,
    })
}

fn internal(internal: &Internal) -> Json {
    json!({"name": internal.name, "unit": internal.unit(), "doc": internal.doc})
}

fn value(value: Value) -> Json {
    match value {
        Value::Number(x) => json!(x),
        Value::Flag(x) => json!(x),
    }
}
