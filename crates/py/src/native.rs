//! Compiled code behind the congestion-control trait: a C function that is called for each event, with the signals as doubles
//! (`tcp::cc::doubles`) and a state. `tonopah.compiled` makes such functions from classes in Python, with a state of doubles that is
//! kept here; a library of the user (`cc/library.py`) brings one, with a state that it keeps itself.
//!
//! Unsafe code of the project is the call of that function, of the one by which a library shows its variables, what `floating.rs`
//! declares, and `transport.rs`. What they may do is the interface's promise: to read `signal` and `view`, to read and write `state` and
//! `answers`, within their lengths and during the call only.

use std::ptr;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tcp::cc::answers::Answers;
use tcp::cc::doubles::{
    self, KINDS, ON_ACK, ON_CONGESTION, ON_IDLE, ON_LOST, ON_RECOVERY_END, ON_SENT, ON_TIMER, ON_UNDO, START,
};
use tcp::cc::{self, CongestionControl, Window};
use tcp::units::{Bytes, Rate, Span, Time};

use crate::class::Class;
use crate::floating;
use crate::transport;

/// Version of the interface: kinds, signals, answers.
const VERSION: u32 = 3;

/// What is called: the kind of the event by its place in `KINDS`, state, signal, view, answers.
type Event = unsafe extern "C" fn(i32, *mut f64, *const f64, *const f64, *mut f64);

/// What shows the variables: state, a double for each.
type Observe = unsafe extern "C" fn(*const f64, *mut f64);

/// Answers, NaN where there is none; `done` is set to 1 when the call has come to its end.
const ANSWERS: [&str; 5] = ["cwnd_bytes", "ssthresh_bytes", "next_timer_s", "pacing_rate_bps", "done"];
const DONE: usize = 4;

/// The code and state of one end of a connection.
pub(crate) struct Native {
    class: &'static Class,
    event: Event,
    /// The kinds of events that are called, as bits.
    wanted: u32,
    state: State,
    mss: Bytes,
    now: Time,
    answers: Answers,
    shown: Shown,
    /// The object in Python; its class keeps the code.
    _owner: Py<PyAny>,
}

/// What the code keeps between two calls.
#[derive(FromPyObject)]
enum State {
    /// The address of what a library keeps; the object in Python frees it.
    Library(usize),
    Doubles(Vec<f64>),
}

/// What the code shows of itself.
#[derive(Default)]
struct Shown {
    /// The function of a library that fills in the values; absent if they stand in the state.
    observe: Option<Observe>,
    /// Names and places of the values.
    places: Vec<(&'static str, usize)>,
    /// The values of `state` in a state of doubles, by the number of its word; empty where it is that number.
    words: Vec<f64>,
}

impl Shown {
    /// Of an object that says so: an address or 0, names and places, values of words.
    fn of(class: &Class, object: &Bound<'_, PyAny>) -> PyResult<Shown> {
        let Some(said) = object.getattr_opt("native_internals")? else { return Ok(Shown::default()) };
        let (address, places, words): (usize, Vec<(String, usize)>, Vec<f64>) = said.extract()?;
        // SAFETY: who sets `native_internals` promises such a function at this address, or none, as for `native_entry`.
        let observe = (address != 0).then(|| unsafe { std::mem::transmute::<usize, Observe>(address) });
        let places = places.into_iter().map(|(name, place)| (class.intern(&name), place)).collect();
        Ok(Shown { observe, places, words })
    }
}

impl State {
    fn pointer(&mut self) -> *mut f64 {
        match self {
            State::Library(address) => ptr::with_exposed_provenance_mut(*address),
            State::Doubles(doubles) => doubles.as_mut_ptr(),
        }
    }
}

impl Native {
    /// The code that an object names in `native_entry`: the address of the function, the events that it wants, and the first state.
    pub(crate) fn of(
        class: &'static Class,
        object: &Bound<'_, PyAny>,
        setup: &cc::Setup,
    ) -> PyResult<Option<Box<Native>>> {
        let Some(entry) = object.getattr_opt("native_entry")? else { return Ok(None) };
        let (address, wanted, state): (usize, u32, State) = entry.extract()?;
        if address == 0 {
            return Err(PyValueError::new_err("native_entry has no function"));
        }
        // SAFETY: who sets `native_entry` promises a function of this type at this address for as long as its object lives.
        let event = unsafe { std::mem::transmute::<usize, Event>(address) };
        let owner = object.clone().unbind();
        Ok(Some(Box::new(Native {
            class,
            event,
            wanted,
            state,
            mss: setup.mss,
            now: setup.now,
            answers: Answers::first(setup),
            shown: Shown::of(class, object)?,
            _owner: owner,
        })))
    }

    /// Asks for the first answers.
    pub(crate) fn started(mut self: Box<Self>) -> Box<Self> {
        self.enter(START, &[], ptr::null());
        self
    }

