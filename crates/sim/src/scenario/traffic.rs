//! The part of the schema that describes flows and applications.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Span};

use super::cc_choice::CcChoice;
use super::conversations::{IncastDef, PageDef, RequestResponseDef, TransferDef};
use super::datagrams::{DatagramEcn, DatagramKeys};
use super::dscp::Dscp;
use super::media::{RtcDef, VideoDef, VoiceDef};
use super::period::PeriodDef;
use super::responsiveness::ResponsivenessDef;
use super::script::ScriptDef;
use super::tagged::tagged_enum;
use super::tcp_options::TcpOptions;
use super::text::{PacketRate, StartJitter};
use super::transport::NativeTransport;

/// Traffic of the flows that `network.flows` generates; `start_jitter` is for all flows.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Traffic {
    /// The application of each flow.
    pub app: AppDef,
    /// When flows start.
    pub start: Span,
    /// Each flow starts later by a uniform random time up to this, against phase effects: a time, or "rtt", the base RTT of
    /// the flow. Of listed flows too, unless a flow has its own. Default: 100 ms for generated flows, 0 s for listed ones;
    /// studies give listed ones "rtt".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_jitter: Option<StartJitter>,
    /// When flows stop. Default: at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
    /// A whole transport in a shared library instead of our TCP, for generated flows and for listed ones that have none of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Box<NativeTransport>>,
}

impl Traffic {
    /// Jitter of generated flows, unless the scenario says another.
    pub const JITTER_OF_GENERATED: StartJitter = StartJitter::Span(Span::from_millis(100));
}

/// A flow: data in one direction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowDef {
    /// Its name, for `pins` of a routing and `move`; unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The node that sends the data.
    pub from: String,
    /// The node that receives it.
    pub to: String,
    /// Congestion control. Default: `tcp.cc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<CcChoice>,
    /// A whole transport in a shared library, such as a QUIC stack, instead of our TCP (docs/transport.md). Default: that of `traffic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Box<NativeTransport>>,
    /// The application.
    #[serde(default)]
    pub app: AppDef,
    /// So many flows like this one. The further ones have their numbers after all listed flows. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// When it starts.
    #[serde(default)]
    pub start: Span,
    /// It starts later by a uniform random time up to this: a time, or "rtt", its base RTT. Never after its stop. Default: that
    /// of `traffic`, otherwise 0 s; studies make it "rtt", so that replicates differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_jitter: Option<StartJitter>,
    /// When it stops. Default: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
    /// Its band in queues of kind `priority` that go by `flow`: 0 goes first, a band that a queue lacks is its last. Both
    /// directions have it. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Differentiated services code point of its packets, in both directions. Default: `DF`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Name of a sink agent that several flows to one node share, as when ns-2's script connects many senders to one `TCPSink`: one
    /// receiver takes the packets of all, and all its ACKs go to the sender of the last of these flows. Default: a receiver of
    /// its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_agent: Option<String>,
    /// The sink takes what arrives and never answers, as ns-2's `Agent/Null`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// Settings that differ from those of `tcp`.
    #[serde(default, skip_serializing_if = "TcpOptions::is_empty")]
    pub tcp: TcpOptions,
}

impl FlowDef {
    /// A flow that says nothing but its ends.
    pub fn between(from: impl Into<String>, to: impl Into<String>) -> FlowDef {
        FlowDef {
            name: None,
            from: from.into(),
            to: to.into(),
            cc: None,
            transport: None,
            app: AppDef::default(),
            count: None,
            start: Span::ZERO,
            start_jitter: None,
            stop: None,
            priority: None,
            dscp: None,
            sink_agent: None,
            silent: false,
            tcp: TcpOptions::default(),
        }
    }

    /// How many flows it stands for.
    pub fn copies(&self) -> u64 {
        self.count.unwrap_or(1)
    }

    /// The code point of its packets, given at the flow or at its application.
    pub fn code_point(&self) -> Dscp {
        self.dscp.or(self.app.datagrams().dscp).unwrap_or_default()
    }
}

