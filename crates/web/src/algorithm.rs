//! An algorithm in JavaScript behind the congestion-control trait: a class of the page, whose worker calls its methods. Signals and
//! answers are doubles in the memory of the module ([`tcp::cc::doubles`]).

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use sim::scenario::Further;
use tcp::cc::answers::{Answers, Refused};
use tcp::cc::doubles::{
    self, KINDS, ON_ACK, ON_CONGESTION, ON_IDLE, ON_LOST, ON_RECOVERY_END, ON_SENT, ON_TIMER, ON_UNDO, START,
};
use tcp::cc::{self, CongestionControl, Internal, Param, ParamKind, ParamValues, Profile, Requirements, Value, Window};
use tcp::settings::EcnMode;
use tcp::units::{Bytes, Rate, Span, Time};

/// Fields of what the constructor receives; the seed in two halves of 32 bits, the upper first.
pub(crate) const SETUP: [&str; 8] = [
    "now_s",
    "mss_bytes",
    "initial_window_bytes",
    "initial_ssthresh_bytes",
    "handshake_rtt_s",
    "paced",
    "seed_upper",
    "seed_lower",
];

/// What the page says of a class: the attributes that one in Python has.
#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    /// As a scenario names it, FILE.js:CLASS.
    name: String,
    /// Which class of the worker it is: another for another text.
    number: u32,
    #[serde(default)]
    reference: String,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    owns_window: bool,
    #[serde(default)]
    timestamps: bool,
    #[serde(default)]
    ecn: Option<EcnMode>,
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
}

/// A number that a scenario can set.
#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
struct Parameter {
    default: f64,
    #[serde(default)]
    min: Option<f64>,
    #[serde(default)]
    max: Option<f64>,
    #[serde(default)]
    unit: String,
    #[serde(default)]
    doc: String,
}

