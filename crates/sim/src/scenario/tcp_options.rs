//! The part of the schema that describes TCP endpoints: options over a profile.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::TcpConfig;
use tcp::cc::{Begin, Value};
use tcp::settings::{
    CwndReductionKind, CwndValidation, EcnMode, EcnOption, Misbehaviour, ProfileName, ReceiverControl, RecoveryKind,
    RttAlgorithm,
};
use tcp::units::{Bytes, Span};

use super::agent::{self, AgentDef};
use super::buffers::Buffers;
use super::cc_choice::{CcChoice, Further};
use super::error::{ScenarioError, join};
use super::parse::from_json;
use super::receiver::ReceiverDef;
use super::setting::Setting;
use super::start::{self, StartDef};
use super::start_check;
use super::text::Amount;

/// Writes [`TcpOptions`] from the list of settings: name, form in a scenario, place in [`TcpConfig`].
macro_rules! options {
    ($($(#[$doc:meta])* $name:ident: $form:ty => $($place:ident).+,)*) => {
        /// Settings of TCP endpoints; a key left out takes the value of the profile. The table of profiles is in the manual.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct TcpOptions {
            /// Set of values to start from. Default: `rfc`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub profile: Option<ProfileName>,
            /// Congestion control: a name, or a table with name, profile and parameters. Default: `newreno`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub cc: Option<CcChoice>,
            /// A receiver that breaks the rules. Default: none.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub receiver: Option<ReceiverDef>,
            /// Buffers of the hosts of profile `linux`: `stock`, as they come, or `tuned`; keys for single ones go before it.
            /// Default: `stock`, or `tuned` where `recv_buffer`, `send_buffer`, `initial_recv_window` or `recv_autotune` is given.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub buffers: Option<Buffers>,
            /// An agent of another simulator in the place of the sender. Default: none.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub agent: Option<AgentDef>,
            /// How slow start grows and ends, in the place of the algorithm's own way: `"standard"`, `"hystart"`, `"hystart++"`,
            /// `"search"`, `"rapid"`, `"resume"`, `"jump"`, or a table (docs/starts.md). For algorithms whose start is no part of them. Default: the algorithm's own.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub start: Option<StartDef>,
            /// What bounds the window that this end announces besides its buffer: `rledbat`, LEDBAT++ at the receiver (RFC 9840), which keeps
            /// its sender behind others, whatever that one's algorithm; it needs timestamps. Default: nothing.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub receiver_control: Option<ReceiverControl>,
            $($(#[$doc])*
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $name: Option<$form>,)*
        }

        impl TcpOptions {
            /// These options where set, else `base`'s.
            pub fn over(&self, base: &TcpOptions) -> TcpOptions {
                TcpOptions {
                    profile: self.profile.or(base.profile),
                    cc: self.cc.clone().or_else(|| base.cc.clone()),
                    receiver: self.receiver.or(base.receiver),
                    buffers: self.buffers.or(base.buffers),
                    agent: AgentDef::over(self.agent, base.agent),
                    start: self.start.clone().or_else(|| base.start.clone()),
                    receiver_control: self.receiver_control.or(base.receiver_control),
                    $($name: self.$name.or(base.$name),)*
                }
            }

            fn apply(&self, config: &mut TcpConfig) {
                config.misbehaviour = self.receiver.map(ReceiverDef::misbehaviour);
                config.receiver_control = self.receiver_control;
                $(if let Some(written) = self.$name {
                    config.$($place).+ = Setting::value(written, config.mss);
                })*
            }

            /// The options of this configuration, with none left to the profile.
            pub fn of(profile: ProfileName, config: &TcpConfig) -> TcpOptions {
                TcpOptions {
                    profile: Some(profile),
                    cc: Some(CcChoice::of(&config.cc)),
                    receiver: config.misbehaviour.map(ReceiverDef::of),
                    buffers: None,
                    agent: config.agent.map(AgentDef::of),
                    start: config.start.as_ref().map(StartDef::of),
                    receiver_control: config.receiver_control,
                    $($name: Some(Setting::of(&config.$($place).+)),)*
                }
            }
        }
    };
}

// The segment size comes first: others are written in segments.
options! {
    /// Largest payload of a segment. With timestamps the SYN offers 12 bytes more; if the peer refuses timestamps, they carry
    /// data. Default in a network of 802.15.4 with 6LoWPAN: 256 B, which are three frames; a longer segment has less overhead, but is lost with any fragment.
    mss: Bytes => mss,
    /// Loss detection and recovery. Default: that of the algorithm if its profile requires one, otherwise that of the profile.
    recovery: RecoveryKind => recovery,
    /// How cwnd comes down to the reduced window in recovery, for `recovery` `sack` and `rack`.
    cwnd_reduction: CwndReductionKind => cwnd_reduction,
    /// cwnd after the handshake. Default: the profile's value for the segment size.
    initial_window: Amount => initial_window,
    /// ssthresh after the handshake.
    initial_ssthresh: Amount => initial_ssthresh,
    /// cwnd grows no more once it has reached this (Linux's snd_cwnd_clamp, `window_` of ns-2's TCP-Linux).
    cwnd_clamp: Amount => cwnd_clamp,
    /// Receive buffer: the largest window advertised.
    recv_buffer: Bytes => recv_buffer,
    /// First advertised window; each segment received opens it by two, up to the buffer. `"unlimited"` opens it fully.
    initial_recv_window: Amount => initial_recv_window,
    /// Receive buffer auto-tuning as in Linux: the advertised window starts small and stays ahead of the application.
    recv_autotune: bool => recv_autotune,
    /// The receiving application reads all that there is, and then not again for this long: a window that the buffer limits opens
    /// then, and a segment with PSH is acknowledged then. 0 reads whenever something arrives. What measures say is of arrivals.
    read_interval: Span => read_interval,
    /// Send buffer: data accepted from the application and not yet acknowledged. An application that found it full writes again once a third of
    /// it is free in profile `linux`, as soon as anything is in others.
    send_buffer: Amount => send_buffer,
    /// Delayed ACKs: an ACK at the latest for every n-th segment; 1 acknowledges each immediately.
    ack_every: u32 => delayed_ack.segments,
    /// Delayed ACKs: longest delay of an ACK; with `ack_interactive` no longer than `rto_min` less 1 ms, as in Linux since 6.7.
    ack_delay: Span => delayed_ack.timeout,
    /// Quick ACKs (Linux): this many ACKs at the start and after loss or reordering are not delayed, and none while the
    /// advertised window opens.
    quick_acks: u32 => delayed_ack.quick,
    /// The first segment of data is acknowledged at once (ns-3), so that the window grows as soon as it can.
    ack_first: bool => delayed_ack.first,
    /// ACK compression (Linux): duplicate ACKs after the third are merged for at most this long, or until a third SACK block comes; 0 sends
    /// each immediately.
    ack_compression: Span => delayed_ack.compression,
    /// A segment with PSH is acknowledged when it is read, and a FIN like data (Linux).
    ack_push: bool => delayed_ack.push,
    /// Interactive mode (Linux's pingpong): once data has been sent within `ack_delay` of data, ACKs wait for more, with PSH too.
    ack_interactive: bool => delayed_ack.interactive,
    /// Retransmission time-out before the first RTT sample.
    rto_initial: Span => rto.initial,
    /// Minimum retransmission time-out; with estimator `linux`, minimum of its variance term.
    rto_min: Span => rto.min,
    /// Maximum retransmission time-out.
    rto_max: Span => rto.max,
    /// Algorithm of the RTT estimator, from which the time-out follows.
    rtt_estimator: RttAlgorithm => rtt_estimator,
    /// Offer selective acknowledgments (RFC 2018).
    sack: bool => sack,
    /// Offer timestamps (RFC 7323).
    timestamps: bool => timestamps,
    /// Offer window scaling (RFC 7323); without it no window exceeds 65535 B.
    window_scale: bool => window_scale,
    /// Explicit congestion notification: off, classic (RFC 3168), dctcp (RFC 8257), accecn (RFC 9768) or l4s (RFC 9331). Default:
    /// the mode that the algorithm requires, if it requires one.
    ecn: EcnMode => ecn,
    /// AccECN's option and handshake, for `ecn` `accecn` and `l4s`. `acks`: the option is on pure ACKs, and what RFC 9768 says of
    /// the first ACK is left out, since both ends know each other. `all`: on every segment once the other end sends it, and on the
    /// SYN-ACK; the first ACK tells how the SYN-ACK arrived, SYNs sent again for the second time have no ECN, ACKs and
    /// retransmissions are ECN-capable (RFC 9768 §3.1.4, §3.2.2.1, §3.2.3; Linux). `off`: the same without the option.
    ecn_option: EcnOption => ecn_option,
    /// DupThresh: number of duplicate ACKs, or of segments SACKed above a hole, that indicates loss.
    dup_thresh: u32 => dup_thresh,
    /// Limited transmit: one new segment on each of the first two duplicate ACKs (RFC 3042).
    limited_transmit: bool => limited_transmit,
    /// The impatient variant of NewReno: only the first partial ACK restarts the retransmission timer (RFC 6582).
    impatient: bool => impatient,
    /// Tail loss probe (RFC 8985); with recovery `rack` and SACK.
    tlp: bool => tlp,
    /// F-RTO: detect spurious time-outs by the ACKs that follow (RFC 5682); with recovery `rack`.
    frto: bool => frto,
    /// Undo a reduction that timestamps (RFC 3522) or DSACK (RFC 3708) show to be spurious; with recovery `rack`.
    undo: bool => undo,
    /// Nagle's algorithm with Minshall's modification: a segment that is not full waits for the one before.
    nagle: bool => nagle,
    /// Spread transmissions over the RTT.
    pacing: bool => pacing,
    /// Congestion window validation: whether cwnd grows while the sender does not fill it. `linux`: only if it is full or, in slow
    /// start, more than half full. `none`: always. `ratelimited`: up to what the largest FlightSize since the last reduction makes
    /// of itself in a round trip (draft-ietf-ccwg-ratelimited-increase). `rfc7661`: while half of it is in use, and a loss halves
    /// what is used. True means `linux`, false `none`.
    cwnd_validation: CwndValidation => cwnd_validation,
    /// Segmentation offload as in Linux: segments sent at one instant are one burst, whose last segment has PSH.
    tso_psh: bool => tso_psh,
    /// Such a burst waits up to a millisecond for an ACK that makes it larger, as in Linux (TSO deferral); with `tso_psh`.
    tso_defer: bool => tso_defer,
    /// Such a burst takes what it lacks from the next buffer of unsent data, as in Linux since 6.10; with `tso_psh`.
    tso_fill: bool => tso_fill,
    /// Restart from the restart window after an idle period (RFC 5681 §4.1).
    slow_start_after_idle: bool => slow_start_after_idle,
    /// Retransmissions of the SYN before giving up.
    syn_retries: u32 => syn_retries,
    /// So many retransmissions of the SYN follow at equal intervals before these double, and beyond `syn_retries`
    /// (`tcp_syn_linear_timeouts` of Linux since 6.5).
    syn_linear_timeouts: u32 => syn_linear_timeouts,
    /// Retransmissions before an established connection is given up, as a time: that in which so many fit from `rto_min` on,
    /// doubling up to `rto_max` (RFC 9293, R2; as in Linux). Also probes of a closed window without an answer; 0: never.
    retries2: u32 => retries2,
    /// User time-out (RFC 9293): a connection is given up this long after the first retransmission without progress; 0: never.
    user_timeout: Span => user_timeout,
    /// Open by SYN and SYN-ACK; without, both ends are established from the start (ns-2's Vegas agents; its other agents send a
    /// SYN). `vegas` profile `ns2` and `ewphcc` then have a window of one segment until the first is acknowledged.
    handshake: bool => handshake,
    /// Length of the TIME-WAIT state.
    time_wait: Span => time_wait,
}

impl TcpOptions {
    /// Reads the settings of endpoints from JSON text, as under `tcp` in a scenario; errors start at `path`.
    ///
    /// # Errors
    ///
    /// Text that is not JSON, an unknown key, or a value of the wrong kind; the error has the path of the key.
    pub fn from_json(text: &str, path: &str) -> Result<TcpOptions, ScenarioError> {
        from_json(text, path, "", |_| ())
    }

    /// These options, where a choice of congestion control that names one of `further` means that one.
    pub fn with(mut self, further: &Further) -> TcpOptions {
        self.cc.iter_mut().for_each(|cc| cc.give(further));
        self
    }

    /// A saved window of the start that is too small to be used, and what would be enough; of options with every key.
    pub fn unused_saved(&self) -> Option<(Amount, Bytes)> {
        let config = self.start.as_ref().and_then(|_| self.resolve("").ok())?;
        let Begin::Resume(resume) = config.start.as_ref()?.begin else { return None };
        let least = config.initial_window * 4;
        resume.saved.filter(|saved| saved.cwnd < least).map(|saved| (Amount::Bytes(saved.cwnd), least))
    }

    /// True if nothing is said of the buffers of a host of Linux: they are stock then.
    pub(crate) fn has_stock_buffers_unsaid(&self) -> bool {
        let sizes = self.recv_buffer.is_some() || self.send_buffer.is_some() || self.initial_recv_window.is_some();
        self.profile == Some(ProfileName::Linux) && !sizes && self.recv_autotune.is_none() && self.buffers.is_none()
    }

    /// True if no option is set.
    pub fn is_empty(&self) -> bool {
        *self == TcpOptions::default()
    }

    /// The settings they stand for; errors start at `path`.
    ///
    /// # Errors
    ///
    /// An unknown algorithm, profile or parameter, or a value out of its range; the error has the path of the key.
    pub fn resolve(&self, path: &str) -> Result<TcpConfig, ScenarioError> {
        self.refuse_bdp(path)?;
        let profile = self.profile.unwrap_or_default();
        let mut cc = self.cc.clone().unwrap_or_else(|| CcChoice::named("newreno"));
        if self.start.is_some() {
            cc = start::without_exits(cc, path)?;
        }
        let mut config = TcpConfig::of_profile(profile, cc.resolve(&join(path, "cc"), profile)?);
        if let Some(mss) = self.mss {
            config.initial_window = tcp::settings::initial_window(profile, mss);
            if profile == tcp::settings::ProfileName::Ns2 {
                // `window_` is 20 packets of whatever size, and the initial ssthresh too.
                (config.recv_buffer, config.initial_ssthresh) = (mss * 20, mss * 20);
            }
        }
        if let Some(buffers) = self.buffers.or(self.has_stock_buffers_unsaid().then_some(Buffers::Stock)) {
            buffers.set(&mut config, profile, &join(path, "buffers"))?;
        }
        if let Some(recovery) = self.recovery {
            // Another recovery than the algorithm came with brings SACK, or leaves it, unless that is given too.
            config.sack = recovery.uses_sack();
        }
        let requirements = config.cc.algorithm.requirements;
        config.ecn = requirements.ecn.unwrap_or(config.ecn);
        config.timestamps |= requirements.timestamps;
        config.agent = self.agent.map(|agent| agent.resolve(&join(path, "agent"))).transpose()?;
        self.apply(&mut config);
        config.start = self.start.as_ref().map(|start| start.resolve(&config, &join(path, "start"))).transpose()?;
        check_demands(&config, path)?;
        check(&config, path)?;
        Ok(config)
    }
}

impl TcpOptions {
    /// An endpoint knows neither rate nor round-trip time of its path.
    fn refuse_bdp(&self, path: &str) -> Result<(), ScenarioError> {
        let amounts = [
            ("initial_window", self.initial_window),
            ("initial_ssthresh", self.initial_ssthresh),
            ("cwnd_clamp", self.cwnd_clamp),
            ("initial_recv_window", self.initial_recv_window),
            ("send_buffer", self.send_buffer),
        ];
        match amounts.into_iter().find(|(_, amount)| matches!(amount, Some(Amount::Bdp { .. }))) {
            Some((name, _)) => {
                let message = "is not for a multiple of the BDP, which only limits of queues can be";
                Err(ScenarioError::new(join(path, name), message).with_hint("segments such as \"10p\", or a size"))
            }
            None => Ok(()),
        }
    }
}

/// Refuses settings that switch off what the algorithm requires.
fn check_demands(config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    let (name, requirements) = (config.cc.algorithm.name, config.cc.algorithm.requirements);
    if let Some(ecn) = requirements.ecn.filter(|ecn| *ecn != config.ecn) {
        let message =
            format!("{name} reads congestion marks of the form {:?}, not {:?}", ecn.name(), config.ecn.name());
        return Err(ScenarioError::new(join(path, "ecn"), message).with_hint("leave `ecn` out, or take another `cc`"));
    }
    if requirements.timestamps && !config.timestamps {
        let message = format!("{name} measures delay by timestamps");
        return Err(ScenarioError::new(join(path, "timestamps"), message)
            .with_hint("leave `timestamps` out, or take another `cc`"));
    }
    if config.ecn_option != EcnOption::Acks && !config.ecn.is_accurate() {
        let message = format!("has no effect with ecn {:?}: the option is AccECN's", config.ecn.name());
        return Err(ScenarioError::new(join(path, "ecn_option"), message).with_hint("tcp.ecn = \"accecn\" or \"l4s\""));
    }
    let hears = [EcnMode::Dctcp, EcnMode::L4s].contains(&config.ecn);
    if tcp::cc::find(name).is_some()
        && config.cc.values.iter().any(|(key, value)| (key, value) == ("ecn", Value::Flag(true)))
        && !hears
    {
        let message = format!("has no effect with ecn {:?}: it reads how much is marked", config.ecn.name());
        return Err(ScenarioError::new(join(path, "cc.ecn"), message).with_hint("tcp.ecn = \"dctcp\" or \"l4s\""));
    }
    Ok(())
}

fn check_misbehaviour(config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    let (field, wrong) = match config.misbehaviour {
        Some(Misbehaviour::AckDivision { parts }) if !(2..=1000).contains(&parts) => {
            ("receiver.parts", format!("{parts} is not a count from 2 to 1000"))
        }
        Some(Misbehaviour::DupAckSpoofing { copies, .. }) if !(1..=10_000).contains(&copies) => {
            ("receiver.copies", format!("{copies} is not a count from 1 to 10000"))
        }
        Some(Misbehaviour::DupAckSpoofing { every, .. }) if every < Span::from_millis(1) => {
            ("receiver.every", format!("{every} is not a time of at least 1ms"))
        }
        Some(Misbehaviour::Optimistic { ahead }) if !(Bytes(1)..=Bytes(1_000_000_000)).contains(&ahead) => {
            ("receiver.ahead", format!("{ahead} is not a size from 1B to 1GB"))
        }
        _ => return Ok(()),
    };
    Err(ScenarioError::new(join(path, field), wrong))
}

fn check(config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    let fail = |field: &str, message: String| Err(ScenarioError::new(join(path, field), message));
    let mss = config.mss;
    if mss < Bytes(1) || mss > Bytes(65_495) {
        return fail("mss", format!("{mss} is not a segment size from 1B to 65495B"));
    }
    if config.initial_window < mss || config.initial_window == Bytes::MAX {
        return fail(
            "initial_window",
            format!("{} is not a window of at least one segment ({mss})", config.initial_window),
        );
    }
    if config.recv_buffer < mss || config.recv_buffer > Bytes(1 << 40) {
        return fail("recv_buffer", format!("{} is not from one segment ({mss}) to 1099GB", config.recv_buffer));
    }
    if config.initial_recv_window < mss {
        let window = config.initial_recv_window;
        return fail("initial_recv_window", format!("{window} is less than one segment ({mss})"));
    }
    if config.send_buffer < mss {
        return fail("send_buffer", format!("{} is less than one segment ({mss})", config.send_buffer));
    }
    if config.receiver_control.is_some() && !config.timestamps {
        let error = ScenarioError::new(join(path, "receiver_control"), "rledbat needs timestamps");
        return Err(error.with_hint("tcp.timestamps = true"));
    }
    if config.receiver_control.is_some() && config.recv_autotune {
        let error =
            ScenarioError::new(join(path, "receiver_control"), "rledbat and recv_autotune both size the window");
        return Err(error.with_hint("leave one of the two out"));
    }
    check_misbehaviour(config, path)?;
    if config.delayed_ack.segments == 0 {
        return fail("ack_every", "0 would never acknowledge; write 1 for an ACK per segment".into());
    }
    agent::check(config, path)?;
    start_check::check(config, path)?;
    if config.dup_thresh == 0 {
        return fail("dup_thresh", "0 duplicate ACKs cannot mean loss; RFC 5681 says 3".into());
    }
    if config.rto.min > config.rto.max || config.rto.initial > config.rto.max {
        return fail("rto_max", format!("{} is below rto_min or rto_initial", config.rto.max));
    }
    if config.rto.initial == Span::ZERO {
        return fail("rto_initial", "0s would retransmit at once and for ever".into());
    }
    Ok(())
}
