//! The part of the schema that describes TCP endpoints: options over a profile.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcp::TcpConfig;
use tcp::cc::{Choice, Value};
use tcp::config::{Profile, RecoveryKind};
use tcp::units::{Bytes, Span};

use super::parse::{ScenarioError, join};
use super::text::Amount;

/// Settings of TCP endpoints; what is left out comes from the profile.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TcpOptions {
    /// The set of values to start from; `rfc` unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Congestion control: a name, or a table with name, profile and parameters; `newreno` unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc: Option<CcChoice>,
    /// Loss detection and repair; what the algorithm's profile came with unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryKind>,
    /// Largest payload of a segment; 1460B unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<Bytes>,
    /// cwnd after the handshake; RFC 6928 (10 segments, at most 14600 B or 2 segments) unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<Amount>,
    /// ssthresh after the handshake; not set unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<Amount>,
    /// Receive buffer, all of it advertised; 1 GiB unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recv_buffer: Option<Bytes>,
    /// Data accepted from the application and not yet acknowledged; unlimited unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<Amount>,
    /// An ACK at the latest for every so many segments; 2 unless given, 1 acknowledges each at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_every: Option<u32>,
    /// An ACK at the latest after this; 200ms unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_delay: Option<Span>,
    /// Retransmission time-out before the first RTT sample; 1s unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_initial: Option<Span>,
    /// Least retransmission time-out; 1s unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_min: Option<Span>,
    /// Greatest retransmission time-out; 60s unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_max: Option<Span>,
    /// Duplicate ACKs that mean loss; 3 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dup_thresh: Option<u32>,
    /// One new segment on each of the first two duplicate ACKs (RFC 3042); true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Of several partial ACKs only the first restarts the retransmission timer (RFC 6582); true unless given, false for
    /// profile `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impatient: Option<bool>,
    /// The window grows only while it is used; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_validation: Option<bool>,
    /// The window shrinks after silence (RFC 5681 section 4.1); true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<bool>,
    /// Retransmissions of the SYN before giving up; 6 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_retries: Option<u32>,
}

/// A choice of congestion control: `"cubic"`, or `{ name = "cubic", profile = "linux", beta = 0.7 }`.
#[derive(Clone, PartialEq, Debug)]
pub struct CcChoice {
    /// The algorithm.
    pub name: String,
    /// Its historical form; that of the connection's profile if it has one, else the first it lists, unless given.
    pub profile: Option<String>,
    /// Parameters that differ from the profile.
    pub params: BTreeMap<String, Value>,
}

impl CcChoice {
    /// The algorithm of that name with nothing changed.
    pub fn named(name: &str) -> CcChoice {
        CcChoice { name: name.to_owned(), profile: None, params: BTreeMap::new() }
    }

    /// Looks the choice up; the error's path starts at `path`.
    fn resolve(&self, path: &str, connection: Profile) -> Result<Choice, ScenarioError> {
        // A connection in the form of a stack takes the algorithm in its form for that stack, if it has one.
        let own = tcp::cc::find(&self.name).and_then(|a| a.profile(connection.name())).map(|p| p.name);
        let profile = self.profile.as_deref().or(own);
        let params: Vec<(String, Value)> = self.params.iter().map(|(k, v)| (k.clone(), *v)).collect();
        Choice::new(&self.name, profile, &params).map_err(|e| {
            let field =
                if e.field == "name" && self.params.is_empty() && self.profile.is_none() { "" } else { &e.field };
            ScenarioError::new(join(path, field), e.message)
        })
    }

    fn of(choice: &Choice) -> CcChoice {
        CcChoice {
            name: choice.algorithm.name.to_owned(),
            profile: Some(choice.profile.to_owned()),
            params: choice.values.iter().map(|(k, v)| (k.to_owned(), v)).collect(),
        }
    }
}

