//! The network of a scenario in real time, for devices that the caller has opened.

use std::net::IpAddr;
use std::sync::Mutex;

use emu::{Capture, Carried, Counts, Device, Emulator, Host, Lateness, Program, Run, Settings};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use sim::Scenario;

use crate::failure::guarded;
use crate::job::{Given, to_dict};
use crate::summary::to_json;

/// A network that has not run yet; gone when it has.
#[pyclass(frozen, module = "tonopah._core")]
pub(crate) struct Emulation {
    emulator: Mutex<Option<Emulator>>,
    least_base_rtt_s: Option<f64>,
}

#[pymethods]
impl Emulation {
    /// The network of a scenario (JSON text) between these hosts: node and addresses of each. `carried`: the flows of the scenario come
    /// from outside too, by the port of the first sink and their number. `header`: bytes before the IP header of each packet.
    #[new]
    #[pyo3(signature = (scenario, seed, hosts, carried = None, header = 0))]
    fn new(
        py: Python<'_>,
        scenario: &str,
        seed: u64,
        hosts: Vec<(String, Vec<IpAddr>)>,
        carried: Option<(u16, u16)>,
        header: usize,
    ) -> PyResult<Emulation> {
        let hosts = hosts.into_iter().map(|(name, addresses)| Host { name, addresses }).collect();
        let carried = carried.map(|(port, flows)| Carried { port, flows });
        let settings = Settings { hosts, carried, header };
        let made = guarded(|| Ok(Emulator::new(&Scenario::from_json(scenario)?, seed, settings)?));
        let emulator = made.map_err(|e| e.to_py(py))?;
        Ok(Emulation {
            least_base_rtt_s: emulator.least_base_rtt().map(|rtt| rtt.as_secs_f64()),
            emulator: Mutex::new(Some(emulator)),
        })
    }

    /// The least round trip between two hosts without a queue; none if none has a path to another.
    #[getter]
    fn least_base_rtt_s(&self) -> Option<f64> {
        self.least_base_rtt_s
    }

    /// Runs until `stop` becomes readable or, of carried flows, to the end of the scenario. The file descriptors are taken over: a TUN
    /// device of each host, and a file for its packets or none. Time 0 is `start_ns` of the monotonic clock and `epoch_ns` of that of
    /// the day. Gives summary, series, and as JSON text how late packets were and which flow is which.
    /// `standing`: the clock stands while anything runs, as that of a kernel in virtual time does.
    #[pyo3(signature = (devices, stop, start_ns, epoch_ns, spin = false, standing = false))]
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        devices: Vec<(i32, Option<i32>)>,
        stop: i32,
        start_ns: u64,
        epoch_ns: u64,
        spin: bool,
        standing: bool,
    ) -> PyResult<(String, Py<PyDict>, String)> {
        let taken = self.emulator.lock_py_attached(py).expect("no run panics with the lock").take();
        let mut emulator = taken.ok_or_else(|| PyValueError::new_err("the emulation has run already"))?;
        let device = |(fd, file): (i32, Option<i32>)| {
            let capture = file.map(|file| Capture::new(emu::take_file(file), epoch_ns)).transpose()?;
            Ok(Device { fd: emu::take(fd), capture })
        };
        let mut devices = devices.into_iter().map(device).collect::<std::io::Result<Vec<_>>>()?;
        let settings = Run { stop: emu::take(stop), start: start_ns, spin, standing };
        let given = py.detach(|| {
            guarded(|| {
                let ran = emu::run(&mut emulator, &mut devices, &settings);
                let (programs, counts) = (emulator.programs().to_vec(), emulator.counts());
                let finished = devices.into_iter().filter_map(|device| device.capture).try_for_each(Capture::finish);
                Ok(ran.and_then(|(lateness, end)| finished.map(|()| (lateness, end))).map(|(lateness, end)| {
                    let report = report(&lateness, &programs, counts);
                    (Given::from(emulator.finish(end)), report)
                }))
            })
        });
        let (given, report) = given.map_err(|e| e.to_py(py))??;
        Ok((to_json(&given.summary), to_dict(py, given.series)?.unbind(), report.to_string()))
    }
}

/// How late packets were, and which flow is which.
fn report(lateness: &Lateness, programs: &[Program], counts: Counts) -> Value {
    let buckets: Vec<_> = lateness.buckets().map(|(upto_s, packets)| json!([upto_s, packets])).collect();
    let Counts { unrouted, unreadable, joined_flows } = counts;
    let programs: Vec<_> = programs
        .iter()
        .map(|Program { flow, tuple, .. }| {
            let [from, to] = [tuple.from, tuple.to].map(|(address, port)| json!([address.to_string(), port]));
            json!({"flow": flow.0, "protocol": tuple.protocol, "from": from, "to": to})
        })
        .collect();
    json!({
        "lateness": {
            "packets": lateness.packets(),
            "p50_s": lateness.quantile_s(0.5),
            "p99_s": lateness.quantile_s(0.99),
            "max_s": lateness.max_s(),
            "histogram": buckets,
        },
        "programs": programs,
        "unrouted_packets": unrouted,
        "unreadable_packets": unreadable,
        "joined_flows": joined_flows,
    })
}
