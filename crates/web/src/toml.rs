//! Scenarios as TOML: read with the place of what is wrong, and changed with their comments and their form.

use serde_json::Number;
use sim::ScenarioError;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::document::Document;

/// Tables and arrays in one another.
const MOST_DEPTH: usize = 60;
/// Letters of a value that a message repeats.
const MOST_SHOWN: usize = 80;

/// A scenario from TOML.
///
/// # Errors
///
/// If the text is no TOML, or holds what no scenario can.
pub fn read(text: &str) -> Result<Document, ScenarioError> {
    if text.trim().is_empty() {
        return Err(ScenarioError::new("", "is empty"));
    }
    let parsed: DocumentMut = text.parse().map_err(|error| invalid(text, &error))?;
    let document = of_table(parsed.as_table(), "", 0)?;
    if document == Document::Table(Vec::new()) {
        return Err(ScenarioError::new("", "holds only comments"));
    }
    Ok(document)
}

fn invalid(text: &str, error: &toml_edit::TomlError) -> ScenarioError {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..at).unwrap_or_default();
    let (line, column) = (before.matches('\n').count(), before.chars().rev().take_while(|c| *c != '\n').count() + 1);
    let message = error.message().lines().next().unwrap_or_default();
    let wrong = ScenarioError::new("", format!("is not valid TOML: {message} (at line {}, column {column})", line + 1));
    match text.lines().nth(line).and_then(bare) {
        Some(hint) => wrong.with_hint(hint),
        None => wrong,
    }
}