thread_local! {
    static KNOWN: RefCell<Vec<(Class, &'static cc::Algorithm)>> = const { RefCell::new(Vec::new()) };
    static FAILED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Why an algorithm has failed since the last call, if one has; from then on it is not called.
pub(crate) fn take_failure() -> Option<String> {
    FAILED.take()
}

/// The classes for the engine. An algorithm is never freed, but the same class is made once.
pub(crate) fn further(classes: &[Class]) -> Further {
    let algorithms = classes.iter().map(|class| {
        let same = |known: &Vec<(Class, _)>| known.iter().find(|(one, _)| one == class).map(|(_, made)| *made);
        let made = KNOWN.with_borrow(same).unwrap_or_else(|| algorithm_of(class));
        KNOWN.with_borrow_mut(|known| match same(known) {
            Some(_) => {}
            None => known.push((class.clone(), made)),
        });
        (class.name.clone(), made)
    });
    Further { algorithms: algorithms.collect(), ..Further::default() }
}

/// The names of what is passed, for the worker: it makes objects of them.
pub(crate) fn layout() -> String {
    let (words, view, ack) = (doubles::WORDS, doubles::VIEW, doubles::ACK);
    let (congestion, sent, lost) = (doubles::CONGESTION, doubles::SENT, doubles::LOST);
    let signals = json!({"on_ack": ack, "on_congestion": congestion, "on_sent": sent, "on_lost": lost});
    json!({"kinds": KINDS, "words": words, "setup": SETUP, "view": view, "signals": signals}).to_string()
}

fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn algorithm_of(class: &Class) -> &'static cc::Algorithm {
    let params = class.parameters.iter().map(|(name, parameter)| Param {
        name: leak(name),
        kind: ParamKind::Number {
            min: parameter.min.unwrap_or(f64::NEG_INFINITY),
            max: parameter.max.unwrap_or(f64::INFINITY),
        },
        default: Value::Number(parameter.default),
        unit: leak(&parameter.unit),
        doc: leak(&parameter.doc),
        source: "",
    });
    let (strict, number) = (class.strict, class.number);
    Box::leak(Box::new(cc::Algorithm {
        name: leak(&class.name),
        title: leak(&class.name),
        reference: leak(&class.reference),
        requirements: Requirements {
            owns_window: class.owns_window,
            ecn: class.ecn,
            timestamps: class.timestamps,
            // Whether a class draws is known to it alone.
            random: true,
        },
        starts: None,
        params: Vec::leak(params.collect()),
        profiles: &[Profile { name: "default", set: &[], recovery: None }],
        internals: &[] as &[Internal],
        states: &[],
        build: Box::leak(Box::new(move |values: &ParamValues, setup: &cc::Setup| {
            Script::build(strict, number, values, setup)
        })),
    }))
}

/// What the worker does: an object of the class by number, none if its constructor fails; a call, false if it throws; the end.
pub(crate) trait Page {
    /// Makes an object of a class, of a setup ([`SETUP`]) and the numbers of its parameters, sorted by their names.
    fn create(class: u32, setup: &[f64], parameters: &[f64]) -> Option<u32>;
    /// Calls a method: its place in [`KINDS`], signal, view, and room for window, threshold, timer and pacing rate.
    fn event(object: u32, kind: usize, signal: &[f64], view: &[f64], answers: &mut [f64; 4]) -> bool;
    /// The object is used no more.
    fn end(object: u32);
}

#[cfg(target_arch = "wasm32")]
use crate::memory::Worker as Here;
#[cfg(not(target_arch = "wasm32"))]
struct Here;
#[cfg(not(target_arch = "wasm32"))]
impl Page for Here {
    fn create(_: u32, _: &[f64], _: &[f64]) -> Option<u32> {
        None
    }
    fn event(_: u32, _: usize, _: &[f64], _: &[f64], _: &mut [f64; 4]) -> bool {
        false
    }
    fn end(_: u32) {}
}

/// One end of a connection.
#[derive(Debug)]
struct Script {
    /// Absent once it has failed.
    object: Option<u32>,
    strict: bool,
    mss: Bytes,
    answers: Answers,
}

impl Script {
    fn build(strict: bool, class: u32, values: &ParamValues, setup: &cc::Setup) -> Box<dyn CongestionControl> {
        let given = [
            setup.now.as_secs_f64(),
            setup.mss.as_f64(),
            setup.initial_window.as_f64(),
            doubles::limit(setup.initial_ssthresh),
            setup.handshake_rtt.map_or(f64::NAN, Span::as_secs_f64),
            f64::from(u8::from(setup.paced)),
            (setup.seed >> 32) as f64,
            (setup.seed & 0xffff_ffff) as f64,
        ];
        let parameters: Vec<f64> = values
            .iter()
            .map(|(_, value)| match value {
                Value::Number(number) => number,
                Value::Flag(flag) => f64::from(u8::from(flag)),
            })
            .collect();
        let object = Here::create(class, &given, &parameters);
        let mut script = Script { object, strict, mss: setup.mss, answers: Answers::first(setup) };
        if object.is_none() {
            script.fail(setup.now, "constructor", "");
        }
        script.call(setup.now, START, &[], &[]);
        Box::new(script)
    }

    /// It is not called again, and its answers stay; the page ends the run after its slice.
    fn fail(&mut self, now: Time, method: &str, why: &str) {
        self.object = None;
        FAILED.with_borrow_mut(|failed| {
            failed.get_or_insert_with(|| format!("{method} failed at {now}: {why}").trim_end_matches(": ").to_owned());
        });
    }

    fn call(&mut self, now: Time, kind: usize, signal: &[f64], view: &[f64]) {
        let Some(object) = self.object else { return };
        let mut given = [f64::NAN; 4];
        if !Here::event(object, kind, signal, view, &mut given) {
            return self.fail(now, KINDS[kind], "");
        }
        let answers = Answers::of(given, self.mss);
        match answers.and_then(|answers| answers.check_past(now).map(|()| answers)) {
            Ok(answers) => self.answers = answers,
            Err(Refused { answer, text }) => self.fail(now, answer, &text),
        }
    }

    fn signal(&mut self, view: &cc::View, kind: usize, signal: &[f64]) {
        self.call(view.now, kind, signal, &doubles::view(view));
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.object.into_iter().for_each(Here::end);
    }
}

impl CongestionControl for Script {
    fn on_ack(&mut self, ack: &cc::Ack, view: &cc::View) {
        if ack.says_something() {
            self.signal(view, ON_ACK, &doubles::ack(ack));
        }
    }

    fn on_congestion(&mut self, event: &cc::Congestion, view: &cc::View) {
        self.signal(view, ON_CONGESTION, &doubles::congestion(event));
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.answers.window
    }

    fn on_recovery_end(&mut self, view: &cc::View) {
        self.signal(view, ON_RECOVERY_END, &[]);
    }

    fn on_undo(&mut self, before: Window, view: &cc::View) {
        self.signal(view, ON_UNDO, &[before.cwnd.as_f64(), doubles::limit(before.ssthresh)]);
    }

    fn on_sent(&mut self, sent: &cc::Sent) {
        self.call(sent.now, ON_SENT, &doubles::sent(sent), &[]);
    }

    fn on_lost(&mut self, lost: &cc::Lost, view: &cc::View) {
        self.signal(view, ON_LOST, &doubles::lost(lost));
    }

    fn on_idle(&mut self, idle: Span, view: &cc::View) {
        self.signal(view, ON_IDLE, &[idle.as_secs_f64()]);
    }

    fn on_timer(&mut self, view: &cc::View) {
        self.signal(view, ON_TIMER, &[]);
        if let Err(Refused { answer, text }) = self.answers.check_timer(view.now) {
            self.answers.next_timer = None;
            self.fail(view.now, answer, &text);
        }
    }

    fn is_strict(&self) -> bool {
        self.strict
    }

    fn next_timer(&self) -> Option<Time> {
        self.answers.next_timer
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.answers.pacing_rate
    }
}
