//! The part of the schema that describes what a link does to the ECN field of packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::loss::{GilbertElliottLoss, NthLoss, PacketLoss};
use super::tagged::tagged_enum;

tagged_enum! {
    /// Marks at the entrance of a link: as a loss model, but what it chooses is marked CE. Packets that are not ECN-capable pass.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum MarkModel ("a model of marks") {
        /// Each packet is marked with probability p.
        "packet" => Packet(PacketLoss),
        /// Two states with a probability each, stepped per packet.
        "gilbert_elliott" => GilbertElliott(GilbertElliottLoss),
        /// The listed data-bearing packets, counted as they enter the link, including retransmissions.
        "nth" => Nth(NthLoss),
    }
}

tagged_enum! {
    /// What a network that does not follow RFC 3168 does to packets that enter a link.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    #[schemars(transform = with_text_form)]
    pub enum EcnRewrite ("a way to treat the ECN field", text: EcnRewrite::from_text, such as "bleach") {
        /// Nothing.
        "pass" => Pass(NoRewrite),
        /// Every packet becomes Not-ECT.
        "bleach" => Bleach(Rewrite),
        /// ECT(1) becomes ECT(0).
        "bleach_ect1" => BleachEct1(Rewrite),
        /// CE becomes ECT(0).
        "clear_ce" => ClearCe(Rewrite),
        /// Every ECN-capable packet becomes CE.
        "set_ce" => SetCe(Rewrite),
        /// SYNs lose the options SACK-permitted, timestamps and AccECN, which are overwritten: the size stays.
        "strip_options" => StripOptions(Strip),
    }
}

/// The short form, which serde's attributes cannot describe.
fn with_text_form(schema: &mut schemars::Schema) {
    let text = schemars::json_schema!({"type": "string", "description": "The kind alone, such as \"bleach\": of every packet."});
    if let Some(serde_json::Value::Array(forms)) = schema.get_mut("oneOf") {
        forms.push(text.to_value());
    }
}

impl EcnRewrite {
    fn from_text(text: &str) -> Result<EcnRewrite, String> {
        let kind = serde_json::json!({ "kind": text });
        serde_json::from_value(kind).map_err(|error| error.to_string())
    }
}

impl EcnRewrite {
    /// The probability with which a packet that it concerns is rewritten; `None` where none is.
    pub fn share(&self) -> Option<f64> {
        match self {
            EcnRewrite::Pass(_) => None,
            EcnRewrite::StripOptions(strip) => Some(strip.p),
            EcnRewrite::Bleach(rewrite)
            | EcnRewrite::BleachEct1(rewrite)
            | EcnRewrite::ClearCe(rewrite)
            | EcnRewrite::SetCe(rewrite) => Some(rewrite.p),
        }
    }
}

/// Nothing happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoRewrite {}

/// Which packets are rewritten.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rewrite {
    /// Probability that a packet is, 0 to 1.
    pub p: f64,
    /// Packets that can be.
    pub on: RewriteOn,
}

impl Default for Rewrite {
    fn default() -> Rewrite {
        Rewrite { p: 1.0, on: RewriteOn::All }
    }
}

/// Packets that can be rewritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RewriteOn {
    /// All.
    #[default]
    All,
    /// Those with a SYN.
    Syn,
    /// Those with data.
    Data,
}

/// Which SYNs lose their options.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Strip {
    /// Probability that a SYN does, 0 to 1.
    pub p: f64,
}

impl Default for Strip {
    fn default() -> Strip {
        Strip { p: 1.0 }
    }
}
