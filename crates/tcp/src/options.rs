//! Options: what the two ends agree on in the handshake (RFC 9293 §3.7.1, RFC 7323, RFC 2018), and the timestamp clock.

use crate::config::TcpConfig;
use crate::segment::{Flags, Segment, SynOptions, Timestamps};
use crate::seq::SeqNo;
use crate::settings::{EcnMode, EcnOption};
use crate::units::{Bytes, Span, Time};

/// Maximum of the window field without scaling.
pub(crate) const MAX_UNSCALED: Bytes = Bytes(65_535);
/// RFC 7323 §2.3
const MAX_SHIFT: u8 = 14;

/// RFC 9768's handshake (§3.2.2.1), as one end has it: the client's first ACK tells how the SYN-ACK arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EcnHandshake {
    /// There is none, or no AccECN.
    None,
    OfClient,
    OfServer,
}

/// What one end of a connection uses after the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Agreed {
    /// Largest payload of a segment to the peer.
    pub(crate) mss: Bytes,
    /// SACK may be used.
    pub(crate) sack: bool,
    /// Every segment carries timestamps.
    pub(crate) timestamps: bool,
    /// The form of ECN feedback.
    pub(crate) ecn: EcnMode,
    /// Of AccECN.
    pub(crate) ecn_handshake: EcnHandshake,
    /// The scale of our window field.
    pub(crate) scale: Scale,
}

impl Agreed {
    /// What `config`, with this receive buffer, and the peer's SYN or SYN-ACK have in common.
    pub(crate) fn new(config: &TcpConfig, recv_buffer: Bytes, theirs: &Segment, ecn: EcnMode) -> Agreed {
        // A peer that does not model options, such as a script's, has no limits.
        let Some(syn) = theirs.syn else {
            let (mss, ecn_handshake) = (config.mss, EcnHandshake::None);
            return Agreed { mss, sack: false, timestamps: false, ecn, ecn_handshake, scale: Scale::Free };
        };
        let timestamps = config.timestamps && theirs.timestamps.is_some();
        let ecn_handshake = match theirs.flags.contains(Flags::ACK) {
            _ if !ecn.is_accurate() || !config.ecn_option.has_handshake() => EcnHandshake::None,
            true => EcnHandshake::OfClient,
            false => EcnHandshake::OfServer,
        };
        let counters = ecn_handshake != EcnHandshake::None && config.ecn_option == EcnOption::All;
        let optional = |present: bool, size: Bytes| if present { size } else { Bytes::ZERO };
        let room = optional(timestamps, Segment::TIMESTAMPS) + optional(counters, Segment::ECN_BYTES);
        Agreed {
            // RFC 9293 §3.7.1: the smaller of both MSS options, less the options of every segment. If the peer refuses the
            // timestamps, data takes their place.
            mss: offered_mss(config).min(Bytes(u64::from(syn.mss))).saturating_sub(room).max(Bytes(1)),
            sack: config.sack && syn.sack_permitted,
            timestamps,
            ecn,
            ecn_handshake,
            scale: if config.window_scale && syn.window_scale.is_some() {
                Scale::Shift(shift_for(recv_buffer))
            } else {
                Scale::Unscaled
            },
        }
    }
}

/// How a window is encoded in the window field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scale {
    /// Unlimited: the peer does not model the field.
    Free,
    /// In bytes, so at most [`MAX_UNSCALED`]; in every SYN as well (RFC 7323 §2.2).
    Unscaled,
    /// Shifted right by this many bits.
    Shift(u8),
}

impl Scale {
    /// Maximum window that can be advertised.
    pub(crate) fn max_window(self) -> Bytes {
        match self {
            Scale::Free => Bytes::MAX,
            Scale::Unscaled => MAX_UNSCALED,
            Scale::Shift(bits) => Bytes(MAX_UNSCALED.0 << bits),
        }
    }

    /// Advertised windows are multiples of this.
    pub(crate) fn unit(self) -> u64 {
        match self {
            Scale::Free | Scale::Unscaled => 1,
            Scale::Shift(bits) => 1 << bits,
        }
    }
}

