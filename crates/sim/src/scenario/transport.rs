//! The part of the schema that names a whole transport in a shared library.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::Bytes;

use super::cc_choice::Further;
use super::error::{ScenarioError, join};
use super::near::did_you_mean;
use super::quantity::parse_quantity;
use crate::foreign::{ForeignKind, ForeignOption};

/// Options of a transport by name.
pub type TransportOptions = BTreeMap<String, OptionValue>;

/// A whole transport in a shared library, for both ends of a flow (docs/transport.md).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NativeTransport {
    /// Path of the library, which starts at the folder of the scenario file.
    pub native: String,
    /// What the library offers (`tonopah algorithms ./LIBRARY`). Default: its standard values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: TransportOptions,
    /// Another library for the end at the sink. Default: the same, with the same options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink: Option<NativeEnd>,
    /// The largest IP packet that the first link takes, from 576 B to 65535 B: a larger one vanishes there. Default: 1500 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Bytes>,
    /// The transport itself.
    #[serde(skip)]
    given: Option<&'static ForeignKind>,
}

/// A transport for one end of a flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NativeEnd {
    /// Path of the library, which starts at the folder of the scenario file.
    pub native: String,
    /// What the library offers. Default: its standard values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: TransportOptions,
    /// The transport itself.
    #[serde(skip)]
    given: Option<&'static ForeignKind>,
}

/// The value of an option: a number, true or false for 1 or 0, a word of the library's, or a quantity such as `"333ms"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OptionValue {
    /// 1 or 0.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A word, or a quantity.
    Text(String),
}

/// Units of options, the kind of quantity that a scenario may write for each, and how many of them the SI unit has.
const UNITS: [(&str, &str, f64); 9] = [
    ("s", "duration", 1.0),
    ("ms", "duration", 1e3),
    ("us", "duration", 1e6),
    ("ns", "duration", 1e9),
    ("B", "size", 1.0),
    ("bit/s", "rate", 1.0),
    ("bps", "rate", 1.0),
    ("kbit/s", "rate", 1e-3),
    ("Mbit/s", "rate", 1e-6),
];

impl NativeTransport {
    const MTU: Bytes = Bytes(1500);
    const MTUS: [Bytes; 2] = [Bytes(576), Bytes(65_535)];

    /// Means the transports of `further` that it names, if there are.
    pub(super) fn give(&mut self, further: &Further) {
        self.given = further.transports.get(&self.native).copied();
        if let Some(sink) = &mut self.sink {
            sink.given = further.transports.get(&sink.native).copied();
        }
    }

    /// This one with nothing left to a default.
    ///
    /// # Errors
    ///
    /// A library that is not there, an option that it does not have or not with this value, an MTU out of its range.
    pub fn complete(&self, path: &str) -> Result<NativeTransport, ScenarioError> {
        let mtu = self.mtu.unwrap_or(NativeTransport::MTU);
        let [least, most] = NativeTransport::MTUS;
        if !(least..=most).contains(&mtu) {
            return Err(ScenarioError::new(join(path, "mtu"), format!("{mtu} is not a size from {least} to {most}")));
        }
        let (kind, options) = complete_end(&self.native, &self.options, self.given, path)?;
        let mut complete = NativeTransport { options, mtu: Some(mtu), ..self.clone() };
        if let Some(sink) = &mut complete.sink {
            let place = join(path, "sink");
            let (other, options) = complete_end(&sink.native, &sink.options, sink.given, &place)?;
            if (other.protocol, other.max_streams == 1) != (kind.protocol, kind.max_streams == 1) {
                let message = format!(
                    "{} has protocol {} and streams up to {}, {} has {} and {}: they do not speak with each other",
                    sink.native, other.protocol, other.max_streams, self.native, kind.protocol, kind.max_streams
                );
                return Err(ScenarioError::new(join(&place, "native"), message));
            }
            sink.options = options;
        }
        Ok(complete)
    }

