//! The part of the schema that says how a connection starts.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tcp::TcpConfig;
use tcp::cc::{Begin, Exit, Growth, ResumeConfig, Saved, SearchConfig, StartConfig, Value as Setting};
use tcp::units::{Bytes, Span};

use super::cc_choice::CcChoice;
use super::error::{ScenarioError, join};
use super::parse::{carried, read};
use super::text::Amount;

/// How slow start grows and ends, in the place of the algorithm's own way: a name, or a table.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StartDef {
    /// A name for one of the usual choices.
    Named(StartName),
    /// The choices one by one.
    Keys(StartKeys),
}

/// Starts that have a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum StartName {
    /// Slow start up to ssthresh or congestion.
    #[serde(rename = "standard")]
    Standard,
    /// `exit = "hystart"`
    #[serde(rename = "hystart")]
    HyStart,
    /// `exit = "hystart++"`
    #[serde(rename = "hystart++")]
    HyStartPlusPlus,
    /// `exit = "search"`
    #[serde(rename = "search")]
    Search,
    /// `growth = "rapid"` and `exit = "hystart++"`
    #[serde(rename = "rapid")]
    Rapid,
    /// `resume = {}`
    #[serde(rename = "resume")]
    Resume,
    /// `jump = "2iw"`
    #[serde(rename = "jump")]
    Jump,
}

/// How the window grows in slow start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GrowthName {
    /// By what is acknowledged.
    #[default]
    Standard,
    /// By twice as much while there is no queue (draft-kazuho-ccwg-rapid-start), with a recovery of its own from the first loss.
    Rapid,
}

/// What ends slow start besides congestion and ssthresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum ExitName {
    /// Nothing.
    #[default]
    #[serde(rename = "loss")]
    Loss,
    /// HyStart as in Linux: a train of ACKs half as long as the RTT, or a rise of the RTT; it serves later slow starts too.
    #[serde(rename = "hystart")]
    HyStart,
    /// HyStart++ (RFC 9406): once the RTT rises, growth at a quarter of the pace for five rounds.
    #[serde(rename = "hystart++")]
    HyStartPlusPlus,
    /// SEARCH (draft-chung-ccwg-search-09): what is delivered falls behind what was sent a round trip before.
    #[serde(rename = "search")]
    Search,
}

/// How slow start grows and ends.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StartKeys {
    /// Careful Resume (RFC 9959): once the initial window is acknowledged, the window jumps to half of what the last connection
    /// between these nodes with this code point had, and is validated. Not beside `jump`. Default: it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<ResumeKeys>,
    /// At the first ACK the window jumps to so many segments (`"100p"`), bytes, or initial windows (`"2iw"`), and is validated as
    /// in `resume`. Default: it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jump: Option<JumpTo>,
    /// How the window grows. Default: `standard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<GrowthName>,
    /// What ends slow start besides congestion and ssthresh. Default: `loss`, nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitName>,
    /// With `exit = "search"`: once the end is found the window comes down to the bytes of an empty round trip, one segment for
    /// every three that arrive; `false` ends slow start at the window reached (Firefox's QUIC). Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain: Option<bool>,
    /// With `exit = "search"`: the share of what was sent that must be missing, above 0 and below 1. Default: 0.26 (the draft's THRESH).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thresh: Option<f64>,
    /// With `exit = "search"`: a round trip of so many bins (of 0.35 of the first RTT) is not judged, 1 to 50. Default: 15.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_bins: Option<u32>,
}

/// The window of an earlier connection, tried again.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResumeKeys {
    /// What was saved longer ago is not used. Default: `"10min"`; minutes where paths vary, hours where they are stable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Span>,
    /// The window does not jump beyond this. Default: half of what was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_jump: Option<Amount>,
    /// What an earlier connection would have left, for a connection that has none before it. Default: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<SavedKeys>,
    /// Of ssthresh after a safe retreat, 0.5 to 1. Default: that of the algorithm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
}

/// What an earlier connection would have left.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SavedKeys {
    /// The window: bytes (`"3MB"`) or segments. Below four initial windows it is not used.
    pub cwnd: Amount,
    /// The minimum RTT; a connection with at most half of it, or more than ten times it, does not resume.
    pub rtt: Span,
}

/// Where a window jumps: segments, bytes, or initial windows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum JumpTo {
    /// Initial windows.
    Initial(f64),
    /// Segments or bytes.
    Amount(Amount),
}

