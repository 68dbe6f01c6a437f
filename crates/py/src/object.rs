//! An object of a class in Python behind the congestion-control trait.
//!
//! After every call that may change them, the object's answers (window, rate, timers) are queried once and stored, so that
//! reading the window costs nothing. A method that does nothing is not called. An exception unwinds to the start of the run.

use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tcp::cc::answers::{self, Answers};
use tcp::cc::{self, CongestionControl, ParamValues, Window};
use tcp::units::{Bytes, Rate, Span, Time};

use crate::class::Class;
use crate::native::Native;
use crate::signals;

/// The methods of an object; those that do nothing are absent.
#[derive(Debug)]
struct Methods {
    on_ack: Py<PyAny>,
    on_congestion: Py<PyAny>,
    window: Py<PyAny>,
    begin: Option<Py<PyAny>>,
    on_recovery_end: Option<Py<PyAny>>,
    on_undo: Option<Py<PyAny>>,
    on_sent: Option<Py<PyAny>>,
    on_lost: Option<Py<PyAny>>,
    on_idle: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    next_timer: Option<Py<PyAny>>,
    pacing_rate: Option<Py<PyAny>>,
    observe: Option<Py<PyAny>>,
    /// The object itself, where attributes are shown.
    object: Option<Py<PyAny>>,
}

/// An object of the class, for one connection.
pub(crate) struct Object {
    class: &'static Class,
    methods: Methods,
    mss: Bytes,
    now: Time,
    answers: Answers,
}

impl Methods {
    fn of(object: &Bound<'_, PyAny>, shows: bool) -> PyResult<Methods> {
        let py = object.py();
        let base = py.import("tonopah.cc.base")?.getattr("CongestionControl")?;
        // The base class says of its own methods which do nothing.
        let idle: Vec<String> = base.getattr("does_nothing")?.extract()?;
        let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            let of_class = object.get_type().getattr_opt(name)?;
            let inherited =
                idle.iter().any(|n| n == name) && of_class.is_some_and(|m| base.getattr(name).is_ok_and(|b| b.is(&m)));
            Ok(object.getattr_opt(name)?.filter(|_| !inherited).map(Bound::unbind))
        };
        Ok(Methods {
            on_ack: object.getattr("on_ack")?.unbind(),
            on_congestion: object.getattr("on_congestion")?.unbind(),
            window: object.getattr("window")?.unbind(),
            begin: method("begin")?,
            on_recovery_end: method("on_recovery_end")?,
            on_undo: method("on_undo")?,
            on_sent: method("on_sent")?,
            on_lost: method("on_lost")?,
            on_idle: method("on_idle")?,
            on_timer: method("on_timer")?,
            next_timer: method("next_timer")?,
            pacing_rate: method("pacing_rate")?,
            observe: method("observe")?,
            object: shows.then(|| object.clone().unbind()),
        })
    }
}

impl Object {
    pub(crate) fn build(class: &'static Class, values: &ParamValues, setup: &cc::Setup) -> Box<dyn CongestionControl> {
        Python::attach(|py| {
            let made = class.create(py, values, setup).and_then(|object| {
                // A compiled class says so; its methods in Python are then not called.
                Ok(match Native::of(class, &object, setup)? {
                    Some(native) => Err(native),
                    None => Ok(Methods::of(&object, !class.shown.is_empty())?),
                })
            });
            let methods = match made {
                Ok(Ok(methods)) => methods,
                Ok(Err(native)) => return native.started() as Box<dyn CongestionControl>,
                Err(error) => class.raise("__init__", setup.now, error),
            };
            let answers = Answers::first(setup);
            let mut object = Object { class, methods, mss: setup.mss, now: setup.now, answers };
            object.query_all(py);
            Box::new(object)
        })
    }

    /// Calls a method that may change the answers, then queries them.
    fn call<A>(&mut self, now: Time, name: &'static str, method: fn(&Methods) -> Option<&Py<PyAny>>, args: A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        self.now = now;
        if method(&self.methods).is_none() {
            return;
        }
        Python::attach(|py| {
            let Some(method) = method(&self.methods) else { return };
            if let Err(error) = method.call1(py, args) {
                self.class.raise(name, now, error);
            }
            self.query_all(py);
        });
    }

    fn query_all(&mut self, py: Python<'_>) {
        let Methods { window, next_timer, pacing_rate, .. } = &self.methods;
        let mss = self.mss;
        let answers = Answers {
            window: self.query(py, "window", window, |answer| window_of(answer, mss)),
            next_timer: self.query_if(py, "next_timer", next_timer, |s| Ok(Time::ZERO + seconds(s, 0.0)?)),
            pacing_rate: self.query_if(py, "pacing_rate", pacing_rate, rate),
        };
        self.class.accept(answers.check_past(self.now), self.now);
        self.answers = answers;
    }