/// The smallest shift with which all of `buffer` can be advertised (RFC 7323 §2.3).
fn shift_for(buffer: Bytes) -> u8 {
    (0..MAX_SHIFT).find(|bits| MAX_UNSCALED.0 << bits >= buffer.0).unwrap_or(MAX_SHIFT)
}

/// Our MSS option, which does not subtract other options (RFC 9293 §3.7.1).
fn offered_mss(config: &TcpConfig) -> Bytes {
    config.mss + if config.timestamps { Segment::TIMESTAMPS } else { Bytes::ZERO }
}

/// The options of our SYN, or of our SYN-ACK to the SYN `theirs`: only what that offered.
pub(crate) fn offer(config: &TcpConfig, recv_buffer: Bytes, theirs: Option<&Segment>) -> SynOptions {
    let offered = |by: fn(&SynOptions) -> bool| theirs.is_none_or(|segment| segment.syn.as_ref().is_some_and(by));
    let scale = config.window_scale && offered(|syn| syn.window_scale.is_some());
    SynOptions {
        mss: u32::try_from(offered_mss(config).0).unwrap_or(u32::MAX),
        window_scale: scale.then(|| shift_for(recv_buffer)),
        sack_permitted: config.sack && offered(|syn| syn.sack_permitted),
    }
}

/// The clock of our timestamps, and the peer's timestamp to echo (RFC 7323 §4).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    agreed: bool,
    echoes_duplicates: bool,
    /// TS.Recent
    recent: u32,
    /// Last.ACK.sent
    last_ack_sent: SeqNo,
}

impl Clock {
    /// Our timestamp at `now`, in milliseconds.
    pub(crate) fn at(now: Time) -> u32 {
        (now.as_nanos() / 1_000_000) as u32
    }

    /// Whole milliseconds since a timestamp of ours; none since one that is not yet ours.
    pub(crate) fn age(stamp: u32, now: Time) -> Span {
        Span::from_millis(Clock::at(now).saturating_sub(stamp).into())
    }

    /// The peer's SYN or SYN-ACK arrived: its timestamp is the first to echo, in the ACK about to be sent.
    pub(crate) fn on_syn(&mut self, theirs: &Segment) {
        self.last_ack_sent = theirs.end();
        self.recent = theirs.timestamps.map_or(0, |stamps| stamps.value);
    }

    /// There is no SYN: the peer's first segment of data is the first whose timestamp is echoed.
    pub(crate) fn expect_no_syn(&mut self) {
        self.last_ack_sent = SeqNo::FIRST_DATA;
    }

    /// Whether both ends use timestamps is known.
    pub(crate) fn agree(&mut self, agreed: bool) {
        self.agreed = agreed;
    }

    /// The timestamp of what has been acknowledged before is kept too.
    pub(crate) fn echo_duplicates(&mut self) {
        self.echoes_duplicates = true;
    }

    /// RFC 7323 §4.3 (2): echo the timestamp of the earliest unacknowledged segment, so that the RTT includes the delay of
    /// our ACK, and never that of an out-of-order segment. A segment that ends before the last ACK sent is not acceptable
    /// (§5.3 R2, RFC 9293 §3.10.7.4), and its timestamp is not kept.
    pub(crate) fn on_segment(&mut self, segment: &Segment) {
        if let Some(stamps) = segment.timestamps
            && segment.seq <= self.last_ack_sent
            && (segment.end() >= self.last_ack_sent || self.echoes_duplicates)
            && stamps.value.wrapping_sub(self.recent) <= u32::MAX / 2
        {
            self.recent = stamps.value;
        }
    }

    /// The option of the next segment, which acknowledges up to `ack`.
    pub(crate) fn stamp(&mut self, now: Time, ack: SeqNo) -> Option<Timestamps> {
        self.last_ack_sent = ack;
        self.agreed.then(|| Timestamps { value: Clock::at(now), echo: self.recent })
    }

    /// The option of our SYN, or of our SYN-ACK if the SYN had it.
    pub(crate) fn stamp_syn(&self, now: Time, theirs: Option<&Segment>) -> Option<Timestamps> {
        let wanted = theirs.is_none_or(|segment| segment.timestamps.is_some());
        wanted.then(|| Timestamps { value: Clock::at(now), echo: self.recent })
    }
}

#[cfg(test)]
mod tests;
