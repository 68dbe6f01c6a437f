//! The part of the schema that describes TCP endpoints: options over a profile.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::TcpConfig;
use tcp::settings::{CwndReductionKind, EcnMode, ProfileName, RecoveryKind, RttAlgorithm};
use tcp::units::{Bytes, Span};

use super::cc_choice::{CcChoice, Further};
use super::parse::{ScenarioError, from_json, join};
use super::text::Amount;

/// What a user writes for a setting, and what the endpoint is given.
trait Setting<T> {
    fn value(self, mss: Bytes) -> T;
    fn of(value: &T) -> Self;
}

impl<T: Clone> Setting<T> for T {
    fn value(self, _mss: Bytes) -> T {
        self
    }
    fn of(value: &T) -> T {
        value.clone()
    }
}

/// Packets are segments.
impl Setting<Bytes> for Amount {
    fn value(self, mss: Bytes) -> Bytes {
        match self {
            Amount::Packets(n) => Bytes(n.saturating_mul(mss.0)),
            Amount::Bytes(bytes) => bytes,
            Amount::Unlimited => Bytes::MAX,
        }
    }
    fn of(value: &Bytes) -> Amount {
        if *value == Bytes::MAX { Amount::Unlimited } else { Amount::Bytes(*value) }
    }
}

/// Writes [`TcpOptions`] from the list of settings: name, form in a scenario, place in [`TcpConfig`].
macro_rules! options {
    ($($(#[$doc:meta])* $name:ident: $form:ty => $($place:ident).+,)*) => {
        /// Settings of TCP endpoints; what is left out comes from the profile. The table of profiles is in the manual.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct TcpOptions {
            /// The set of values to start from; `rfc` unless given.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub profile: Option<ProfileName>,
            /// Congestion control: a name, or a table with name, profile and parameters; `newreno` unless given.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub cc: Option<CcChoice>,
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
                    $($name: self.$name.or(base.$name),)*
                }
            }

            fn apply(&self, config: &mut TcpConfig) {
                $(if let Some(written) = self.$name {
                    config.$($place).+ = Setting::value(written, config.mss);
                })*
            }

            /// Options that give this configuration with nothing left to the profile.
            pub fn of(profile: ProfileName, config: &TcpConfig) -> TcpOptions {
                TcpOptions {
                    profile: Some(profile),
                    cc: Some(CcChoice::of(&config.cc)),
                    $($name: Some(Setting::of(&config.$($place).+)),)*
                }
            }
        }
    };
}