/// What to write in a line in which a value lacks its quotes: `30s`, `10Mbps`, `cubic`.
fn bare(line: &str) -> Option<String> {
    let starts = |value: &str| value.starts_with(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let parts = line.split(['{', ',', '[']).filter_map(|part| part.split_once('='));
    let mut values = parts.map(|(key, value)| (key.trim(), value.trim().trim_end_matches(['}', ']', ' '])));
    let is_word =
        |value: &str| value.chars().any(char::is_alphabetic) && !["true", "false", "inf", "nan"].contains(&value);
    let (key, value) = values.find(|(_, value)| {
        starts(value) && is_word(value) && value.len() <= MOST_SHOWN && !value.contains([' ', '#', '"', '\''])
    })?;
    let what = if value.starts_with(char::is_alphabetic) { "text" } else { "a value with a unit" };
    Some(format!("{what} needs quotes: {key} = \"{value}\""))
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn of_table(table: &dyn TableLike, path: &str, depth: usize) -> Result<Document, ScenarioError> {
    let entries = table.iter().map(|(key, item)| Ok((key.to_owned(), of_item(item, &below(path, key), depth + 1)?)));
    Ok(Document::Table(entries.collect::<Result<_, ScenarioError>>()?))
}

fn of_item(item: &Item, path: &str, depth: usize) -> Result<Document, ScenarioError> {
    if depth > MOST_DEPTH {
        let hint = format!("at most {MOST_DEPTH} tables and arrays in one another");
        return Err(ScenarioError::new(path, "is nested too deeply").with_hint(hint));
    }
    match item {
        Item::None => Ok(Document::Null),
        Item::Value(value) => of_value(value, path, depth),
        Item::Table(table) => of_table(table, path, depth),
        Item::ArrayOfTables(tables) => {
            let all = tables.iter().enumerate().map(|(i, table)| of_table(table, &format!("{path}[{i}]"), depth + 1));
            Ok(Document::Array(all.collect::<Result<_, _>>()?))
        }
    }
}

fn of_value(value: &Value, path: &str, depth: usize) -> Result<Document, ScenarioError> {
    let wrong = |message: String| ScenarioError::new(path, message);
    match value {
        Value::String(text) => match text.value().chars().find(|c| c.is_control()) {
            Some(c) => Err(wrong(format!("holds the control character U+{:04X}", u32::from(c)))
                .with_hint("text that can be printed")),
            None => Ok(Document::Text(text.value().clone())),
        },
        Value::Integer(number) => Ok(Document::Number((*number.value()).into())),
        Value::Float(number) => Number::from_f64(*number.value())
            .map(Document::Number)
            .ok_or_else(|| wrong(format!("{} is not a finite number", number.value()))),
        Value::Boolean(flag) => Ok(Document::Boolean(*flag.value())),
        Value::Datetime(date) => {
            let hint = "write durations as text, like \"20ms\"";
            Err(wrong(format!("{} is a date or a time of day", date.value())).with_hint(hint))
        }
        Value::Array(array) => {
            let place = |i: usize| format!("{path}[{i}]");
            let all = array.iter().enumerate().map(|(i, one)| of_item(&Item::Value(one.clone()), &place(i), depth + 1));
            Ok(Document::Array(all.collect::<Result<_, _>>()?))
        }
        Value::InlineTable(table) => of_table(table, path, depth),
    }
}

/// A scenario as TOML. Where it differs little from the scenario of `previous`, the text keeps its comments and its form.
pub fn write(document: &Document, previous: &str) -> String {
    let mut text: DocumentMut = previous.parse().unwrap_or_default();
    if let Document::Table(entries) = document {
        update(text.as_table_mut(), entries, true);
    }
    text.to_string()
}

/// Changes a table until it holds the entries; `is_block` is one with a head of its own.
fn update(table: &mut dyn TableLike, entries: &[(String, Document)], is_block: bool) {
    let known = |key: &str| entries.iter().any(|(name, value)| name == key && *value != Document::Null);
    let gone: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).filter(|key| !known(key)).collect();
    gone.iter().for_each(|key| drop(table.remove(key)));
    for (key, value) in entries.iter().filter(|(_, value)| *value != Document::Null) {
        match table.get_mut(key) {
            Some(item) => change(item, value),
            None => drop(table.insert(key, item_of(value, is_block))),
        }
    }
}

fn change(item: &mut Item, wanted: &Document) {
    if of_item(item, "", 0).is_ok_and(|now| same(&now, wanted)) {
        return;
    }
    match (&mut *item, wanted) {
        (Item::Table(table), Document::Table(entries)) => update(table, entries, true),
        (Item::Value(Value::InlineTable(table)), Document::Table(entries)) => {
            let count = table.len();
            update(table, entries, false);
            if table.len() != count {
                // The blanks before the end belonged to an entry.
                table.fmt();
            }
        }
        (Item::ArrayOfTables(tables), Document::Array(wanted)) if tables.len() == wanted.len() => {
            for (table, wanted) in tables.iter_mut().zip(wanted) {
                if let Document::Table(entries) = wanted {
                    update(table, entries, true);
                }
            }
        }
        (Item::Value(value), _) => {
            let decor = value.decor().clone();
            *value = value_of(wanted);
            *value.decor_mut() = decor;
        }
        (item, _) => *item = item_of(wanted, true),
    }
}

/// Whether two documents say the same: 3 and 3.0 do.
fn same(one: &Document, other: &Document) -> bool {
    match (one, other) {
        (Document::Number(a), Document::Number(b)) => a.as_f64() == b.as_f64(),
        (Document::Array(a), Document::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Document::Table(a), Document::Table(_)) => {
            let size = |table: &Document| matches!(table, Document::Table(entries) if entries.len() == a.len());
            size(other) && a.iter().all(|(key, value)| other.get(key).is_some_and(|b| same(value, b)))
        }
        _ => one == other,
    }
}

/// A new entry: tables of a block have a head of their own, unless they hold single values only.
fn item_of(value: &Document, in_block: bool) -> Item {
    let is_table = |value: &Document| matches!(value, Document::Table(_));
    match value {
        Document::Table(entries) if in_block => {
            let mut table = Table::new();
            // A table that holds nothing but tables needs no head.
            table.set_implicit(!entries.is_empty() && entries.iter().all(|(_, below)| is_table(below)));
            update(&mut table, entries, true);
            Item::Table(table)
        }
        Document::Array(values) if in_block && !values.is_empty() && values.iter().all(is_table) => {
            let tables = values.iter().filter_map(|one| item_of(one, true).into_table().ok());
            let mut all = ArrayOfTables::new();
            tables.for_each(|mut table| {
                table.set_implicit(false);
                all.push(table);
            });
            Item::ArrayOfTables(all)
        }
        _ => Item::Value(value_of(value)),
    }
}

fn value_of(value: &Document) -> Value {
    match value {
        Document::Null => Value::from(""),
        Document::Boolean(flag) => Value::from(*flag),
        Document::Number(number) => {
            number.as_i64().map_or_else(|| Value::from(number.as_f64().unwrap_or_default()), Value::from)
        }
        Document::Text(text) => Value::from(text.as_str()),
        Document::Array(values) => Value::Array(values.iter().map(value_of).collect::<Array>()),
        Document::Table(entries) => {
            let mut table = InlineTable::new();
            update(&mut table, entries, false);
            Value::InlineTable(table)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_json(text: &str) -> Document {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let text = r#"{"duration":"2s","network":{"kind":"dumbbell","pairs":2,"bottleneck":{"rate":"4Mbps","queue":"20p"}},"flow":[{"from":"a","to":"b"},{"from":"c","to":"d","tcp":{"cc":"cubic"}}],"p":[1,2.5,true]}"#;
        let document = of_json(text);
        let written = write(&document, "");
        assert!(same(&read(&written).unwrap(), &document), "{written}");
        assert!(written.contains("[network.bottleneck]") && written.contains("[[flow]]"), "{written}");
    }

    #[test]
    fn a_change_keeps_comments_and_form() {
        let text = "# a world\nduration = \"2s\"  # short\n\n[network]\nkind = \"dumbbell\"\nbottleneck = { rate = \"4Mbps\", queue = \"20p\" } # narrow\n";
        let Document::Table(mut entries) = read(text).unwrap() else { panic!("no table") };
        assert_eq!(write(&Document::Table(entries.clone()), text), text);
        let place = of_json(r#"{"kind":"dumbbell","bottleneck":{"rate":"5Mbps","queue":"20p","delay":"3ms"}}"#);
        entries[1].1 = place;
        let written = write(&Document::Table(entries), text);
        assert_eq!(written, text.replace("4Mbps", "5Mbps").replace("\"20p\" }", "\"20p\", delay = \"3ms\" }"));
    }

    #[test]
    fn what_is_wrong_has_its_place_and_a_hint() {
        for (text, wanted) in [
            ("", "is empty"),
            ("# only this\n", "holds only comments"),
            ("a = 1\nrate = 10Mbps\n", "(at line 2, column 8) (a value with a unit needs quotes: rate = \"10Mbps\")"),
            ("tcp = { cc = cubic }\n", "text needs quotes: cc = \"cubic\""),
            (
                "duration = 2020-01-01\n",
                "duration: 2020-01-01 is a date or a time of day (write durations as text, like \"20ms\")",
            ),
            ("a = [1, inf]\n", "a[1]: inf is not a finite number"),
            ("name = \"\\u0007\"\n", "name: holds the control character U+0007"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{text:?}: {error}");
        }
        let nested = format!("a = {}1{}", "[".repeat(70), "]".repeat(70));
        assert!(read(&nested).unwrap_err().to_string().contains("nested too deeply"));
        assert!(read(&format!("a = {}", "[".repeat(100_000))).is_err());
    }
}
