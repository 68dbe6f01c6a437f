//! Tables whose `kind` says what they are. (serde's own tagged enums lose the path to the fault.)

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::error::ScenarioError;
use super::near::did_you_mean;
use super::parse::carried;

/// How one kind of a tagged value is read.
pub(super) type Reader<T> = fn(Value) -> Result<T, ScenarioError>;

/// Reads a table whose `kind` says which of `kinds` it is.
pub(super) fn tagged<'de, D: Deserializer<'de>, T>(
    d: D,
    what: &str,
    short: Option<&str>,
    kinds: &[(&str, Reader<T>)],
) -> Result<T, D::Error> {
    let carry = |e: ScenarioError| D::Error::custom(carried(&e));
    let known = || kinds.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let value = Value::deserialize(d)?;
    let Value::Object(mut table) = value else {
        let text = short.map_or(String::new(), |short| format!("a text such as {short:?}, or "));
        let table = format!("a table with a `kind`, such as {}; known: {}", likely(&value, kinds), known());
        let message = format!("{} is not {what}; it is {text}{table}", spoken(&value));
        return Err(carry(ScenarioError::new("", message)));
    };
    let Some(kind) = table.remove("kind") else {
        return Err(carry(ScenarioError::new("kind", format!("missing key `kind`; known: {}", known()))));
    };
    match kinds.iter().find(|(name, _)| kind == *name) {
        Some((_, reader)) => reader(Value::Object(table)).map_err(carry),
        None => {
            let near = did_you_mean(kind.as_str().unwrap_or_default(), kinds.iter().map(|(name, _)| *name));
            let error = ScenarioError::new("kind", format!("unknown kind {kind}; known: {}", known()));
            Err(carry(ScenarioError { hint: near, ..error }))
        }
    }
}

/// The table that a value without one probably stands for: the kind that a text names, or the first whose only necessary key
/// may have the value; else the first kind.
fn likely<T>(value: &Value, kinds: &[(&str, Reader<T>)]) -> String {
    let share = value.as_str().and_then(percent);
    let value = share.as_ref().unwrap_or(value);
    let named = kinds.iter().find(|(name, _)| value == *name).or(kinds.first()).map_or("", |(name, _)| name);
    let takes = |(name, reader): &(&str, Reader<T>)| {
        let missing = reader(Value::Object(Map::new())).err()?.message;
        let key = missing.strip_prefix("missing key `")?.strip_suffix('`')?;
        let table = Map::from_iter([(key.to_owned(), value.clone())]);
        reader(Value::Object(table)).is_ok().then(|| format!("{{ kind = {name:?}, {key} = {value} }}"))
    };
    let taken = if value.is_array() { None } else { kinds.iter().find_map(takes) };
    taken.unwrap_or_else(|| format!("{{ kind = {named:?} }}"))
}

/// The number that a text in percent, such as `"5%"`, stands for.
fn percent(text: &str) -> Option<Value> {
    let number: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    Some(Value::from(number / 100.0))
}

/// A value that is no table, in words.
fn spoken(value: &Value) -> String {
    if value.is_array() { "an array".to_owned() } else { value.to_string() }
}

/// Defines an enum tagged by `kind` and its reader; each kind is listed once.
///
/// After `what` a function may follow that reads the short form, a text, with an example of it.
macro_rules! tagged_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident ($what:literal $(, text: $from_text:path, such as $short:literal)?) {
            $($(#[$doc:meta])* $kind:literal => $variant:ident($form:ty),)*
        }
    ) => {
        $(#[$meta])*
        #[serde(tag = "kind")]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $kind)] $variant($form),)*
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(d: D) -> Result<$name, D::Error> {
                let value = <::serde_json::Value as ::serde::Deserialize>::deserialize(d)?;
                $(if let ::serde_json::Value::String(text) = &value {
                    return $from_text(text).map_err(::serde::de::Error::custom);
                })?
                let read = $crate::scenario::tagged::tagged(
                    value,
                    $what,
                    [$($short)?].first().copied() as Option<&str>,
                    &[$(($kind, |v| $crate::scenario::parse::read::<$form>(v).map($name::$variant)),)*],
                );
                read.map_err(::serde::de::Error::custom)
            }
        }
    };
}

pub(super) use tagged_enum;
