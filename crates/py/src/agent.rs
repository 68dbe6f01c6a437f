//! A run that stops at each interval of one flow, whose window the caller then sets: for environments of reinforcement learning.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sim::scenario::Further;
use sim::{Scenario, Simulation, Summary};
use tcp::cc::{self, CongestionControl, ParamValues, Profile, Requirements, Setup, Window};
use tcp::units::{Bytes, Span, Time};

use crate::failure::{Failure, guarded};
use crate::summary::RunSummary;

/// The name by which a scenario asks for the agent.
const AGENT: &str = "tonopah.gym:Agent";

/// What is returned of an interval; NaN is absent. The last ones are counts of `Interval`.
const FIELDS: [&str; 13] = [
    "now_s",
    "mss_bytes",
    "cwnd_bytes",
    "pipe_bytes",
    "min_rtt_s",
    "srtt_s",
    "acked_bytes",
    "lost_bytes",
    "sent_bytes",
    "marked_bytes",
    "rtt_sum_s",
    "rtt_samples",
    "timeouts",
];

/// What is counted in an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    acked_bytes: f64,
    lost_bytes: f64,
    sent_bytes: f64,
    marked_bytes: f64,
    rtt_sum_s: f64,
    rtt_samples: f64,
    timeouts: f64,
}

/// What the agent of a flow and the caller share.
#[derive(Debug)]
struct Shared {
    interval: Span,
    /// The window that the caller has set; that of the connection before the first.
    cwnd: Option<Bytes>,
    mss: Bytes,
    counted: Interval,
    min_rtt: Option<Span>,
    srtt: Option<Span>,
    pipe: Bytes,
    /// An interval is over.
    due: bool,
}

impl Shared {
    fn new(interval: Span) -> Common {
        Arc::new(Mutex::new(Shared {
            interval,
            cwnd: None,
            mss: Bytes::ZERO,
            counted: Interval::default(),
            min_rtt: None,
            srtt: None,
            pipe: Bytes::ZERO,
            due: false,
        }))
    }

    fn fields(&self, now: Time) -> [f64; FIELDS.len()] {
        let span = |span: Option<Span>| span.map_or(f64::NAN, Span::as_secs_f64);
        let counted = &self.counted;
        [
            now.as_secs_f64(),
            self.mss.as_f64(),
            self.cwnd.map_or(f64::NAN, Bytes::as_f64),
            self.pipe.as_f64(),
            span(self.min_rtt),
            span(self.srtt),
            counted.acked_bytes,
            counted.lost_bytes,
            counted.sent_bytes,
            counted.marked_bytes,
            counted.rtt_sum_s,
            counted.rtt_samples,
            counted.timeouts,
        ]
    }
}

type Common = Arc<Mutex<Shared>>;

fn lock(common: &Common) -> MutexGuard<'_, Shared> {
    common.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

thread_local! {
    /// Whose agents are being built: connections are established while their run advances, in this thread.
    static CURRENT: RefCell<Option<Common>> = const { RefCell::new(None) };
}

/// One end of the agent's connection; the end that receives never sends data and counts nothing.
#[derive(Debug)]
struct Agent {
    common: Common,
    window: Window,
    next: Option<Time>,
}

impl Agent {
    fn build(_: &ParamValues, setup: &Setup) -> Box<dyn CongestionControl> {
        let known = CURRENT.with(|current| current.borrow().clone());
        // Without a run, as when the scenario is checked, it counts for nobody.
        let common = known.unwrap_or_else(|| Shared::new(Span::from_millis(100)));
        lock(&common).mss = setup.mss;
        let window = Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh };
        Box::new(Agent { common, window, next: None })
    }
}

impl CongestionControl for Agent {
    fn on_ack(&mut self, ack: &cc::Ack, view: &cc::View) {
        if self.next.is_none() {
            return;
        }
        let mut shared = lock(&self.common);
        shared.counted.acked_bytes += ack.acked.as_f64();
        shared.counted.marked_bytes += ack.ce.as_f64();
        if let Some(rtt) = ack.rtt {
            shared.counted.rtt_sum_s += rtt.latest.as_secs_f64();
            shared.counted.rtt_samples += 1.0;
        }
        shared.min_rtt = view.min_rtt;
        shared.srtt = view.srtt;
        shared.pipe = view.pipe;
    }

    fn on_congestion(&mut self, event: &cc::Congestion, _view: &cc::View) {
        if event.cause == cc::Cause::Timeout {
            lock(&self.common).counted.timeouts += 1.0;
        }
    }