impl std::str::FromStr for JumpTo {
    type Err = String;
    fn from_str(text: &str) -> Result<JumpTo, String> {
        let Some(number) = text.trim_end().strip_suffix("iw") else { return text.parse().map(JumpTo::Amount) };
        match number.trim().parse::<f64>() {
            Ok(times) if times > 0.0 && times <= 1e6 => Ok(JumpTo::Initial(times)),
            _ => Err(format!("{text:?} is not a number of initial windows such as \"2iw\"")),
        }
    }
}

impl std::fmt::Display for JumpTo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JumpTo::Initial(times) => write!(f, "{times}iw"),
            JumpTo::Amount(amount) => write!(f, "{amount}"),
        }
    }
}

tcp::text_quantity! {
    JumpTo, "JumpTo", "100p", "segments such as \"100p\", a size such as \"64kB\", or initial windows such as \"2iw\"";
}

impl<'de> Deserialize<'de> for StartDef {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<StartDef, D::Error> {
        let wrong = |error: ScenarioError| D::Error::custom(carried(&error));
        match Value::deserialize(d)? {
            text @ Value::String(_) => read(text).map(StartDef::Named).map_err(wrong),
            table @ Value::Object(_) => read(table).map(StartDef::Keys).map_err(wrong),
            other => {
                let text = if other.is_array() { "an array".to_owned() } else { other.to_string() };
                Err(wrong(ScenarioError::new("", format!("{text} is not a text such as \"search\", or a table"))))
            }
        }
    }
}

impl StartName {
    fn keys(self) -> StartKeys {
        let exit = match self {
            StartName::Standard | StartName::Resume | StartName::Jump => ExitName::Loss,
            StartName::HyStart => ExitName::HyStart,
            StartName::HyStartPlusPlus | StartName::Rapid => ExitName::HyStartPlusPlus,
            StartName::Search => ExitName::Search,
        };
        let growth = (self == StartName::Rapid).then_some(GrowthName::Rapid);
        let resume = (self == StartName::Resume).then(ResumeKeys::default);
        let jump = (self == StartName::Jump).then_some(JumpTo::Initial(2.0));
        StartKeys { resume, jump, growth, exit: Some(exit), ..StartKeys::default() }
    }
}

impl StartDef {
    fn keys(&self) -> StartKeys {
        match self {
            StartDef::Named(name) => name.keys(),
            StartDef::Keys(keys) => keys.clone(),
        }
    }

    /// The start; errors begin at `path`.
    pub(super) fn resolve(&self, config: &TcpConfig, path: &str) -> Result<StartConfig, ScenarioError> {
        let keys = self.keys();
        let begin = begin(&keys, config, path)?;
        let exit = match keys.exit.unwrap_or_default() {
            ExitName::Loss => Exit::Loss,
            ExitName::HyStart => Exit::HyStart,
            ExitName::HyStartPlusPlus => Exit::HyStartPlusPlus,
            ExitName::Search => Exit::Search(search(&keys, path)?),
        };
        let growth = match keys.growth.unwrap_or_default() {
            GrowthName::Standard => Growth::Standard,
            GrowthName::Rapid => Growth::Rapid,
        };
        let of_search = [
            ("drain", keys.drain.is_some()),
            ("thresh", keys.thresh.is_some()),
            ("extra_bins", keys.extra_bins.is_some()),
        ];
        match of_search.into_iter().find(|(_, given)| *given && !matches!(exit, Exit::Search(_))) {
            Some((key, _)) => {
                let error = ScenarioError::new(join(path, key), "has no effect: it belongs to SEARCH");
                Err(error.with_hint("add exit = \"search\", or leave it out"))
            }
            None => Ok(StartConfig { begin, growth, exit }),
        }
    }

    /// The definition of a start, with every key that has an effect.
    pub(super) fn of(start: &StartConfig) -> StartDef {
        let growth = match start.growth {
            Growth::Standard => GrowthName::Standard,
            Growth::Rapid => GrowthName::Rapid,
        };
        let exit = match start.exit {
            Exit::Loss => ExitName::Loss,
            Exit::HyStart => ExitName::HyStart,
            Exit::HyStartPlusPlus => ExitName::HyStartPlusPlus,
            Exit::Search(_) => ExitName::Search,
        };
        let (resume, jump) = match start.begin {
            Begin::InitialWindow => (None, None),
            Begin::Resume(resume) => (Some(ResumeKeys::of(&resume)), None),
            Begin::Jump(cwnd) => (None, Some(JumpTo::Amount(Amount::Bytes(cwnd)))),
        };
        let plain = StartKeys { resume, jump, growth: Some(growth), exit: Some(exit), ..StartKeys::default() };
        StartDef::Keys(match start.exit {
            Exit::Search(SearchConfig { thresh, extra_bins, drain }) => {
                StartKeys { drain: Some(drain), thresh: Some(thresh), extra_bins: Some(extra_bins), ..plain }
            }
            _ => plain,
        })
    }
}

