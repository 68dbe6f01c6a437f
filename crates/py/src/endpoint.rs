//! One TCP endpoint driven by hand: the caller is its peer, its application and its clock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyList};
use sim::ScenarioError;
use sim::scenario::{Further, TcpOptions};
use tcp::settings::ProfileName;
use tcp::units::{Bytes, Span, Time};
use tcp::{Connection, Event, Segment, Snapshot, TcpConfig};

use crate::algorithm::{self, Algorithms};
use crate::failure::{Failure, guarded};
use crate::segment;

/// Maximum of one write; more than any test sends.
const MAX_BYTES: i64 = 1 << 40;
/// Maximum time, about 31 years: times stay exact to about a nanosecond.
const MAX_SECONDS: f64 = 1e9;
/// Number of deadlines after which Python signals are checked.
const DEADLINES: usize = 10_000;
/// Maximum number of segments sent on one input; an endpoint that sends more at one instant would never stop.
const MAX_SEGMENTS: usize = 100_000;

/// A connection with its clock, and the segments and events since the last query.
struct Hand {
    connection: Connection,
    profile: ProfileName,
    config: TcpConfig,
    now: Time,
    sent: Vec<(Time, Segment)>,
    events: Vec<(Time, Event)>,
}

/// A TCP endpoint driven by hand. `tonopah.Endpoint` is the form to use.
#[pyclass(frozen, module = "tonopah._core")]
pub(crate) struct Endpoint(Mutex<Hand>);

impl Hand {
    fn new(
        tcp: &str,
        further: &Further,
        auto_read: bool,
        open: fn(TcpConfig) -> Connection,
    ) -> Result<Hand, ScenarioError> {
        let options = TcpOptions::from_json(tcp, "tcp")?.with(further);
        let config = TcpConfig { auto_read, ..options.resolve("tcp")? };
        let profile = options.profile.unwrap_or_default();
        let connection = open(config.clone());
        let mut hand = Hand { connection, profile, config, now: Time::ZERO, sent: Vec::new(), events: Vec::new() };
        hand.drain();
        Ok(hand)
    }

    /// Changes socket options; the settings are checked as in a scenario.
    fn set(&mut self, settings: &str, cork: Option<bool>) -> Result<(), ScenarioError> {
        let mut options = TcpOptions::from_json(settings, "set")?;
        options.mss = Some(self.config.mss);
        let changed = options.resolve("set")?;
        if options.nagle.is_some() {
            self.config.nagle = changed.nagle;
            self.connection.set_nagle(changed.nagle);
        }
        if options.send_buffer.is_some() {
            self.config.send_buffer = changed.send_buffer;
            self.connection.set_send_buffer(changed.send_buffer);
        }
        if options.recv_buffer.is_some() {
            self.config.recv_buffer = changed.recv_buffer;
            self.connection.set_recv_buffer(changed.recv_buffer);
        }
        if options.user_timeout.is_some() {
            self.config.user_timeout = changed.user_timeout;
            self.connection.set_user_timeout(self.now, changed.user_timeout);
        }
        if let Some(cork) = cork {
            self.connection.set_cork(cork);
        }
        self.drain();
        Ok(())
    }

    /// Collects the segments and events of the connection after an input.
    fn drain(&mut self) {
        let now = self.now;
        let before = self.sent.len();
        while let Some(segment) = self.connection.poll_segment(now) {
            self.sent.push((now, segment));
            assert!(self.sent.len() - before < MAX_SEGMENTS, "{MAX_SEGMENTS} segments at once, at {now}");
        }
        while let Some(event) = self.connection.poll_event() {
            self.events.push((now, event));
        }
    }

    /// Advances to `to`, or to the last of [`DEADLINES`] deadlines on the way; true if `to` is reached.
    fn advance(&mut self, to: Time) -> bool {
        for _ in 0..DEADLINES {
            let Some(at) = self.connection.next_timeout().filter(|at| *at <= to) else {
                self.now = to;
                return true;
            };
            self.now = self.now.max(at);
            self.connection.on_timeout(self.now);
            self.drain();
            let next = self.connection.next_timeout();
            assert!(next.is_none_or(|next| next > self.now), "the timer due at {at} does not go away");
        }
        false
    }
}

impl Endpoint {
    fn open(
        py: Python<'_>,
        tcp: &str,
        auto_read: bool,
        algorithms: Algorithms,
        open: fn(TcpConfig) -> Connection,
    ) -> PyResult<Endpoint> {
        let further = algorithm::further(algorithms);
        let hand = guarded(|| Ok(Hand::new(tcp, &further, auto_read, open)?)).map_err(|e| e.to_py(py))?;
        Ok(Endpoint(Mutex::new(hand)))
    }

