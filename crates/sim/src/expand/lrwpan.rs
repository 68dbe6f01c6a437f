//! Segments for 802.15.4: a default that suits its frames, and a refusal of what 6LoWPAN never carries.

use tcp::TcpConfig;
use tcp::units::Bytes;

use super::check::{message_size, transport_of};
use crate::radio::lrwpan::sixlowpan::{IPV6_HEADER, MTU};
use crate::scenario::{EncapDef, FlowDef, Network, RadioDef, Scenario, ScenarioError, Standard, TransportDef};

/// Three frames, with options and over several hops as well. RFC 9006 §4.1.1 advises segments of one frame or few; Kumar et
/// al. (NSDI 2020) measured that more than a few gain little.
const MSS: Bytes = Bytes(256);
const TCP_HEADER: Bytes = Bytes(20);
const TIMESTAMPS: Bytes = Bytes(12);
const UDP_HEADER: Bytes = Bytes(8);

fn is_sixlowpan(radio: &RadioDef) -> bool {
    let encap = radio.lrwpan.and_then(|lrwpan| lrwpan.encap);
    radio.standard == Some(Standard::Lrwpan) && encap == Some(EncapDef::Sixlowpan)
}

/// Gives a complete network with 6LoWPAN its segment size, unless the scenario has one.
pub(super) fn set_segment_size(scenario: &mut Scenario) {
    let sixlowpan = match &scenario.network {
        Network::Adhoc(adhoc) => is_sixlowpan(&adhoc.radio),
        Network::Graph(_) => scenario.channel.iter().any(|channel| is_sixlowpan(&channel.radio)),
        _ => false,
    };
    if sixlowpan && scenario.tcp.mss.is_none() {
        scenario.tcp.mss = Some(MSS);
    }
}

/// Refuses segments and datagrams that no station of a PAN could send.
pub(super) fn check_size(
    scenario: &Scenario,
    flow: &FlowDef,
    config: &TcpConfig,
    path: &str,
) -> Result<(), ScenarioError> {
    let Network::Adhoc(adhoc) = &scenario.network else { return Ok(()) };
    if !is_sixlowpan(&adhoc.radio) {
        return Ok(());
    }
    let refuse = |path: String, size: Bytes, headers: Bytes| {
        if size + headers <= MTU {
            return Ok(());
        }
        let message = format!("{size} and {headers} of headers do not fit into the {MTU} that 6LoWPAN carries");
        Err(ScenarioError::new(path, message).with_hint(format!("at most {}", MTU.saturating_sub(headers))))
    };
    match transport_of(&flow.app) {
        TransportDef::Tcp => {
            let options = if config.timestamps { TIMESTAMPS } else { Bytes::ZERO };
            let path = if flow.tcp.mss.is_some() { format!("{path}.tcp.mss") } else { "tcp.mss".into() };
            refuse(path, config.mss, IPV6_HEADER + TCP_HEADER + options)
        }
        TransportDef::Udp => {
            let size = message_size(&flow.app).unwrap_or(Bytes::ZERO);
            refuse(format!("{path}.app.size"), size, IPV6_HEADER + UDP_HEADER)
        }
    }
}
