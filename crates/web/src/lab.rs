//! What a page asks for: JSON in, JSON or columns out. A run advances in slices, between which the page may ask for anything else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sim::scenario::Scenario;
use sim::{Excerpt, Limits, ScenarioError, Simulation, Sink};
use tcp::units::{Span, Time};

use crate::algorithm::{self, Class};
use crate::document::Document;
use crate::toml;
use crate::tracks::{MOST_COLUMNS, MOST_FLOWS, Shown, Tracks};

/// Of a network that is drawn.
const MOST_NODES: usize = 400;

/// What a page asks for.
#[derive(Deserialize, Debug)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    /// TOML as a document.
    Read { toml: String },
    /// A document as TOML, in the form of the text before.
    Write {
        document: Document,
        #[serde(default)]
        previous: String,
    },
    /// A run that has not begun, in the place of another of that name.
    Start {
        run: String,
        document: Document,
        seed: u64,
        #[serde(default)]
        record: Option<Document>,
        #[serde(default)]
        excerpt: Option<(f64, f64, usize)>,
        /// The classes in JavaScript that it names.
        #[serde(default)]
        classes: Vec<Class>,
        #[serde(default)]
        max_events: Option<u64>,
        #[serde(default)]
        max_memory: Option<u64>,
    },
    /// Goes on with a run, until a time and for so many events at most.
    Advance { run: String, until_s: f64, events: u64 },
    /// Series in columns of pixels; `others` are those that belong to no flow.
    Show { run: String, from_s: f64, until_s: f64, columns: usize, facts: String, others: Vec<String> },
    /// The series of one run less those of another.
    Difference { before: String, after: String, from_s: f64, until_s: f64, columns: usize },
    /// A number of a series.
    Statistic { run: String, series: String, owner: u32, statistic: String },
    /// Ends a run early: its summary and packet events.
    Finish { run: String },
    /// Drops a run.
    Forget { run: String },
    /// What an algorithm in JavaScript receives, by name.
    Layout,
}

/// A run under way or over.
struct Run {
    simulation: Option<Simulation>,
    limits: Limits,
    world_bytes: u64,
    tracks: Tracks,
}

/// What the page cannot be answered with.
#[derive(Serialize, Debug)]
struct Refusal {
    path: String,
    message: String,
    hint: Option<String>,
}

impl From<ScenarioError> for Refusal {
    fn from(error: ScenarioError) -> Refusal {
        Refusal { path: error.path, message: error.message, hint: error.hint }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal { path: String::new(), message, hint: None }
    }
}

fn time(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(seconds)
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what the engine gives is plain data")
}

fn shown(from_s: f64, until_s: f64, columns: usize) -> Result<Shown, Refusal> {
    if !(from_s >= 0.0 && until_s > from_s && (1..=MOST_COLUMNS).contains(&columns)) {
        return Err(format!("{from_s} s to {until_s} s cannot be shown in {columns} columns").into());
    }
    Ok(Shown { from_s, until_s, columns })
}

/// The runs of a page.
#[derive(Default)]
pub struct Lab {
    runs: BTreeMap<String, Run>,
}