    /// What makes the ends at source and sink, each with the values of its options in their order.
    ///
    /// # Panics
    ///
    /// If it is not complete.
    pub(crate) fn ends(&self) -> [(&'static ForeignKind, Vec<f64>); 2] {
        let values = |kind: Option<&'static ForeignKind>, options: &TransportOptions| {
            let kind = kind.expect("a complete transport has its library");
            let value = |option: &ForeignOption| value_of(option, &options[&option.name]).expect("complete options");
            (kind, kind.options.iter().map(value).collect())
        };
        let source = values(self.given, &self.options);
        let sink = self.sink.as_ref().map_or_else(|| source.clone(), |sink| values(sink.given, &sink.options));
        [source, sink]
    }

    /// What tables call it: its title and the words of its options.
    pub(crate) fn label(&self) -> String {
        let kind = self.given.expect("a complete transport has its library");
        let word = |option: &ForeignOption| match &self.options[&option.name] {
            OptionValue::Text(word) if !option.words.is_empty() => Some(word.clone()),
            _ => None,
        };
        let words = kind.options.iter().filter_map(word);
        std::iter::once(kind.title.clone()).chain(words).collect::<Vec<_>>().join(" ")
    }
}

fn complete_end(
    native: &str,
    options: &TransportOptions,
    given: Option<&'static ForeignKind>,
    path: &str,
) -> Result<(&'static ForeignKind, TransportOptions), ScenarioError> {
    let Some(kind) = given else {
        let message = format!("{native:?} is not loaded: a library runs in a process of its own, and not here");
        return Err(
            ScenarioError::new(join(path, "native"), message).with_hint("tonopah run and tonopah.run give it one")
        );
    };
    if let Some(unknown) = options.keys().find(|name| kind.options.iter().all(|option| option.name != **name)) {
        let known: Vec<&str> = kind.options.iter().map(|option| option.name.as_str()).collect();
        let hint = did_you_mean(unknown, known.iter().copied());
        let all = if known.is_empty() { "it has none".to_owned() } else { format!("known: {}", known.join(", ")) };
        let message = format!("unknown option, {all}");
        return Err(ScenarioError { path: join(path, &format!("options.{unknown}")), message, hint });
    }
    let mut complete = TransportOptions::new();
    for option in &kind.options {
        let value = match options.get(&option.name) {
            None => option.standard,
            Some(given) => value_of(option, given)
                .map_err(|message| ScenarioError::new(join(path, &format!("options.{}", option.name)), message))?,
        };
        let word = option.words.get(value as usize);
        let written = word.map_or(OptionValue::Number(value), |word| OptionValue::Text(word.clone()));
        complete.insert(option.name.clone(), written);
    }
    Ok((kind, complete))
}

/// The value of an option as its library counts it, or what is wrong with it.
fn value_of(option: &ForeignOption, given: &OptionValue) -> Result<f64, String> {
    let ForeignOption { min, max, unit, words, .. } = option;
    let number = match given {
        OptionValue::Text(word) if !words.is_empty() => {
            let place = words.iter().position(|known| known == word);
            return place.map(|place| place as f64).ok_or_else(|| {
                let near = did_you_mean(word, words.iter().map(String::as_str))
                    .map_or(String::new(), |near| format!("; {near}"));
                format!("{word:?} is unknown, known: {}{near}", words.join(", "))
            });
        }
        _ if !words.is_empty() => return Err(format!("is one of the words {}", words.join(", "))),
        OptionValue::Flag(flag) => f64::from(u8::from(*flag)),
        OptionValue::Number(number) => *number,
        OptionValue::Text(text) => match UNITS.iter().find(|(known, ..)| known == unit) {
            Some((_, kind, per_si)) => parse_quantity(text, kind).map_err(|error| error.0)? * per_si,
            None => return Err(format!("{text:?} is not a number")),
        },
    };
    if (*min..=*max).contains(&number) {
        return Ok(number);
    }
    let counted = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    Err(format!("{number}{counted} is not a number from {min} to {max}"))
}