// The segment size comes first: others are written in segments.
options! {
    /// Largest payload of a segment. With timestamps the SYN offers 12 bytes more. In a network of 802.15.4 with 6LoWPAN 256 B
    /// unless given, which are three frames: a longer segment has less overhead, but is lost with any of its fragments.
    mss: Bytes => mss,
    /// Loss detection and repair; what the algorithm's own form came with, if it insists on one.
    recovery: RecoveryKind => recovery,
    /// The way down to the reduced window, for recoveries `sack` and `rack`.
    cwnd_reduction: CwndReductionKind => cwnd_reduction,
    /// cwnd after the handshake; unless given as the profile has it for the segment size.
    initial_window: Amount => initial_window,
    /// ssthresh after the handshake.
    initial_ssthresh: Amount => initial_ssthresh,
    /// Receive buffer: the most that is advertised.
    recv_buffer: Bytes => recv_buffer,
    /// The advertised window at first; each segment opens it by two, up to the buffer. Unlimited opens it at once.
    initial_recv_window: Amount => initial_recv_window,
    /// The advertised window starts small and keeps ahead of the application, as in Linux.
    recv_autotune: bool => recv_autotune,
    /// Data accepted from the application and not yet acknowledged.
    send_buffer: Amount => send_buffer,
    /// An ACK at the latest for every so many segments; 1 acknowledges each at once.
    ack_every: u32 => delayed_ack.segments,
    /// An ACK at the latest after this.
    ack_delay: Span => delayed_ack.timeout,
    /// Linux's quick ACKs: so many at the start and after trouble are not delayed, and none while the window still opens.
    quick_acks: u32 => delayed_ack.quick,
    /// Duplicate ACKs after the third wait for one another this long at most; 0 sends each at once.
    ack_compression: Span => delayed_ack.compression,
    /// What ends a write is acknowledged when it is read, and the FIN like data (Linux).
    ack_push: bool => delayed_ack.push,
    /// Retransmission time-out before the first RTT sample.
    rto_initial: Span => rto.initial,
    /// Least retransmission time-out; for estimator `linux` its least variance term.
    rto_min: Span => rto.min,
    /// Greatest retransmission time-out.
    rto_max: Span => rto.max,
    /// The estimator behind the time-out.
    rtt_estimator: RttAlgorithm => rtt_estimator,
    /// Offer selective acknowledgments (RFC 2018).
    sack: bool => sack,
    /// Offer timestamps (RFC 7323).
    timestamps: bool => timestamps,
    /// Offer window scaling (RFC 7323); without it no window exceeds 65535 B.
    window_scale: bool => window_scale,
    /// Congestion marks: off, classic (RFC 3168), dctcp (RFC 8257), accecn (RFC 9768) or l4s (RFC 9331); what the algorithm
    /// reads, if it depends on one form.
    ecn: EcnMode => ecn,
    /// Duplicate ACKs, or segments reported beyond a gap, that mean loss.
    dup_thresh: u32 => dup_thresh,
    /// One new segment on each of the first two duplicate ACKs (RFC 3042).
    limited_transmit: bool => limited_transmit,
    /// Of several partial ACKs only the first restarts the retransmission timer (RFC 6582).
    impatient: bool => impatient,
    /// Probe for a lost tail before the time-out (RFC 8985); with recovery `rack` and SACK.
    tlp: bool => tlp,
    /// Tell spurious time-outs by what is acknowledged after them (RFC 5682); with recovery `rack`.
    frto: bool => frto,
    /// Take back a reduction that timestamps or duplicate reports show to be spurious; with recovery `rack`.
    undo: bool => undo,
    /// A segment that is not full waits for the one before (Nagle, with Minshall's refinement).
    nagle: bool => nagle,
    /// Spread transmissions over the RTT.
    pacing: bool => pacing,
    /// The window grows only while it is used.
    cwnd_validation: bool => cwnd_validation,
    /// Segments that leave at one instant are packets for the network card, whose last segment has PSH (Linux).
    tso_psh: bool => tso_psh,
    /// The window shrinks after silence (RFC 5681 section 4.1).
    slow_start_after_idle: bool => slow_start_after_idle,
    /// Retransmissions of the SYN before giving up.
    syn_retries: u32 => syn_retries,
    /// How long the side that closed first remembers the connection.
    time_wait: Span => time_wait,
}

impl TcpOptions {
    /// Reads the settings of endpoints from JSON text, as under `tcp` in a scenario; errors start at `path`.
    pub fn from_json(text: &str, path: &str) -> Result<TcpOptions, ScenarioError> {
        from_json(text, path, "", |_| ())
    }

    /// The same, where a choice of congestion control that names one of `further` means that one.
    pub fn with(mut self, further: &Further) -> TcpOptions {
        self.cc.iter_mut().for_each(|cc| cc.give(further));
        self
    }

    /// True if nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == TcpOptions::default()
    }

    /// The settings they stand for; errors start at `path`.
    pub fn resolve(&self, path: &str) -> Result<TcpConfig, ScenarioError> {
        let profile = self.profile.unwrap_or_default();
        let cc = self.cc.clone().unwrap_or_else(|| CcChoice::named("newreno"));
        let mut config = TcpConfig::of_profile(profile, cc.resolve(&join(path, "cc"), profile)?);
        if let Some(mss) = self.mss {
            config.initial_window = tcp::settings::initial_window(profile, mss);
        }
        if let Some(recovery) = self.recovery {
            // Another recovery than the algorithm came with brings SACK, or leaves it, unless that is given too.
            config.sack = recovery.uses_sack();
        }
        let requirements = config.cc.algorithm.requirements;
        config.ecn = requirements.ecn.unwrap_or(config.ecn);
        config.timestamps |= requirements.timestamps;
        self.apply(&mut config);
        check_demands(&config, path)?;
        check(&config, path)?;
        Ok(config)
    }
}

/// What an algorithm cannot do without is not to be switched off.
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
    Ok(())
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
    if config.delayed_ack.segments == 0 {
        return fail("ack_every", "0 would never acknowledge; write 1 for an ACK per segment".into());
    }
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