    /// Runs `work` on the connection. After a broken invariant every further call is refused.
    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Hand) -> T) -> PyResult<T> {
        let done = catch_unwind(AssertUnwindSafe(|| {
            // Detached while it waits: another thread may be in an algorithm in Python.
            let mut hand = self.0.lock_py_attached(py).map_err(|_| "this endpoint has failed before".to_owned())?;
            Ok(work(&mut hand))
        }));
        done.map_or_else(|panic| Err(Failure::of(panic)), |done| done.map_err(Failure::Bug)).map_err(|e| e.to_py(py))
    }

    /// The application acts on the connection.
    fn act(&self, py: Python<'_>, act: fn(&mut Connection, Time)) -> PyResult<()> {
        self.with(py, |hand| {
            act(&mut hand.connection, hand.now);
            hand.drain();
        })
    }

    /// Advances the clock.
    fn go_to(&self, py: Python<'_>, to: Time) -> PyResult<()> {
        while !self.with(py, |hand| hand.advance(to))? {
            py.check_signals()?;
        }
        Ok(())
    }
}

/// A time from 0 to [`MAX_SECONDS`] seconds.
fn seconds(value: &Bound<'_, PyAny>, field: &str) -> PyResult<Span> {
    let number = value.extract::<f64>().ok().filter(|number| (0.0..=MAX_SECONDS).contains(number));
    let allowed = || segment::wrong(value.py(), field, value, &format!("seconds from 0 to {MAX_SECONDS:e}"));
    number.map(Span::from_secs_f64).ok_or_else(allowed)
}

#[pymethods]
impl Endpoint {
    /// Active open: its SYN is sent immediately. `tcp` is JSON text, as under `tcp` in a scenario; without `auto_read` only
    /// `read` reads.
    #[staticmethod]
    #[pyo3(signature = (tcp, auto_read, algorithms = None))]
    fn connect(py: Python<'_>, tcp: &str, auto_read: bool, algorithms: Algorithms) -> PyResult<Endpoint> {
        Endpoint::open(py, tcp, auto_read, algorithms, Connection::connect)
    }

    /// Passive open: it waits for a SYN.
    #[staticmethod]
    #[pyo3(signature = (tcp, auto_read, algorithms = None))]
    fn listen(py: Python<'_>, tcp: &str, auto_read: bool, algorithms: Algorithms) -> PyResult<Endpoint> {
        Endpoint::open(py, tcp, auto_read, algorithms, Connection::listen)
    }

    /// Writes bytes, of which `more` follow soon; returns how many the send buffer accepted.
    #[pyo3(signature = (bytes, more = false))]
    fn write(&self, py: Python<'_>, bytes: &Bound<'_, PyAny>, more: bool) -> PyResult<u64> {
        let bytes = segment::whole(bytes, "bytes", MAX_BYTES)?;
        let write = if more { Connection::write_more } else { Connection::write };
        self.with(py, |hand| {
            let taken = write(&mut hand.connection, bytes);
            hand.drain();
            taken
        })
    }

    /// Reads up to this many bytes; returns how many were available.
    fn read(&self, py: Python<'_>, bytes: &Bound<'_, PyAny>) -> PyResult<u64> {
        let bytes = segment::whole(bytes, "bytes", MAX_BYTES)?;
        self.with(py, |hand| {
            let taken = hand.connection.read(hand.now, bytes);
            hand.drain();
            taken
        })
    }

    /// Closes the sending direction: a FIN follows the data written so far.
    fn shutdown_write(&self, py: Python<'_>) -> PyResult<()> {
        self.act(py, |connection, _| connection.shutdown_write())
    }

    /// The application receives no more.
    fn shutdown_read(&self, py: Python<'_>) -> PyResult<()> {
        self.act(py, |connection, _| connection.shutdown_read())
    }

