//! A scenario as its author wrote it: any tables, arrays and values, in their order.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

/// A value of a document.
#[derive(Clone, PartialEq, Debug)]
pub enum Document {
    /// Nothing: the key is not there.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number, whole or not.
    Number(Number),
    /// Text.
    Text(String),
    /// An array.
    Array(Vec<Document>),
    /// A table.
    Table(Vec<(String, Document)>),
}

impl Document {
    /// The value under a key of a table.
    pub fn get(&self, key: &str) -> Option<&Document> {
        match self {
            Document::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The same table with another value under a key.
    pub fn with(mut self, key: &str, value: Document) -> Document {
        if let Document::Table(entries) = &mut self {
            match entries.iter_mut().find(|(name, _)| name == key) {
                Some((_, place)) => *place = value,
                None => entries.push((key.to_owned(), value)),
            }
        }
        self
    }

    /// As JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a document is plain data")
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Document::Null => to.serialize_none(),
            Document::Boolean(value) => to.serialize_bool(*value),
            Document::Number(value) => value.serialize(to),
            Document::Text(value) => to.serialize_str(value),
            Document::Array(values) => {
                let mut array = to.serialize_seq(Some(values.len()))?;
                values.iter().try_for_each(|value| array.serialize_element(value))?;
                array.end()
            }
            Document::Table(entries) => {
                let mut table = to.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| table.serialize_entry(key, value))?;
                table.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Document, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(Document::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Document, E> {
        Ok(Document::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Document, E> {
        Ok(Document::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Document, E> {
        Ok(Document::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Document, E> {
        Ok(Number::from_f64(value).map_or(Document::Null, Document::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Document, E> {
        Ok(Document::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Document, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = from.next_element()? {
            values.push(value);
        }
        Ok(Document::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Document, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = from.next_entry()? {
            entries.push(entry);
        }
        Ok(Document::Table(entries))
    }
}