impl Lab {
    /// Answers a request; what the user has to mend is `{"error": {"path", "message", "hint"}}`.
    pub fn ask(&mut self, request: &[u8]) -> Vec<u8> {
        let read = serde_json::from_slice(request).map_err(|error| Refusal::from(format!("is no request: {error}")));
        let answer = read.and_then(|request| self.answer(request));
        answer.unwrap_or_else(|error| format!(r#"{{"error":{}}}"#, text(&error)).into_bytes())
    }

    fn answer(&mut self, request: Request) -> Result<Vec<u8>, Refusal> {
        let json = match request {
            Request::Read { toml } => format!(r#"{{"document":{}}}"#, toml::read(&toml)?.to_json()),
            Request::Write { document, previous } => json!({"toml": toml::write(&document, &previous)}).to_string(),
            Request::Start { run, document, seed, record, excerpt, classes, max_events, max_memory } => {
                self.runs.remove(&run);
                let limits = Limits { events: max_events, memory_bytes: max_memory };
                let (started, made) = start(recorded(document, record), seed, excerpt, &classes, limits)?;
                self.runs.insert(run, made);
                started
            }
            Request::Advance { run, until_s, events } => self.run(&run)?.advance(time(until_s), events)?,
            Request::Show { run, from_s, until_s, columns, facts, others } => {
                let shown = shown(from_s, until_s, columns)?;
                let of_flows = |name: &str| !others.iter().any(|other| other == name);
                return Ok(self.run(&run)?.tracks.message(shown, &facts, of_flows));
            }
            Request::Difference { before, after, from_s, until_s, columns } => {
                let shown = shown(from_s, until_s, columns)?;
                let before = self.runs.get(&before).ok_or_else(unknown)?;
                let after = self.runs.get(&after).ok_or_else(unknown)?;
                return Ok(after.tracks.difference(&before.tracks, shown));
            }
            Request::Statistic { run, series, owner, statistic } => {
                json!({"value": self.run(&run)?.tracks.statistic(&series, owner, &statistic)}).to_string()
            }
            Request::Finish { run } => self.run(&run)?.finish(),
            Request::Layout => algorithm::layout(),
            Request::Forget { run } => json!({"known": self.runs.remove(&run).is_some()}).to_string(),
        };
        Ok(json.into_bytes())
    }

    fn run(&mut self, name: &str) -> Result<&mut Run, Refusal> {
        self.runs.get_mut(name).ok_or_else(unknown)
    }
}

fn unknown() -> Refusal {
    Refusal::from("this run is not known any more".to_owned())
}

/// A scenario that records what the page draws, if it records nothing itself.
fn recorded(document: Document, record: Option<Document>) -> Document {
    let own = document.get("record").cloned().unwrap_or(Document::Table(Vec::new()));
    let nothing = matches!(own.get("series"), None | Some(Document::Null))
        || own.get("series") == Some(&Document::Array(Vec::new()));
    match (record, own) {
        (Some(Document::Table(wanted)), Document::Table(own)) if nothing => {
            // What it says of how often holds.
            let kept = own.is_empty();
            let first = Document::Table(own.into_iter().filter(|(key, _)| key != "series").collect());
            let all = wanted.into_iter().filter(|(key, _)| kept || key == "series");
            document.with("record", all.fold(first, |record, (key, value)| record.with(&key, value)))
        }
        _ => document,
    }
}

/// A run that has not begun, and what the page needs to know of it besides its series.
fn start(
    document: Document,
    seed: u64,
    excerpt: Option<(f64, f64, usize)>,
    classes: &[Class],
    limits: Limits,
) -> Result<(String, Run), Refusal> {
    if document.get("question").or(document.get("compare")).is_some() {
        return Err(ScenarioError::new("", "is a study, not a scenario").with_hint("tonopah study run FILE").into());
    }
    if let Some(path) = file_in(&document, "") {
        let hint = "put its content into the scenario, or run `tonopah serve` in the folder of the file";
        return Err(ScenarioError::new(path, "a page reads no files").with_hint(hint).into());
    }
    let scenario = Scenario::from_json(&document.to_json())?.with(&algorithm::further(classes));
    if let Some(message) = limits.refusal(&scenario, seed)? {
        return Err(message.into());
    }
    let sink =
        excerpt.map(|(from, until, most)| Box::new(Excerpt::new(time(from), time(until), most)) as Box<dyn Sink>);
    let simulation = match sink {
        Some(sink) => Simulation::with_sink(&scenario, seed, sink)?,
        None => Simulation::new(&scenario, seed)?,
    };
    let (resolved, graph) = (simulation.resolved(), simulation.graph());
    let warnings = sim::warnings(&scenario, resolved, graph);
    let flows = &graph.flow[..graph.flow.len().min(MOST_FLOWS as usize)];
    let drawn = if graph.node.len() <= MOST_NODES { text(graph) } else { "null".to_owned() };
    let started = format!(
        r#"{{"resolved":{},"graph":{drawn},"random":{},"warnings":{},"document":{},"flows":{},"flow_count":{}}}"#,
        text(resolved),
        json!(simulation.random_parts()),
        json!(warnings),
        document.to_json(),
        text(&flows),
        graph.flow.len(),
    );
    let world_bytes = simulation.world_bytes();
    Ok((started, Run { simulation: Some(simulation), limits, world_bytes, tracks: Tracks::default() }))
}

/// The first place that names a file.
fn file_in(document: &Document, path: &str) -> Option<String> {
    let joined = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match document {
        Document::Table(entries) => entries.iter().find_map(|(key, value)| match value {
            Document::Text(_) if key == "file" => Some(joined(key)),
            _ => file_in(value, &joined(key)),
        }),
        Document::Array(values) => values.iter().enumerate().find_map(|(i, one)| file_in(one, &format!("{path}[{i}]"))),
        _ => None,
    }
}

impl Run {
    /// Goes on; `{"over", "now_s"}`, at the end with the summary.
    fn advance(&mut self, until: Time, events: u64) -> Result<String, Refusal> {
        let Some(simulation) = self.simulation.as_mut() else { return Ok(r#"{"over":true}"#.to_owned()) };
        // One event more than allowed is enough to know it.
        let most = self.limits.events.map_or(events, |most| most.saturating_sub(simulation.events()).clamp(1, events));
        let over = simulation.advance_until(until, most);
        if let Some(message) = algorithm::take_failure() {
            self.simulation = None;
            return Err(message.into());
        }
        for (name, column) in simulation.take_series() {
            self.tracks.extend(&name.name(), &column);
        }
        if over {
            return Ok(self.finish());
        }
        let now = simulation.now();
        let held = || self.world_bytes + simulation.held_bytes() + self.tracks.held_bytes();
        if let Some(message) = self.limits.exceeded_at(now, simulation.events(), held) {
            self.simulation = None;
            return Err(message.into());
        }
        Ok(format!(r#"{{"over":false,"now_s":{:?}}}"#, now.as_secs_f64()))
    }

    /// Ends it: its summary, and its packet events as lines of JSON.
    fn finish(&mut self) -> String {
        let Some(simulation) = self.simulation.take() else { return r#"{"over":true}"#.to_owned() };
        let outcome = simulation.finish();
        for (name, column) in &outcome.series {
            self.tracks.extend(&name.name(), column);
        }
        let events = json!(outcome.trace.unwrap_or_default());
        format!(r#"{{"over":true,"summary":{},"events":{events}}}"#, text(&outcome.summary))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const WORLD: &str = r#"{"duration":"2s","network":{"kind":"dumbbell","pairs":1,"flows":1,"bottleneck":{"rate":"2Mbps","delay":"10ms","queue":"20p"}}}"#;

    fn ask(lab: &mut Lab, request: &str) -> Value {
        serde_json::from_slice(&lab.ask(request.as_bytes())).unwrap()
    }

    fn begin(lab: &mut Lab, document: &str, limits: &str) -> Value {
        let record = r#"{"every":"change","bin":"50ms","series":["cwnd","queue"]}"#;
        ask(lab, &format!(r#"{{"do":"start","run":"a","seed":1,"document":{document},"record":{record}{limits}}}"#))
    }

    fn to_the_end(lab: &mut Lab) -> Value {
        loop {
            let answer = ask(lab, r#"{"do":"advance","run":"a","until_s":1e9,"events":500}"#);
            if answer["over"] == true || answer.get("error").is_some() {
                return answer;
            }
        }
    }

    #[test]
    fn a_run_in_slices_gives_the_summary_of_the_engine() {
        let mut lab = Lab::default();
        let started = begin(&mut lab, WORLD, "");
        assert_eq!(started["document"]["record"]["series"][0], "cwnd");
        let summary = &to_the_end(&mut lab)["summary"];
        let scenario = Scenario::from_json(&started["document"].to_string()).unwrap();
        assert_eq!(*summary, json!(Simulation::new(&scenario, 1).unwrap().run().summary));
        let cwnd = ask(&mut lab, r#"{"do":"statistic","run":"a","series":"cwnd","owner":0,"statistic":"max"}"#);
        assert!(cwnd["value"].as_f64().unwrap() > 10_000.0, "{cwnd}");
    }

    #[test]
    fn what_is_shown_has_the_peaks_of_every_column() {
        let mut lab = Lab::default();
        begin(&mut lab, WORLD, "");
        to_the_end(&mut lab);
        let shown = |lab: &mut Lab, columns: usize| {
            let request = json!({"do": "show", "run": "a", "from_s": 0.0, "until_s": 2.0, "columns": columns, "facts": "\"run\":\"a\"",
                "others": ["queue"]});
            let message = lab.ask(request.to_string().as_bytes());
            let length = u32::from_le_bytes(message[..4].try_into().unwrap()) as usize;
            let head: Value = serde_json::from_slice(&message[4..4 + length]).unwrap();
            let count = head["columns"][0]["count"].as_u64().unwrap() as usize;
            let floats = message[4 + length..].chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()));
            let values: Vec<f32> = floats.skip(count).take(count).collect();
            (head, values.into_iter().fold(0.0, f32::max))
        };
        let ((whole, peak), (few, same_peak)) = (shown(&mut lab, 4000), shown(&mut lab, 3));
        assert_eq!((&whole["run"], &whole["columns"][0]["name"]), (&json!("a"), &json!("cwnd")));
        assert!(
            few["columns"][0]["count"].as_u64().unwrap() < 10 && whole["columns"][0]["count"].as_u64().unwrap() > 10
        );
        assert_eq!(peak, same_peak);
    }

    #[test]
    fn limits_and_mistakes_are_answers() {
        let mut lab = Lab::default();
        let message = |answer: Value| answer["error"]["message"].as_str().unwrap_or_default().to_owned();
        begin(&mut lab, WORLD, r#","max_events":1000"#);
        assert!(message(to_the_end(&mut lab)).contains("after 1000 events: 1000 events are its limit"));
        let many = WORLD.replace("\"flows\":1", "\"flows\":100000");
        assert!(
            message(begin(&mut lab, &many, r#","max_memory":50000000"#))
                .starts_with("the run was not started: its network")
        );
        begin(&mut lab, WORLD, r#","max_memory":10000"#);
        assert!(message(begin(&mut lab, r#"{"question":"?"}"#, "")).contains("is a study"));
        let file = WORLD.replace("\"2Mbps\"", r#"{"file":"a.csv"}"#);
        assert_eq!(begin(&mut lab, &file, "")["error"]["path"], "network.bottleneck.rate.file");
        assert_eq!(begin(&mut lab, &WORLD.replace("2Mbps", "2Mpbs"), "")["error"]["path"], "network.bottleneck.rate");
        assert!(message(ask(&mut lab, r#"{"do":"finish","run":"b"}"#)).contains("not known"));
        assert!(message(ask(&mut lab, "{")).contains("is no request"));
    }
}