    fn query<T>(
        &self,
        py: Python<'_>,
        name: &'static str,
        method: &Py<PyAny>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> T {
        let answer = method.call0(py).and_then(|answer| read(answer.bind(py)));
        answer.unwrap_or_else(|error| self.class.raise(name, self.now, error))
    }

    fn query_if<T>(
        &self,
        py: Python<'_>,
        name: &'static str,
        method: &Option<Py<PyAny>>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let read = |answer: &Bound<'_, PyAny>| if answer.is_none() { Ok(None) } else { read(answer).map(Some) };
        method.as_ref().and_then(|method| self.query(py, name, method, read))
    }
}

fn wrong(answer: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let shown = answer.repr().map_or_else(|_| "this value".to_owned(), |text| text.to_string());
    PyValueError::new_err(format!("{shown} is not {allowed}"))
}

fn window_of(answer: &Bound<'_, PyAny>, mss: Bytes) -> PyResult<Window> {
    let pair = answer.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
    let window = pair.and_then(|pair| {
        let ssthresh = pair.get_item(1).ok()?;
        let ssthresh = if ssthresh.is_none() { None } else { Some(ssthresh.extract::<f64>().ok()?) };
        answers::window(pair.get_item(0).ok()?.extract::<f64>().ok()?, ssthresh, mss)
    });
    window.ok_or_else(|| wrong(answer, &answers::allowed_window(mss)))
}

fn seconds(answer: &Bound<'_, PyAny>, least: f64) -> PyResult<Span> {
    let number = answer.extract::<f64>().ok().and_then(|number| answers::seconds(number, least));
    number.ok_or_else(|| wrong(answer, &answers::allowed_seconds(least)))
}

fn rate(answer: &Bound<'_, PyAny>) -> PyResult<Rate> {
    answer.extract::<f64>().ok().and_then(answers::rate).ok_or_else(|| wrong(answer, answers::ALLOWED_RATE))
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({:?})", self.class.name, self.answers)
    }
}

impl CongestionControl for Object {
    fn on_ack(&mut self, ack: &cc::Ack, view: &cc::View) {
        if !ack.says_something() {
            return;
        }
        self.call(view.now, "on_ack", |m| Some(&m.on_ack), (signals::Ack::from(ack), signals::View::from(view)));
    }

    fn on_congestion(&mut self, event: &cc::Congestion, view: &cc::View) {
        let args = (signals::Congestion::from(event), signals::View::from(view));
        self.call(view.now, "on_congestion", |m| Some(&m.on_congestion), args);
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.answers.window
    }

    fn begin(&mut self, window: Window) {
        if window != self.answers.window {
            let given = (window.cwnd.0, signals::Limit::from(window.ssthresh));
            self.call(self.now, "begin", |m| m.begin.as_ref(), (given,));
        }
    }

    fn on_recovery_end(&mut self, view: &cc::View) {
        self.call(view.now, "on_recovery_end", |m| m.on_recovery_end.as_ref(), (signals::View::from(view),));
    }

    fn on_undo(&mut self, before: Window, view: &cc::View) {
        let before = (before.cwnd.0, signals::Limit::from(before.ssthresh));
        self.call(view.now, "on_undo", |m| m.on_undo.as_ref(), (before, signals::View::from(view)));
    }

    fn on_sent(&mut self, sent: &cc::Sent) {
        self.call(sent.now, "on_sent", |m| m.on_sent.as_ref(), (signals::Sent::from(sent),));
    }

    fn on_lost(&mut self, lost: &cc::Lost, view: &cc::View) {
        self.call(view.now, "on_lost", |m| m.on_lost.as_ref(), (signals::Lost::from(lost), signals::View::from(view)));
    }

    fn on_idle(&mut self, idle: Span, view: &cc::View) {
        let args = (idle.as_secs_f64(), signals::View::from(view));
        self.call(view.now, "on_idle", |m| m.on_idle.as_ref(), args);
    }

    fn on_timer(&mut self, view: &cc::View) {
        self.call(view.now, "on_timer", |m| m.on_timer.as_ref(), (signals::View::from(view),));
        self.class.accept(self.answers.check_timer(view.now), view.now);
    }

    fn is_strict(&self) -> bool {
        self.class.strict
    }

    fn next_timer(&self) -> Option<Time> {
        self.answers.next_timer
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.answers.pacing_rate
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        let Methods { observe, object, .. } = &self.methods;
        Python::attach(|py| {
            for (name, value) in observe.iter().flat_map(|method| self.query(py, "observe", method, named_values)) {
                if self.class.observed_too_many(&name) {
                    let text = format!("{name:?} is one name too many, or no identifier of up to 40 letters");
                    self.class.refuse_observed(self.now, text);
                }
                self.show(py, self.class.intern(&name), value.bind(py), put);
            }
            for name in object.iter().flat_map(|_| &self.class.shown).filter(|_| observe.is_none()) {
                let value = object.as_ref().map(|object| object.bind(py).getattr(*name));
                match value {
                    Some(Ok(value)) => self.show(py, name, &value, put),
                    Some(Err(error)) => self.class.raise("observe", self.now, error),
                    None => {}
                }
            }
        });
    }
}

/// What `observe` gives, in its order.
fn named_values(answer: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Py<PyAny>)>> {
    let pairs = answer.call_method0("items")?.try_iter()?;
    pairs.map(|pair| pair?.extract()).collect()
}

impl Object {
    /// Passes on a value: a finite number, or of `state` a word; what is absent is left out.
    fn show(
        &self,
        py: Python<'_>,
        name: &'static str,
        value: &Bound<'_, PyAny>,
        put: &mut dyn FnMut(&'static str, f64),
    ) {
        let word =
            value.extract::<String>().ok().and_then(|word| self.class.states.iter().position(|known| *known == word));
        let number = word.filter(|_| name == "state").map(|index| index as f64).or_else(|| value.extract::<f64>().ok());
        match number {
            Some(number) if number.is_finite() => put(name, number),
            _ if value.is_none() => {}
            _ => {
                let states =
                    if name == "state" && !self.class.states.is_empty() { " or a word of `states`" } else { "" };
                let shown = wrong(value, &format!("a finite number{states}")).value(py).to_string();
                self.class.refuse_observed(self.now, format!("{name:?}: {shown}"));
            }
        }
    }
}