impl<'de> Deserialize<'de> for CcChoice {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<CcChoice, D::Error> {
        use serde_json::Value as Json;
        let wrong =
            |what: &str| D::Error::custom(format!("{what}; write \"cubic\" or {{ name = \"cubic\", beta = 0.7 }}"));
        let table = match Json::deserialize(d)? {
            Json::String(name) => return Ok(CcChoice::named(&name)),
            Json::Object(table) => table,
            other => return Err(wrong(&format!("{other} is not a congestion control"))),
        };
        let mut choice = CcChoice::named("");
        for (key, value) in table {
            match (key.as_str(), value) {
                ("name", Json::String(name)) => choice.name = name,
                ("profile", Json::String(profile)) => choice.profile = Some(profile),
                (_, Json::Number(number)) => {
                    choice.params.insert(key, Value::Number(number.as_f64().unwrap_or(f64::NAN)));
                }
                (_, Json::Bool(flag)) => {
                    choice.params.insert(key, Value::Flag(flag));
                }
                (_, other) => return Err(wrong(&format!("{key} = {other} is not a number, true or false"))),
            }
        }
        if choice.name.is_empty() { Err(wrong("missing key `name`")) } else { Ok(choice) }
    }
}

impl Serialize for CcChoice {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if self.profile.is_none() && self.params.is_empty() {
            return s.serialize_str(&self.name);
        }
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        if let Some(profile) = &self.profile {
            map.serialize_entry("profile", profile)?;
        }
        for (key, value) in &self.params {
            match value {
                Value::Number(x) => map.serialize_entry(key, x)?,
                Value::Flag(x) => map.serialize_entry(key, x)?,
            }
        }
        map.end()
    }
}

impl JsonSchema for CcChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CongestionControl".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "an algorithm: \"cubic\", or { name = \"cubic\", profile = \"linux\", beta = 0.7 }; `tonopah algorithms` lists names, profiles and parameters",
            "anyOf": [
                {"type": "string"},
                {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "profile": {"type": "string"}},
                 "additionalProperties": {"type": ["number", "boolean"]}}
            ]
        })
    }
}

