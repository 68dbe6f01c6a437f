//! What the network of a data centre carried of what it could.

use serde::Serialize;

use super::link::LinkSummary;
use crate::metrics::ratio;
use crate::scenario::Network;

/// Use of a fabric.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FabricSummary {
    /// Mean utilisation of all links to and from the spines or cores.
    pub core_utilisation: Option<f64>,
    /// Goodput of all flows / what all hosts can send together, which a fabric of full bisection bandwidth carries (Al-Fares et al. 2008).
    pub bisection_share: Option<f64>,
}

impl FabricSummary {
    pub(super) fn of(network: &Network, links: &[LinkSummary], goodput_bps: f64) -> Option<FabricSummary> {
        let top = match network {
            Network::LeafSpine(_) => "spine",
            Network::FatTree(_) => "core",
            _ => return None,
        };
        let core = links.iter().filter(|link| link.from.starts_with(top) || link.to.starts_with(top));
        let (sum, count) = core.fold((0.0, 0.0), |(sum, count), link| (sum + link.utilisation, count + 1.0));
        let hosts: u64 = links.iter().filter(|link| link.from.starts_with('h')).map(|link| link.rate_bps).sum();
        Some(FabricSummary { core_utilisation: ratio(sum, count), bisection_share: ratio(goodput_bps, hosts as f64) })
    }
}
