//! Explicit congestion notification: what the handshake agrees on, what a receiver echoes and what a sender reads from
//! it (RFC 3168 §6.1, RFC 8257 §3, RFC 9768 §3).

use crate::segment::{Ecn, EcnBytes, Flags, Segment};
use crate::settings::EcnMode;
use crate::units::Bytes;

/// What RFC 9768 §3.2.1 has the counter of marked packets begin with.
const FIRST_COUNT: u32 = 5;
/// RFC 9768 §3.2.2.5.1: so many marks since the last ACK bring the next one at once.
const MARKS_PER_ACK: u32 = 2;
/// Values of the three-bit field that carries the counter.
const ACE_VALUES: u64 = 8;

/// The flags of a SYN that offers `mode` (RFC 3168 §6.1.1; RFC 9768 §3.1.1).
pub(crate) fn offer(mode: EcnMode) -> Flags {
    match mode {
        EcnMode::Off => Flags::default(),
        EcnMode::Classic | EcnMode::Dctcp => ace(0b011),
        EcnMode::Accecn | EcnMode::L4s => ace(0b111),
    }
}

/// What the passive side makes of a SYN: the mode it takes up and the flags of its SYN-ACK.
pub(crate) fn answer(mode: EcnMode, syn: &Segment) -> (EcnMode, Flags) {
    match (mode, ace_of(syn.flags)) {
        (EcnMode::Off, _) => (EcnMode::Off, Flags::default()),
        (EcnMode::Accecn | EcnMode::L4s, 0b111) => (mode, ace(seen(syn.ecn))),
        // An older server does not know the third bit: it sees a classic offer (RFC 9768 §3.1.2).
        (_, 0b011 | 0b111) => (classic(mode), Flags::ECE),
        _ => (EcnMode::Off, Flags::default()),
    }
}

/// What the active side makes of the flags of a SYN-ACK (RFC 3168 §6.1.1; RFC 9768 table 2).
pub(crate) fn settle(mode: EcnMode, syn_ack: Flags) -> EcnMode {
    match (mode, ace_of(syn_ack)) {
        (EcnMode::Off, _) => EcnMode::Off,
        (EcnMode::Accecn | EcnMode::L4s, 0b010 | 0b011 | 0b100 | 0b110) => mode,
        (EcnMode::Accecn | EcnMode::L4s, 0b001 | 0b101) => EcnMode::Classic,
        (EcnMode::Classic | EcnMode::Dctcp, 0b001 | 0b101) => mode,
        _ => EcnMode::Off,
    }
}

/// The mode in which an echo is one bit: AccECN falls back to the classic one.
fn classic(mode: EcnMode) -> EcnMode {
    if mode.is_accurate() { EcnMode::Classic } else { mode }
}

/// How a SYN-ACK says with which ECN field the SYN arrived (RFC 9768 §3.1.2).
fn seen(ecn: Ecn) -> u32 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// Three bits as AE, CWR and ECE.
fn ace(bits: u32) -> Flags {
    let flag = |bit: u32, flag| if bits & bit != 0 { flag } else { Flags::default() };
    flag(4, Flags::AE).with(flag(2, Flags::CWR)).with(flag(1, Flags::ECE))
}

fn ace_of(flags: Flags) -> u32 {
    let bit = |flag, value| if flags.contains(flag) { value } else { 0 };
    bit(Flags::AE, 4) + bit(Flags::CWR, 2) + bit(Flags::ECE, 1)
}

/// What an arriving ECN field asks of the ACKs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EchoWish {
    /// Nothing beyond the usual.
    None,
    /// An ACK at once.
    Now,
    /// An ACK at once, and before it one of what was waiting, with the echo as it was.
    Split,
}

/// The receiver's side: what its ACKs say about marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Echo {
    mode: EcnMode,
    /// ECE goes out: until CWR comes (classic), or as the last data packet was marked (dctcp).
    echo: bool,
    /// Marked packets, from [`FIRST_COUNT`] on (r.cep).
    packets: u32,
    bytes: EcnBytes,
    marks_since_ack: u32,
    last_marked: bool,
}