impl TcpOptions {
    /// True if nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == TcpOptions::default()
    }

    /// These options where set, else `base`'s.
    pub fn over(&self, base: &TcpOptions) -> TcpOptions {
        TcpOptions {
            profile: self.profile.or(base.profile),
            cc: self.cc.clone().or_else(|| base.cc.clone()),
            recovery: self.recovery.or(base.recovery),
            mss: self.mss.or(base.mss),
            initial_window: self.initial_window.or(base.initial_window),
            initial_ssthresh: self.initial_ssthresh.or(base.initial_ssthresh),
            recv_buffer: self.recv_buffer.or(base.recv_buffer),
            send_buffer: self.send_buffer.or(base.send_buffer),
            ack_every: self.ack_every.or(base.ack_every),
            ack_delay: self.ack_delay.or(base.ack_delay),
            rto_initial: self.rto_initial.or(base.rto_initial),
            rto_min: self.rto_min.or(base.rto_min),
            rto_max: self.rto_max.or(base.rto_max),
            dup_thresh: self.dup_thresh.or(base.dup_thresh),
            limited_transmit: self.limited_transmit.or(base.limited_transmit),
            impatient: self.impatient.or(base.impatient),
            cwnd_validation: self.cwnd_validation.or(base.cwnd_validation),
            idle_restart: self.idle_restart.or(base.idle_restart),
            syn_retries: self.syn_retries.or(base.syn_retries),
        }
    }

    /// The settings they stand for; errors start at `path`.
    pub fn resolve(&self, path: &str) -> Result<TcpConfig, ScenarioError> {
        let profile = self.profile.unwrap_or_default();
        let cc = self.cc.clone().unwrap_or_else(|| CcChoice::named("newreno"));
        let mut config = TcpConfig::of_profile(profile, cc.resolve(&join(path, "cc"), profile)?);
        if let Some(mss) = self.mss {
            config.mss = mss;
            config.initial_window = tcp::config::initial_window(profile, mss);
        }
        let mss = config.mss;
        let in_bytes = |amount: Amount| match amount {
            Amount::Packets(n) => Bytes(n.saturating_mul(mss.0)),
            Amount::Bytes(bytes) => bytes,
            Amount::Unlimited => Bytes::MAX,
        };
        set(&mut config.initial_window, self.initial_window.map(in_bytes));
        set(&mut config.initial_ssthresh, self.initial_ssthresh.map(in_bytes));
        set(&mut config.recv_buffer, self.recv_buffer);
        set(&mut config.send_buffer, self.send_buffer.map(in_bytes));
        set(&mut config.delayed_ack.segments, self.ack_every);
        set(&mut config.delayed_ack.timeout, self.ack_delay);
        set(&mut config.rto.initial, self.rto_initial);
        set(&mut config.rto.min, self.rto_min);
        set(&mut config.rto.max, self.rto_max);
        set(&mut config.dup_thresh, self.dup_thresh);
        set(&mut config.limited_transmit, self.limited_transmit);
        set(&mut config.impatient, self.impatient);
        set(&mut config.cwnd_validation, self.cwnd_validation);
        set(&mut config.idle_restart, self.idle_restart);
        set(&mut config.syn_retries, self.syn_retries);
        set(&mut config.recovery, self.recovery);
        check(&config, path)?;
        Ok(config)
    }

    /// Options that give this configuration with nothing left to the profile.
    pub fn of(profile: Profile, config: &TcpConfig) -> TcpOptions {
        let amount = |bytes: Bytes| if bytes == Bytes::MAX { Amount::Unlimited } else { Amount::Bytes(bytes) };
        TcpOptions {
            profile: Some(profile),
            cc: Some(CcChoice::of(&config.cc)),
            recovery: Some(config.recovery),
            mss: Some(config.mss),
            initial_window: Some(amount(config.initial_window)),
            initial_ssthresh: Some(amount(config.initial_ssthresh)),
            recv_buffer: Some(config.recv_buffer),
            send_buffer: Some(amount(config.send_buffer)),
            ack_every: Some(config.delayed_ack.segments),
            ack_delay: Some(config.delayed_ack.timeout),
            rto_initial: Some(config.rto.initial),
            rto_min: Some(config.rto.min),
            rto_max: Some(config.rto.max),
            dup_thresh: Some(config.dup_thresh),
            limited_transmit: Some(config.limited_transmit),
            impatient: Some(config.impatient),
            cwnd_validation: Some(config.cwnd_validation),
            idle_restart: Some(config.idle_restart),
            syn_retries: Some(config.syn_retries),
        }
    }
}

fn set<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

fn check(config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    let fail = |field: &str, message: String| Err(ScenarioError::new(join(path, field), message));
    let mss = config.mss;
    if mss < Bytes(1) || mss > Bytes(65_495) {
        return fail("mss", format!("{mss} is not a segment size from 1B to 65495B"));
    }
    if config.initial_window < mss || config.initial_window == Bytes::MAX {
        return fail(
            "initial_window",
            format!("{} is not a window of at least one segment ({mss})", config.initial_window),
        );
    }
    if config.recv_buffer < mss || config.recv_buffer > Bytes(1 << 40) {
        return fail("recv_buffer", format!("{} is not from one segment ({mss}) to 1099GB", config.recv_buffer));
    }
    if config.send_buffer < mss {
        return fail("send_buffer", format!("{} is less than one segment ({mss})", config.send_buffer));
    }
    if config.delayed_ack.segments == 0 {
        return fail("ack_every", "0 would never acknowledge; write 1 for an ACK per segment".into());
    }
    if config.dup_thresh == 0 {
        return fail("dup_thresh", "0 duplicate ACKs cannot mean loss; RFC 5681 says 3".into());
    }
    if config.rto.min > config.rto.max || config.rto.initial > config.rto.max {
        return fail("rto_max", format!("{} is below rto_min or rto_initial", config.rto.max));
    }
    if config.rto.initial == Span::ZERO {
        return fail("rto_initial", "0s would retransmit at once and for ever".into());
    }
    Ok(())
}
