//! The summary of a run, as Python sees it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use pyo3::prelude::*;
use sim::{LinkSummary, Summary};

pub(crate) fn to_json(summary: &Summary) -> String {
    serde_json::to_string(summary).expect("a summary is plain data")
}

/// The busiest of `links`, the busiest first; of equals the first.
fn busiest(links: &[LinkSummary], most: usize) -> Vec<LinkSummary> {
    let mut order: Vec<&LinkSummary> = links.iter().collect();
    order.sort_by(|one, other| other.utilisation.max(0.0).total_cmp(&one.utilisation.max(0.0)));
    order.into_iter().take(most).cloned().collect()
}

/// The summary of a run. It becomes text when it is asked for: of very many flows, few are looked at.
#[pyclass]
pub(crate) struct RunSummary(pub(crate) Summary);

#[pymethods]
impl RunSummary {
    /// Number of flows.
    #[getter]
    fn flows(&self) -> usize {
        self.0.flows.len()
    }

    /// Number of events.
    #[getter]
    fn events(&self) -> u64 {
        self.0.events
    }

    /// What it says of the network as a whole, as JSON text.
    fn network(&self) -> String {
        serde_json::to_string(&self.0.network).expect("a summary is plain data")
    }

    /// What the scenario says and seldom means, as JSON text.
    fn warnings(&self) -> String {
        serde_json::to_string(&self.0.warnings).expect("a summary is plain data")
    }

    /// Writes the summary as JSON text to a file. As one text, that of 100,000 flows would take hundreds of megabytes.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| -> std::io::Result<()> {
            let mut file = BufWriter::new(File::create(path)?);
            serde_json::to_writer(&mut file, &self.0)?;
            file.flush()
        });
        Ok(written?)
    }

    /// The summary as JSON text, with at most the first `most_flows` of its flows and the `most_links` busiest of its links.
    #[pyo3(signature = (most_flows = usize::MAX, most_links = usize::MAX))]
    fn json(&mut self, py: Python<'_>, most_flows: usize, most_links: usize) -> String {
        py.detach(|| {
            let left_out = self.0.flows.split_off(most_flows.min(self.0.flows.len()));
            let busiest = (most_links < self.0.links.len()).then(|| busiest(&self.0.links, most_links));
            let all = busiest.map(|busiest| std::mem::replace(&mut self.0.links, busiest));
            let text = to_json(&self.0);
            if let Some(all) = all {
                self.0.links = all;
            }
            self.0.flows.extend(left_out);
            text
        })
    }
}
