//! The settings of each profile, side by side.

use super::TcpConfig;
use crate::cc::CcConfig;
use crate::settings::{
    CwndReductionKind, CwndValidation, DelayedAck, EcnMode, EcnOption, OpeningKind, ProfileName, RecoveryKind,
    RtoBounds, RttAlgorithm, initial_window,
};
use crate::units::{Bytes, Span};

impl TcpConfig {
    /// The settings of a profile, with the congestion control in its form for that profile.
    pub fn of_profile(profile: ProfileName, cc: CcConfig) -> TcpConfig {
        match profile {
            ProfileName::Rfc => TcpConfig::rfc(cc),
            ProfileName::Linux => TcpConfig::linux(cc),
            ProfileName::Ns2 => TcpConfig::ns2(cc),
            ProfileName::Ns3 => TcpConfig::ns3(cc),
            ProfileName::Netsim12 => TcpConfig::netsim12(cc),
        }
    }

    fn rfc(cc: CcConfig) -> TcpConfig {
        let mss = Bytes(1460);
        let recovery = cc.recovery().unwrap_or(RecoveryKind::Rack);
        let ms = Span::from_millis;
        TcpConfig {
            mss,
            initial_window: initial_window(ProfileName::Rfc, mss),
            initial_ssthresh: Bytes::MAX,
            start: None,
            cwnd_clamp: Bytes::MAX,
            recv_buffer: Bytes(1 << 30),
            initial_recv_window: Bytes::MAX,
            recv_autotune: false,
            receiver_control: None,
            auto_read: true,
            read_interval: Span::ZERO,
            send_buffer: Bytes::MAX,
            delayed_ack: DelayedAck::RFC,
            rto: RtoBounds { initial: ms(1000), min: ms(1000), max: ms(60_000), granularity: ms(1) },
            rtt_estimator: RttAlgorithm::Rfc,
            sack: recovery.uses_sack(),
            timestamps: false,
            window_scale: true,
            ecn: EcnMode::Off,
            ecn_option: EcnOption::Acks,
            ecn_of_control: false,
            dup_thresh: 3,
            limited_transmit: true,
            impatient: true,
            tlp: true,
            frto: true,
            undo: true,
            nagle: false,
            pacing: false,
            cwnd_validation: CwndValidation::Linux,
            tso_psh: false,
            tso_defer: false,
            tso_fill: false,
            writes_by_thirds: false,
            slow_start_after_idle: true,
            syn_retries: 6,
            syn_linear_timeouts: 0,
            opening: OpeningKind::Rfc,
            retries2: 15,
            user_timeout: Span::ZERO,
            handshake: true,
            agent: None,
            time_wait: ms(60_000),
            recovery,
            cwnd_reduction: CwndReductionKind::Prr,
            cc,
            misbehaviour: None,
            seed: 0,
        }
    }

    fn linux(cc: CcConfig) -> TcpConfig {
        // An Ethernet frame less the headers and the 12 bytes of the timestamps option.
        let mss = Bytes(1448);
        let ms = Span::from_millis;
        let rfc = TcpConfig::rfc(cc);
        TcpConfig {
            mss,
            initial_window: initial_window(ProfileName::Linux, mss),
            // As the recorded receiver of 6.18: it never limits (3.3 MB were outstanding after 259 segments in order), and
            // while it opens, over 2,898 segments, each has an ACK of its own (docs/generated/validation.md).
            recv_buffer: Bytes(1 << 24),
            initial_recv_window: Bytes((1 << 24) - 2_898 * 2 * mss.0),
            delayed_ack: DelayedAck {
                segments: 2,
                timeout: ms(40),
                quick: 16,
                first: false,
                compression: ms(1),
                push: true,
                interactive: true,
            },
            rto: RtoBounds { min: ms(200), max: ms(120_000), ..rfc.rto },
            rtt_estimator: RttAlgorithm::Linux,
            timestamps: true,
            nagle: true,
            impatient: false,
            ecn_of_control: true,
            syn_linear_timeouts: 4,
            cwnd_reduction: CwndReductionKind::LinuxPrr,
            tso_psh: true,
            tso_defer: true,
            tso_fill: true,
            writes_by_thirds: true,
            ..rfc
        }
    }

    /// What the simulators share: no TLP, F-RTO or undo, no cwnd validation, and no slow start after idle.
    fn plain(cc: CcConfig, recovery: RecoveryKind) -> TcpConfig {
        let recovery = cc.recovery().unwrap_or(recovery);
        TcpConfig {
            sack: recovery.uses_sack(),
            tlp: false,
            frto: false,
            undo: false,
            cwnd_validation: CwndValidation::None,
            slow_start_after_idle: false,
            retries2: 0,
            recovery,
            ..TcpConfig::rfc(cc)
        }
    }

    fn ns2(cc: CcConfig) -> TcpConfig {
        let mss = Bytes(1000);
        let ms = Span::from_millis;
        let plain = TcpConfig::plain(cc, RecoveryKind::NewReno);
        TcpConfig {
            mss,
            initial_window: initial_window(ProfileName::Ns2, mss),
            // window_ 20: the limit of what the sender has outstanding.
            initial_ssthresh: mss * 20,
            recv_buffer: mss * 20,
            delayed_ack: DelayedAck { segments: 1, ..plain.delayed_ack },
            rto: RtoBounds { initial: ms(3000), min: ms(200), max: ms(60_000), granularity: ms(10) },
            cwnd_reduction: CwndReductionKind::RateHalving,
            ..plain
        }
    }

    fn ns3(cc: CcConfig) -> TcpConfig {
        let mss = Bytes(536);
        let plain = TcpConfig::plain(cc, RecoveryKind::Sack);
        TcpConfig {
            mss,
            initial_window: initial_window(ProfileName::Ns3, mss),
            recv_buffer: Bytes(131_072),
            delayed_ack: DelayedAck { first: true, ..plain.delayed_ack },
            send_buffer: Bytes(131_072),
            // ConnTimeout; the initial estimate of an RTT does not matter with timestamps.
            rto: RtoBounds { initial: Span::from_millis(3000), ..plain.rto },
            opening: OpeningKind::BareAck,
            rtt_estimator: RttAlgorithm::Timestamps,
            timestamps: true,
            ..plain
        }
    }

    fn netsim12(cc: CcConfig) -> TcpConfig {
        let mss = Bytes(1460);
        let plain = TcpConfig::plain(cc, RecoveryKind::Reno);
        TcpConfig {
            mss,
            initial_window: initial_window(ProfileName::Netsim12, mss),
            initial_ssthresh: Bytes(65_535),
            recv_buffer: Bytes(65_535),
            delayed_ack: DelayedAck { segments: 1, ..plain.delayed_ack },
            window_scale: false,
            syn_retries: 5,
            time_wait: Span::from_millis(120_000),
            ..plain
        }
    }
}