tagged_enum! {
    /// An application.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum AppDef ("an application") {
        /// Sends as fast as TCP allows.
        "bulk" => Bulk(BulkDef),
        /// Writes messages at a constant rate.
        "cbr" => Cbr(CbrDef),
        /// Writes messages at a constant rate during periods of activity.
        "on_off" => OnOff(OnOffDef),
        /// One transfer of a known size, either way or both ways.
        "transfer" => Transfer(TransferDef),
        /// Requests and answers over connections that stay open.
        "request_response" => RequestResponse(RequestResponseDef),
        /// An aggregator asks many servers at once.
        "incast" => Incast(IncastDef),
        /// A page of the web: a document and its objects.
        "page" => Page(PageDef),
        /// Streaming of video: chunks at a rate that the player chooses.
        "video" => Video(VideoDef),
        /// Responsiveness under load, in round trips per minute, such as `{ kind = "responsiveness", direction = "down" }`.
        "responsiveness" => Responsiveness(ResponsivenessDef),
        /// A video call, one way: frames over datagrams, with reports and a circuit breaker.
        "rtc" => Rtc(RtcDef),
        /// A telephone call, one way: datagrams at a constant rate, judged by the E-model.
        "voice" => Voice(VoiceDef),
        /// Writes at given times, over one connection.
        "script" => Script(ScriptDef),
    }
}

impl AppDef {
    /// What its datagrams ask of the network.
    pub fn datagrams(&self) -> DatagramKeys {
        match self {
            AppDef::Bulk(_)
            | AppDef::Transfer(_)
            | AppDef::RequestResponse(_)
            | AppDef::Incast(_)
            | AppDef::Page(_)
            | AppDef::Responsiveness(_)
            | AppDef::Video(_)
            | AppDef::Script(_) => DatagramKeys::default(),
            AppDef::Cbr(CbrDef { ecn, dscp, .. })
            | AppDef::OnOff(OnOffDef { ecn, dscp, .. })
            | AppDef::Rtc(RtcDef { ecn, dscp, .. })
            | AppDef::Voice(VoiceDef { ecn, dscp, .. }) => DatagramKeys { ecn: *ecn, dscp: *dscp },
        }
    }
}

impl Default for AppDef {
    fn default() -> AppDef {
        AppDef::Bulk(BulkDef::default())
    }
}

/// A bulk transfer.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BulkDef {
    /// Bytes to send. Default: unlimited. A flow that ends closes its connection and has a completion time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
}

/// Messages at a constant rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrDef {
    /// Messages or payload bits per second.
    pub rate: PacketRate,
    /// Payload of a message.
    pub size: Bytes,
    /// Other rates later on, over the same connection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<CbrPhase>,
    /// Transport protocol.
    #[serde(default)]
    pub transport: TransportDef,
    /// Treatment of a message that does not fit into the send buffer.
    #[serde(default)]
    pub on_full: Full,
    /// ECN field of datagrams, with `transport = "udp"`. Default: `off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<DatagramEcn>,
    /// Differentiated services code point of datagrams, with `transport = "udp"`; the same as `dscp` of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
}

/// Another rate of messages from a time on.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrPhase {
    /// When it begins, after the start of the flow.
    pub at: Span,
    /// Messages or payload bits per second; one far above the line's is greedy, since what does not fit waits. Default: silence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<PacketRate>,
}

/// Messages at a constant rate during periods of activity.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffDef {
    /// Messages or payload bits per second while active.
    pub rate: PacketRate,
    /// Payload of a message.
    pub size: Bytes,
    /// Transport protocol.
    #[serde(default)]
    pub transport: TransportDef,
    /// Treatment of a message that does not fit into the send buffer.
    #[serde(default)]
    pub on_full: Full,
    /// ECN field of datagrams, with `transport = "udp"`. Default: `off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<DatagramEcn>,
    /// Differentiated services code point of datagrams, with `transport = "udp"`; the same as `dscp` of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Length of the periods of activity. Default: exponential with mean 0.5 s (ns-2).
    #[serde(default)]
    pub on: PeriodDef,
    /// Length of the periods of silence. Default: exponential with mean 0.5 s (ns-2).
    #[serde(default)]
    pub off: PeriodDef,
}

/// Transport protocol of an application's messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransportDef {
    /// A TCP connection.
    #[default]
    Tcp,
    /// Datagrams, one per message.
    Udp,
}

/// Treatment of a message that does not fit into the send buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Full {
    /// The application blocks until it fits, and skips the messages that are due meanwhile.
    #[default]
    Block,
    /// It is discarded (ns-3's OnOff application).
    Drop,
}