    fn call(&mut self, kind: usize, signal: &[f64], view: &cc::View) {
        self.now = view.now;
        if self.wanted & (1 << kind) != 0 {
            self.enter(kind, signal, doubles::view(view).as_ptr());
        }
    }

    fn enter(&mut self, kind: usize, signal: &[f64], view: *const f64) {
        let mut given = [f64::NAN; ANSWERS.len()];
        if let State::Library(_) = self.state {
            // It has no exception that could end a call early.
            given[DONE] = 1.0;
        }
        transport::note_call(transport::EVENT, self.now, KINDS[kind], ptr::null_mut());
        // SAFETY: see the head of this file; `view` is null or an array that lives until the end of the caller's statement.
        unsafe { (self.event)(kind as i32, self.state.pointer(), signal.as_ptr(), view, given.as_mut_ptr()) };
        transport::note_return();
        if let State::Library(_) = self.state {
            floating::set_default();
        }
        let [cwnd, ssthresh, next_timer, pacing_rate, done] = given;
        if done != 1.0 {
            let text = "compiled code did not come to its end (an exception that it does not pass on); uncompiled it says where";
            self.class.raise(KINDS[kind], self.now, PyRuntimeError::new_err(text));
        }
        let answers = Answers::of([cwnd, ssthresh, next_timer, pacing_rate], self.mss);
        let answers = answers.and_then(|answers| answers.check_past(self.now).map(|()| answers));
        self.answers = self.class.accept(answers, self.now);
    }
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({:?})", self.class.name, self.answers)
    }
}

impl CongestionControl for Native {
    fn on_ack(&mut self, ack: &cc::Ack, view: &cc::View) {
        if ack.says_something() {
            self.call(ON_ACK, &doubles::ack(ack), view);
        }
    }

    fn on_congestion(&mut self, event: &cc::Congestion, view: &cc::View) {
        self.call(ON_CONGESTION, &doubles::congestion(event), view);
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.answers.window
    }

    fn on_recovery_end(&mut self, view: &cc::View) {
        self.call(ON_RECOVERY_END, &[], view);
    }

    fn on_undo(&mut self, before: Window, view: &cc::View) {
        self.call(ON_UNDO, &[before.cwnd.0 as f64, doubles::limit(before.ssthresh)], view);
    }

    fn on_sent(&mut self, sent: &cc::Sent) {
        self.now = sent.now;
        if self.wanted & (1 << ON_SENT) != 0 {
            self.enter(ON_SENT, &doubles::sent(sent), ptr::null());
        }
    }

    fn on_lost(&mut self, lost: &cc::Lost, view: &cc::View) {
        self.call(ON_LOST, &doubles::lost(lost), view);
    }

    fn on_idle(&mut self, idle: Span, view: &cc::View) {
        self.call(ON_IDLE, &[idle.as_secs_f64()], view);
    }

    fn on_timer(&mut self, view: &cc::View) {
        self.call(ON_TIMER, &[], view);
        self.class.accept(self.answers.check_timer(view.now), view.now);
    }

    fn is_strict(&self) -> bool {
        self.class.strict
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        let Shown { observe, places, words } = &self.shown;
        let mut filled = Vec::new();
        let values = match (&self.state, observe) {
            (State::Library(address), Some(observe)) => {
                filled.resize(places.len(), f64::NAN);
                // SAFETY: see the head of this file; the array has a place for each variable.
                unsafe { observe(ptr::with_exposed_provenance(*address), filled.as_mut_ptr()) };
                floating::set_default();
                &filled
            }
            (State::Doubles(doubles), _) => doubles,
            (State::Library(_), None) => return,
        };
        for (name, place) in places {
            let value = values[*place];
            let word = words.iter().position(|word| *name == "state" && *word == value);
            let value = word.map_or(value, |index| index as f64);
            if value.is_infinite() {
                self.class.refuse_observed(self.now, format!("{name:?}: {value} is not a finite number"));
            }
            if !value.is_nan() {
                put(name, value);
            }
        }
    }

    fn next_timer(&self) -> Option<Time> {
        self.answers.next_timer
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.answers.pacing_rate
    }
}

/// Adds what describes the interface: its version, and the names of kinds, answers and fields in their order.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("NATIVE_VERSION", VERSION)?;
    let layout = pyo3::types::PyDict::new(module.py());
    layout.set_item("kinds", KINDS.to_vec())?;
    layout.set_item("answers", ANSWERS.to_vec())?;
    layout.set_item("words", doubles::WORDS.to_vec())?;
    layout.set_item("view", doubles::VIEW.to_vec())?;
    layout.set_item("on_ack", doubles::ACK.to_vec())?;
    layout.set_item("on_congestion", doubles::CONGESTION.to_vec())?;
    layout.set_item("on_sent", doubles::SENT.to_vec())?;
    layout.set_item("on_lost", doubles::LOST.to_vec())?;
    module.add("NATIVE_LAYOUT", layout)
}