    /// The application is gone.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.act(py, Connection::close)
    }

    /// Ends the connection at once.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.act(py, Connection::abort)
    }

    /// Changes socket options: `settings` is JSON text with some of `nagle`, `send_buffer`, `recv_buffer` and
    /// `user_timeout`.
    #[pyo3(signature = (settings, cork = None))]
    fn set(&self, py: Python<'_>, settings: &str, cork: Option<bool>) -> PyResult<()> {
        let changed = self.with(py, |hand| hand.set(settings, cork))?;
        changed.map_err(|error| Failure::Scenario(error).to_py(py))
    }

    /// Lets time pass; timers on the way fire.
    fn advance(&self, py: Python<'_>, seconds: &Bound<'_, PyAny>) -> PyResult<()> {
        let span = self::seconds(seconds, "seconds")?;
        let now = self.with(py, |hand| hand.now)?;
        self.go_to(py, now + span)
    }

    /// Lets time pass until `time_s`; timers on the way fire.
    fn at(&self, py: Python<'_>, time_s: &Bound<'_, PyAny>) -> PyResult<()> {
        let to = Time::ZERO + seconds(time_s, "time_s")?;
        let now = self.with(py, |hand| hand.now)?;
        if to < now {
            let allowed = format!("a time that is not before now, {} s", now.as_secs_f64());
            return Err(segment::wrong(py, "time_s", time_s, &allowed));
        }
        self.go_to(py, to)
    }

    /// Passes an arriving segment to the endpoint.
    fn inject(&self, py: Python<'_>, segment: &Bound<'_, PyAny>) -> PyResult<()> {
        let segment = segment::read(segment)?;
        self.with(py, |hand| {
            hand.connection.on_segment(hand.now, &segment);
            hand.drain();
        })
    }

    /// Segments sent since the last call: times and fields.
    fn sent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let sent = self.with(py, |hand| std::mem::take(&mut hand.sent))?;
        let list = PyList::empty(py);
        for (at, segment) in sent {
            list.append((at.as_secs_f64(), segment::write(py, &segment)?))?;
        }
        Ok(list)
    }

    /// Events for the application since the last call: times, names, and bytes of `delivered`.
    fn events(&self, py: Python<'_>) -> PyResult<Vec<(f64, &'static str, u64)>> {
        let events = self.with(py, |hand| std::mem::take(&mut hand.events))?;
        let describe = |event| match event {
            Event::Connected => ("connected", 0),
            Event::Delivered(bytes) => ("delivered", bytes),
            Event::Writable => ("writable", 0),
            Event::PeerClosed => ("peer_closed", 0),
            Event::Reset => ("reset", 0),
            Event::Aborted => ("aborted", 0),
            Event::Closed => ("closed", 0),
        };
        Ok(events.into_iter().map(|(at, event)| (at.as_secs_f64(), describe(event).0, describe(event).1)).collect())
    }

    /// Its state, in the form of `tonopah.EndpointState`.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        self.with(py, |hand| state(hand, &fields))??;
        Ok(fields)
    }

    /// Its settings with every default filled in, as JSON text.
    fn settings(&self, py: Python<'_>) -> PyResult<String> {
        let options = self.with(py, |hand| TcpOptions::of(hand.profile, &hand.config))?;
        Ok(serde_json::to_string(&options).expect("settings are plain data"))
    }
}

/// `FinWait1` as it is written in Python.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (i, letter) in name.char_indices() {
        if i > 0 && (letter.is_uppercase() || letter.is_ascii_digit()) {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

fn state(hand: &Hand, fields: &Bound<'_, PyDict>) -> PyResult<()> {
    let connection = &hand.connection;
    let totals = connection.totals();
    fields.set_item("now_s", hand.now.as_secs_f64())?;
    fields.set_item("phase", snake_case(&format!("{:?}", connection.state())))?;
    fields.set_item("next_timeout_s", connection.next_timeout().map(Time::as_secs_f64))?;
    let timers = PyDict::new(fields.py());
    connection.timers().try_for_each(|(name, at)| timers.set_item(name, at.as_secs_f64()))?;
    fields.set_item("timers", timers)?;
    fields.set_item("room_bytes", limit(connection.send_space()))?;
    fields.set_item("readable_bytes", connection.readable().0)?;
    fields.set_item("timeouts", totals.timeouts)?;
    fields.set_item("recoveries", totals.recoveries)?;
    fields.set_item("retransmitted_segments", totals.retransmitted_segments)?;
    fields.set_item("recovery_point", connection.recovery_point().map(|point| point.0))?;
    let snapshot = connection.snapshot();
    let bytes = |part: fn(&Snapshot) -> Bytes| snapshot.as_ref().and_then(|s| limit(part(s)));
    let span = |part: fn(&Snapshot) -> Option<Span>| snapshot.as_ref().and_then(part).map(Span::as_secs_f64);
    fields.set_item("state", snapshot.map(|s| snake_case(&format!("{:?}", s.state))))?;
    fields.set_item("cwnd_bytes", bytes(|s| s.window.cwnd))?;
    fields.set_item("ssthresh_bytes", bytes(|s| s.window.ssthresh))?;
    fields.set_item("send_window_bytes", bytes(|s| s.send_window))?;
    fields.set_item("pipe_bytes", bytes(|s| s.pipe))?;
    fields.set_item("flight_bytes", bytes(|s| s.flight))?;
    fields.set_item("mss_bytes", bytes(|s| s.mss))?;
    fields.set_item("sacked_bytes", bytes(|s| s.sacked))?;
    fields.set_item("lost_bytes", bytes(|s| s.lost))?;
    fields.set_item("retransmitted_bytes", bytes(|s| s.retransmitted))?;
    fields.set_item("reordering", snapshot.as_ref().map(|s| s.reordering))?;
    fields.set_item("rwnd_bytes", bytes(|s| s.rwnd))?;
    fields.set_item("unsent_bytes", bytes(|s| s.unsent))?;
    fields.set_item("probes", snapshot.as_ref().map(|s| s.window_probes))?;
    fields.set_item("receiver_mss_bytes", connection.largest_payload())?;
    fields.set_item("rttvar_s", span(|s| Some(s.rttvar)))?;
    fields.set_item("srtt_s", span(|s| s.srtt))?;
    fields.set_item("min_rtt_s", span(|s| s.min_rtt))?;
    fields.set_item("rto_s", span(|s| Some(s.rto)))
}

/// A number of bytes, absent if there is no limit.
fn limit(bytes: Bytes) -> Option<u64> {
    Some(bytes.0).filter(|_| bytes != Bytes::MAX)
}