impl Echo {
    pub(crate) fn new(mode: EcnMode) -> Echo {
        let bytes = EcnBytes::default();
        Echo { mode, echo: false, packets: FIRST_COUNT, bytes, marks_since_ack: 0, last_marked: false }
    }

    /// A packet arrived; `new` if it brings data within the window.
    #[inline]
    pub(crate) fn on_segment(&mut self, segment: &Segment, new: bool) -> EchoWish {
        if self.mode == EcnMode::Off { EchoWish::None } else { self.on_ecn_field(segment, new) }
    }

    #[inline(never)]
    fn on_ecn_field(&mut self, segment: &Segment, new: bool) -> EchoWish {
        let marked = segment.ecn == Ecn::Ce;
        match self.mode {
            EcnMode::Off => EchoWish::None,
            EcnMode::Classic => self.on_classic(segment, marked && new),
            EcnMode::Dctcp if new => self.on_dctcp(marked),
            EcnMode::Dctcp => EchoWish::None,
            EcnMode::Accecn | EcnMode::L4s => self.on_accurate(segment, marked),
        }
    }

    /// RFC 3168 §6.1.3: from the mark on until the sender says that it has reduced its window.
    fn on_classic(&mut self, segment: &Segment, marked: bool) -> EchoWish {
        let reduced = segment.flags.contains(Flags::CWR);
        let first = marked && !self.echo;
        self.echo = marked || (self.echo && !reduced);
        // The window may be down to one segment, so that no second one will come.
        if first || (reduced && segment.len > 0) { EchoWish::Now } else { EchoWish::None }
    }

    /// RFC 8257 §3.2: a change of state is told at once; the two ACKs it allows keep the states apart.
    fn on_dctcp(&mut self, marked: bool) -> EchoWish {
        let changed = marked != self.echo;
        self.echo = marked;
        if changed { EchoWish::Split } else { EchoWish::None }
    }

    /// RFC 9768 §3.2.1: packets of every kind are counted, of bytes the payload.
    fn on_accurate(&mut self, segment: &Segment, marked: bool) -> EchoWish {
        let counter = match segment.ecn {
            Ecn::NotEct => None,
            Ecn::Ect1 => Some(&mut self.bytes.ect1),
            Ecn::Ect0 => Some(&mut self.bytes.ect0),
            Ecn::Ce => Some(&mut self.bytes.ce),
        };
        if let Some(counter) = counter {
            *counter = counter.wrapping_add(segment.len);
        }
        self.packets = self.packets.wrapping_add(u32::from(marked));
        self.marks_since_ack += u32::from(marked);
        // RFC 9768 §3.2.2.5.1: only data brings an ACK of its own.
        let first = marked && !self.last_marked;
        self.last_marked = marked;
        let due = segment.len > 0 && marked && (first || self.marks_since_ack >= MARKS_PER_ACK);
        if due { EchoWish::Now } else { EchoWish::None }
    }

    /// The flags of a segment that leaves now. `cwr`: the sender has reduced its window.
    #[inline]
    pub(crate) fn flags(&self, cwr: bool) -> Flags {
        if self.mode == EcnMode::Off { Flags::default() } else { self.echo_flags(cwr) }
    }

    #[inline(never)]
    fn echo_flags(&self, cwr: bool) -> Flags {
        match self.mode {
            EcnMode::Off => Flags::default(),
            EcnMode::Classic | EcnMode::Dctcp => ace(u32::from(cwr) * 2 + u32::from(self.echo)),
            EcnMode::Accecn | EcnMode::L4s => ace(self.packets % ACE_VALUES as u32),
        }
    }

    /// The flags of the ACK that a change of state sends ahead (RFC 8257 §3.2).
    pub(crate) fn flags_before(&self) -> Flags {
        if self.echo { Flags::default() } else { Flags::ECE }
    }