impl ResumeKeys {
    fn of(resume: &ResumeConfig) -> ResumeKeys {
        let saved = |saved: Saved| SavedKeys { cwnd: Amount::Bytes(saved.cwnd), rtt: saved.rtt };
        ResumeKeys {
            lifetime: Some(resume.lifetime),
            max_jump: resume.max_jump.map(Amount::Bytes),
            saved: resume.saved.map(saved),
            beta: resume.beta,
        }
    }
}

/// Where the window begins.
fn begin(keys: &StartKeys, config: &TcpConfig, path: &str) -> Result<Begin, ScenarioError> {
    let bytes = |amount: Amount, key: &str| match amount {
        Amount::Packets(n) if n > 0 => Ok(Bytes(n.saturating_mul(config.mss.0))),
        Amount::Bytes(bytes) if bytes >= config.mss => Ok(bytes),
        other => {
            let message = format!("\"{other}\" is not a window of at least one segment ({})", config.mss);
            Err(ScenarioError::new(join(path, key), message).with_hint("segments such as \"100p\", or a size"))
        }
    };
    match (&keys.resume, keys.jump) {
        (None, None) => Ok(Begin::InitialWindow),
        (Some(_), Some(_)) => {
            Err(ScenarioError::new(path, "resume and jump exclude each other").with_hint("leave one of the two out"))
        }
        (None, Some(JumpTo::Amount(amount))) => Ok(Begin::Jump(bytes(amount, "jump")?)),
        (None, Some(JumpTo::Initial(times))) => {
            let window = Bytes((config.initial_window.as_f64() * times) as u64);
            Ok(Begin::Jump(bytes(Amount::Bytes(window), "jump")?))
        }
        (Some(resume), None) => {
            if let Some(beta) = resume.beta.filter(|beta| !(0.5..=1.0).contains(beta)) {
                return Err(ScenarioError::new(
                    join(path, "resume.beta"),
                    format!("{beta} is not a number from 0.5 to 1"),
                ));
            }
            let saved = |saved: SavedKeys| Ok(Saved { cwnd: bytes(saved.cwnd, "resume.saved.cwnd")?, rtt: saved.rtt });
            Ok(Begin::Resume(ResumeConfig {
                lifetime: resume.lifetime.unwrap_or(Span::from_millis(600_000)),
                max_jump: resume.max_jump.map(|most| bytes(most, "resume.max_jump")).transpose()?,
                saved: resume.saved.map(saved).transpose()?,
                beta: resume.beta,
            }))
        }
    }
}

fn search(keys: &StartKeys, path: &str) -> Result<SearchConfig, ScenarioError> {
    let default = SearchConfig::default();
    let thresh = keys.thresh.unwrap_or(default.thresh);
    let extra_bins = keys.extra_bins.unwrap_or(default.extra_bins);
    if !(thresh > 0.0 && thresh < 1.0) {
        return Err(ScenarioError::new(join(path, "thresh"), format!("{thresh} is not a share above 0 and below 1")));
    }
    if !(1..=SearchConfig::MOST_BINS).contains(&extra_bins) {
        let message = format!("{extra_bins} is not a count from 1 to {}", SearchConfig::MOST_BINS);
        return Err(ScenarioError::new(join(path, "extra_bins"), message));
    }
    Ok(SearchConfig { thresh, extra_bins, drain: keys.drain.unwrap_or(default.drain) })
}

/// CUBIC's own switches for what a start decides.
pub(super) const SWITCHES: [&str; 2] = ["hystart", "hystart_plus_plus"];

/// `cc` with exits of its own switched off; the error's path starts at `path`.
pub(super) fn without_exits(mut cc: CcChoice, path: &str) -> Result<CcChoice, ScenarioError> {
    let Some(algorithm) = tcp::cc::find(&cc.name) else { return Ok(cc) };
    for switch in SWITCHES.into_iter().filter(|switch| algorithm.params.iter().any(|param| param.name == *switch)) {
        if cc.params.insert(switch.to_owned(), Setting::Flag(false)) == Some(Setting::Flag(true)) {
            let both =
                format!("stands beside {}: both decide what ends slow start", join(path, &format!("cc.{switch}")));
            return Err(ScenarioError::new(join(path, "start.exit"), both).with_hint("give one"));
        }
    }
    Ok(cc)
}