    fn window(&mut self) -> Window {
        match (self.next, lock(&self.common).cwnd) {
            (Some(_), Some(cwnd)) => Window { cwnd, ..self.window },
            _ => self.window,
        }
    }

    fn on_undo(&mut self, _before: Window, _view: &cc::View) {}

    fn on_sent(&mut self, sent: &cc::Sent) {
        let mut shared = lock(&self.common);
        shared.counted.sent_bytes += sent.bytes.as_f64();
        self.next.get_or_insert(sent.now + shared.interval);
    }

    fn on_lost(&mut self, lost: &cc::Lost, _view: &cc::View) {
        lock(&self.common).counted.lost_bytes += lost.bytes.as_f64();
    }

    fn on_timer(&mut self, view: &cc::View) {
        let mut shared = lock(&self.common);
        shared.due = true;
        self.next = Some(view.now + shared.interval);
    }

    fn next_timer(&self) -> Option<Time> {
        self.next
    }
}

/// The agent as the registry of algorithms has the others.
fn agent() -> &'static cc::Algorithm {
    static ALGORITHM: OnceLock<cc::Algorithm> = OnceLock::new();
    ALGORITHM.get_or_init(|| cc::Algorithm {
        name: AGENT,
        title: "An agent outside the run",
        reference: "tonopah.gym",
        requirements: Requirements { owns_window: true, ..Requirements::NONE },
        starts: None,
        params: &[],
        profiles: &[Profile { name: "default", set: &[], recovery: None }],
        internals: &[],
        states: &[],
        build: &Agent::build,
    })
}

/// A run of a scenario (JSON text), of which one flow has `cc = { python = "tonopah.gym:Agent" }`.
#[pyclass(unsendable, module = "tonopah._core")]
pub(crate) struct AgentRun {
    simulation: Option<Simulation>,
    common: Common,
    summary: Option<Summary>,
}

#[pymethods]
impl AgentRun {
    /// Builds the world; nothing has happened yet.
    #[new]
    fn new(py: Python<'_>, scenario: &str, seed: u64, interval_s: f64) -> PyResult<AgentRun> {
        let common = Shared::new(Span::from_secs_f64(interval_s));
        let algorithms = BTreeMap::from([(AGENT.to_owned(), agent())]);
        let further = Further { algorithms, ..Further::default() };
        let simulation = guarded(|| Ok(Simulation::new(&Scenario::from_json(scenario)?.with(&further), seed)?));
        Ok(AgentRun { simulation: Some(simulation.map_err(|e| e.to_py(py))?), common, summary: None })
    }

    /// Sets the window, unless it is None, goes on to the end of an interval, and returns whether the run is over, and `AGENT_FIELDS`.
    fn advance(&mut self, py: Python<'_>, cwnd_bytes: Option<f64>) -> PyResult<(bool, [f64; FIELDS.len()])> {
        let Some(mut simulation) = self.simulation.take() else {
            return Err(PyRuntimeError::new_err("the run is over: reset the environment"));
        };
        {
            let mut shared = lock(&self.common);
            if let Some(cwnd) = cwnd_bytes {
                shared.cwnd = Some(Bytes(cwnd as u64).max(shared.mss));
            }
            shared.due = false;
            shared.counted = Interval::default();
        }
        let before = CURRENT.with(|current| current.replace(Some(self.common.clone())));
        let advanced = guarded(|| {
            // One event at a time: what comes after the end of the interval belongs to the next one.
            while !simulation.advance(1) {
                if lock(&self.common).due {
                    return Ok((simulation.now(), Some(simulation), None));
                }
            }
            let now = simulation.now();
            Ok::<_, Failure>((now, None, Some(simulation.finish())))
        });
        CURRENT.with(|current| current.replace(before));
        let (now, simulation, outcome) = advanced.map_err(|e| e.to_py(py))?;
        self.simulation = simulation;
        self.summary = outcome.map(|outcome| outcome.summary);
        Ok((self.simulation.is_none(), lock(&self.common).fields(now)))
    }

    /// The summary of the run when it is over, once.
    fn summary(&mut self) -> Option<RunSummary> {
        self.summary.take().map(RunSummary)
    }
}

/// Adds the class and the names of what it returns.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("AGENT_FIELDS", FIELDS.to_vec())?;
    module.add_class::<AgentRun>()
}