    /// The AccECN option of an ACK.
    pub(crate) fn option(&self) -> Option<EcnBytes> {
        self.mode.is_accurate().then_some(self.bytes)
    }

    /// Notes that an acknowledgment is leaving.
    pub(crate) fn on_ack_sent(&mut self) {
        self.marks_since_ack = 0;
    }
}

/// What an ACK reports about marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Marks {
    /// Congestion is reported: ECE, or with AccECN a counter that has moved.
    pub(crate) echo: bool,
    /// Payload reported as marked. With one bit of echo all that the ACK newly delivers counts.
    pub(crate) ce: Bytes,
}

/// The sender's side: what ACKs report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feedback {
    mode: EcnMode,
    /// Marked packets reported so far (s.cep).
    packets: u64,
    /// Marked bytes reported so far (s.ceb).
    bytes: u32,
    /// Marked bytes told before the option did: by packets alone.
    ahead: Bytes,
}

impl Feedback {
    pub(crate) fn new(mode: EcnMode) -> Feedback {
        Feedback { mode, packets: u64::from(FIRST_COUNT), bytes: 0, ahead: Bytes::ZERO }
    }

    /// True if a segment that acknowledges nothing new has nothing to say, and would leave no trace here.
    pub(crate) fn ignores(&self, segment: &Segment) -> bool {
        self.mode == EcnMode::Off || (!self.mode.is_accurate() && !segment.flags.contains(Flags::ECE))
    }

    /// Reads an acceptable ACK with which `newly_delivered` bytes are known to have arrived.
    #[inline]
    pub(crate) fn on_ack(&mut self, segment: &Segment, newly_delivered: Bytes, mss: Bytes) -> Marks {
        if self.mode == EcnMode::Off { Marks::default() } else { self.read(segment, newly_delivered, mss) }
    }

    #[inline(never)]
    fn read(&mut self, segment: &Segment, newly_delivered: Bytes, mss: Bytes) -> Marks {
        match self.mode {
            EcnMode::Off => Marks::default(),
            EcnMode::Classic | EcnMode::Dctcp => {
                let echo = segment.flags.contains(Flags::ECE);
                Marks { echo, ce: if echo { newly_delivered } else { Bytes::ZERO } }
            }
            EcnMode::Accecn | EcnMode::L4s => self.on_accurate(segment, newly_delivered, mss),
        }
    }

    fn on_accurate(&mut self, segment: &Segment, newly_delivered: Bytes, mss: Bytes) -> Marks {
        let least = (u64::from(ace_of(segment.flags)) + ACE_VALUES - self.packets % ACE_VALUES) % ACE_VALUES;
        let Some(reported) = segment.ecn_bytes else {
            let packets = since_last(least, newly_delivered.0.div_ceil(mss.0));
            self.packets += packets;
            self.ahead += mss * packets;
            return Marks { echo: packets > 0, ce: mss * packets };
        };
        // The counters never go back: a smaller one is on an ACK that was overtaken.
        let bytes = reported.ce.wrapping_sub(self.bytes);
        if bytes > u32::MAX / 2 {
            return Marks::default();
        }
        // The option tells more than the field can; the field then only has to agree on the last three bits.
        let packets = since_last(least, u64::from(bytes).div_ceil(mss.0));
        self.packets += packets;
        self.bytes = reported.ce;
        let bytes = Bytes(u64::from(bytes));
        let told = bytes.min(self.ahead);
        self.ahead = self.ahead.saturating_sub(told);
        Marks { echo: packets > 0 || bytes > told, ce: bytes.saturating_sub(told) }
    }
}

/// Marked packets since the last ACK, of which `least` is the number modulo 8. RFC 9768 §3.2.2.5.2 and appendix A.2: if
/// so many packets can have arrived that the field may have cycled, the most it can stand for.
fn since_last(least: u64, arrived: u64) -> u64 {
    if arrived < ACE_VALUES || arrived < least { least } else { arrived - (arrived - least) % ACE_VALUES }
}

#[cfg(test)]
mod tests;
