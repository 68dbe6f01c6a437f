//! Explicit congestion notification: negotiation in the handshake, the receiver's feedback, and how the sender reads it
//! (RFC 3168 §6.1, RFC 8257 §3, RFC 9768 §3).

use crate::options::EcnHandshake;
use crate::segment::{Ecn, EcnBytes, Flags, Segment};
use crate::seq::SeqNo;
use crate::settings::{EcnMode, EcnOption};
use crate::units::Bytes;

/// Initial value of the CE packet counters r.cep and s.cep (RFC 9768 §3.2.1).
const INITIAL_CEP: u32 = 5;
/// RFC 9768 §3.2.2.5.1: CE marks since the last ACK that trigger an immediate ACK.
const MAX_UNREPORTED_MARKS: u32 = 2;
/// Number of values of the three-bit ACE field (RFC 9768 appendix A.2).
const DIVACE: u64 = 8;

/// ECN flags of a SYN that offers `mode` (RFC 3168 §6.1.1; RFC 9768 §3.1.1).
pub(crate) fn offer(mode: EcnMode) -> Flags {
    match mode {
        EcnMode::Off => Flags::default(),
        EcnMode::Classic | EcnMode::Dctcp => ace(0b011),
        EcnMode::Accecn | EcnMode::L4s => ace(0b111),
    }
}

/// Passive open: the mode accepted from a SYN, and the ECN flags of the SYN-ACK.
pub(crate) fn on_syn(mode: EcnMode, syn: &Segment) -> (EcnMode, Flags) {
    match (mode, ace_of(syn.flags)) {
        (EcnMode::Off, _) => (EcnMode::Off, Flags::default()),
        (EcnMode::Accecn | EcnMode::L4s, 0b111) => (mode, ace(reflected(syn.ecn))),
        // An older server ignores AE and sees a classic offer (RFC 9768 §3.1.2).
        (_, 0b011 | 0b111) => (classic(mode), Flags::ECE),
        _ => (EcnMode::Off, Flags::default()),
    }
}

/// Active open: the mode that the flags of a SYN-ACK accept (RFC 3168 §6.1.1; RFC 9768 table 2).
pub(crate) fn on_syn_ack(mode: EcnMode, syn_ack: Flags) -> EcnMode {
    match (mode, ace_of(syn_ack)) {
        (EcnMode::Off, _) => EcnMode::Off,
        (EcnMode::Accecn | EcnMode::L4s, 0b010 | 0b011 | 0b100 | 0b110) => mode,
        (EcnMode::Accecn | EcnMode::L4s, 0b001 | 0b101) => EcnMode::Classic,
        (EcnMode::Classic | EcnMode::Dctcp, 0b001 | 0b101) => mode,
        _ => EcnMode::Off,
    }
}

/// The one-bit mode that AccECN falls back to.
fn classic(mode: EcnMode) -> EcnMode {
    if mode.is_accurate() { EcnMode::Classic } else { mode }
}

/// The ACE field of a SYN-ACK, which reflects the ECN field of the SYN (RFC 9768 §3.1.2).
fn reflected(ecn: Ecn) -> u32 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// The ACE field as the flags AE, CWR and ECE.
fn ace(bits: u32) -> Flags {
    let flag = |bit: u32, flag| if bits & bit != 0 { flag } else { Flags::default() };
    flag(4, Flags::AE).with(flag(2, Flags::CWR)).with(flag(1, Flags::ECE))
}

fn ace_of(flags: Flags) -> u32 {
    let bit = |flag, value| if flags.contains(flag) { value } else { 0 };
    bit(Flags::AE, 4) + bit(Flags::CWR, 2) + bit(Flags::ECE, 1)
}

/// The ACK that an arriving ECN field triggers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EchoAck {
    /// None beyond the ACK policy's.
    None,
    /// An immediate ACK.
    Immediate,
    /// As `Immediate`, for the first mark: the window may soon be one segment, so the next segment is not to wait either (Linux).
    First,
    /// The sender retransmits: Linux answers without delay, other receivers as they do.
    Retransmission,
    /// An immediate ACK, preceded by one for the delayed segments with the previous echo state (RFC 8257 §3.2).
    Split,
}

/// The receiver's side: the feedback that its ACKs carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Echo {
    mode: EcnMode,
    /// ECN field of pure ACKs.
    pub(crate) of_acks: Ecn,
    /// ECE is set: until CWR arrives (classic), or as the last data packet was marked (DCTCP's DCTCP.CE).
    echo: bool,
    /// r.cep: CE-marked packets, from [`INITIAL_CEP`] on.
    cep: u32,
    /// r.e0b, r.ceb, r.e1b.
    bytes: EcnBytes,
    unreported_marks: u32,
    option: EcnOption,
    /// The peer sends the option, so that every segment has it.
    on_all: bool,
    /// How the SYN-ACK arrived, which ACKs tell in the place of the counter until data flows; a server's have none.
    answer: Flags,
    last_marked: bool,
    /// Data was ECN-capable, so that data which is not is a retransmission (RFC 3168 §6.1.5).
    capable: bool,
}

impl Echo {
    pub(crate) fn new(mode: EcnMode) -> Echo {
        let (bytes, of_acks) = (EcnBytes::default(), Ecn::NotEct);
        Echo {
            mode,
            of_acks,
            echo: false,
            cep: INITIAL_CEP,
            bytes,
            unreported_marks: 0,
            option: EcnOption::Acks,
            on_all: false,
            answer: Flags::default(),
            last_marked: false,
            capable: false,
        }
    }

    /// AccECN is agreed with RFC 9768's handshake; `theirs` is the SYN or SYN-ACK of the peer. ACKs are ECN-capable as in Linux.
    pub(crate) fn on_handshake(&mut self, option: EcnOption, theirs: Segment) {
        (self.option, self.of_acks) = (option, of_data(self.mode));
        self.note_option(&theirs);
        if theirs.flags.contains(Flags::ACK) {
            // §3.2.2.1, table 3; the mark of a SYN is told by the SYN-ACK and not counted.
            self.answer = ace(reflected(theirs.ecn));
            self.cep += u32::from(theirs.ecn == Ecn::Ce);
        }
    }

    /// The SYN-ACK came again: the ACK of it tells how this one arrived.
    pub(crate) fn on_syn_ack_again(&mut self, segment: &Segment) {
        if self.answer != Flags::default() {
            self.answer = ace(reflected(segment.ecn));
        }
    }

    fn note_option(&mut self, segment: &Segment) {
        self.on_all |= self.option == EcnOption::All && segment.ecn_bytes.is_some();
    }

    /// A packet arrived; `new` if it carries data within the window.
    #[inline]
    pub(crate) fn on_segment(&mut self, segment: &Segment, new: bool) -> EchoAck {
        if self.mode == EcnMode::Off { EchoAck::None } else { self.on_ecn_field(segment, new) }
    }

    #[inline(never)]
    fn on_ecn_field(&mut self, segment: &Segment, new: bool) -> EchoAck {
        let marked = segment.ecn == Ecn::Ce;
        match self.mode {
            EcnMode::Off => EchoAck::None,
            EcnMode::Classic => self.on_classic(segment, marked, new),
            EcnMode::Dctcp if new => self.on_dctcp(segment, marked),
            EcnMode::Dctcp => EchoAck::None,
            EcnMode::Accecn | EcnMode::L4s => self.on_accurate(segment, marked),
        }
    }

    /// RFC 3168 §6.1.3: echo from the first mark until CWR.
    fn on_classic(&mut self, segment: &Segment, marked: bool, new: bool) -> EchoAck {
        let (marked, reduced) = (marked && new, segment.flags.contains(Flags::CWR));
        let first = marked && (!self.echo || reduced);
        self.echo = marked || (self.echo && !reduced);
        let again = new && segment.ecn == Ecn::NotEct && self.capable;
        self.capable |= new && segment.ecn != Ecn::NotEct;
        // The window may be one segment, so that no second segment will trigger the ACK.
        match (first, reduced && segment.len > 0) {
            (true, _) => EchoAck::First,
            (false, true) => EchoAck::Immediate,
            (false, false) if again => EchoAck::Retransmission,
            (false, false) => EchoAck::None,
        }
    }

    /// RFC 8257 §3.2: a change of state is reported immediately, in two ACKs that keep the states apart. CWR, which §3.3 leaves to
    /// RFC 3168, says that the window may be one segment, as above.
    fn on_dctcp(&mut self, segment: &Segment, marked: bool) -> EchoAck {
        let changed = marked != self.echo;
        self.echo = marked;
        match changed {
            true => EchoAck::Split,
            false if segment.flags.contains(Flags::CWR) => EchoAck::Immediate,
            false => EchoAck::None,
        }
    }

    /// RFC 9768 §3.2.1: packets of every kind are counted, of bytes the payload.
    fn on_accurate(&mut self, segment: &Segment, marked: bool) -> EchoAck {
        let counter = match segment.ecn {
            Ecn::NotEct => None,
            Ecn::Ect1 => Some(&mut self.bytes.ect1),
            Ecn::Ect0 => Some(&mut self.bytes.ect0),
            Ecn::Ce => Some(&mut self.bytes.ce),
        };
        if let Some(counter) = counter {
            *counter = counter.wrapping_add(segment.len);
        }
        self.note_option(segment);
        if segment.len > 0 {
            self.answer = Flags::default();
        }
        self.cep = self.cep.wrapping_add(u32::from(marked));
        self.unreported_marks += u32::from(marked);
        // RFC 9768 §3.2.2.5.1: only data triggers an ACK.
        let first = marked && !self.last_marked;
        self.last_marked = marked;
        let due = segment.len > 0 && marked && (first || self.unreported_marks >= MAX_UNREPORTED_MARKS);
        if due { EchoAck::Immediate } else { EchoAck::None }
    }

    /// ECN flags of the next segment with data or FIN. `cwr`: CWR if the sender has reduced its window.
    #[inline]
    pub(crate) fn flags_of_data(&mut self, cwr: Flags) -> Flags {
        if self.mode == EcnMode::Off {
            return Flags::default();
        }
        self.answer = Flags::default();
        self.echo_flags(cwr)
    }

    /// ECN flags of a pure ACK.
    #[inline]
    pub(crate) fn flags_of_ack(&self) -> Flags {
        match self.mode {
            EcnMode::Off => Flags::default(),
            _ if self.answer != Flags::default() => self.answer,
            _ => self.echo_flags(Flags::default()),
        }
    }

    #[inline(never)]
    fn echo_flags(&self, cwr: Flags) -> Flags {
        match self.mode {
            EcnMode::Off => Flags::default(),
            EcnMode::Classic | EcnMode::Dctcp => ace(u32::from(self.echo)).with(cwr),
            EcnMode::Accecn | EcnMode::L4s => ace(self.cep % DIVACE as u32),
        }
    }

    /// ECN flags of the ACK sent first on a change of state (RFC 8257 §3.2).
    pub(crate) fn previous_flags(&self) -> Flags {
        if self.echo { Flags::default() } else { Flags::ECE }
    }

    /// The AccECN option of an ACK.
    pub(crate) fn option(&self) -> Option<EcnBytes> {
        let sent = self.on_all || (self.mode.is_accurate() && self.option == EcnOption::Acks);
        sent.then_some(self.bytes)
    }

    /// That of a segment with data.
    #[inline]
    pub(crate) fn option_of_data(&self) -> Option<EcnBytes> {
        self.on_all.then_some(self.bytes)
    }

    /// Records that an ACK is sent.
    pub(crate) fn on_ack_sent(&mut self) {
        self.unreported_marks = 0;
    }
}

/// ECN field of data.
pub(crate) fn of_data(mode: EcnMode) -> Ecn {
    match mode {
        EcnMode::Off => Ecn::NotEct,
        EcnMode::L4s => Ecn::Ect1,
        EcnMode::Classic | EcnMode::Dctcp | EcnMode::Accecn => Ecn::Ect0,
    }
}

/// ECN field of a SYN, SYN-ACK or pure ACK: not ECN-capable (RFC 3168 §6.1.1, §6.1.4), unless `capable` says so for mode `dctcp`, since
/// a switch that marks at K drops above it what is not (Judd, NSDI 2015, §3.2; Linux: `tcp_ecn_send_syn`, `tcp_ecn_send_synack`,
/// `tcp_ecn_send`).
pub(crate) fn of_control(mode: EcnMode, capable: bool) -> Ecn {
    if capable && mode == EcnMode::Dctcp { Ecn::Ect0 } else { Ecn::NotEct }
}

/// What an ACK reports about marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Marks {
    /// Congestion is reported: by ECE, or with AccECN by a counter that increased.
    pub(crate) echo: bool,
    /// Payload bytes reported as marked. With one-bit feedback all bytes that the ACK newly delivers.
    pub(crate) ce: Bytes,
}

/// The sender's side: what ACKs have reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feedback {
    mode: EcnMode,
    /// s.cep: CE-marked packets reported so far.
    cep: u64,
    /// s.ceb: CE-marked bytes reported so far.
    ceb: u32,
    /// Marked bytes inferred from the ACE field alone, not yet covered by the option.
    inferred: Bytes,
    handshake: EcnHandshake,
    /// Nothing of the peer's has been read yet.
    first: bool,
    /// The first of it had a counter that cannot be 0: something on the way clears it (RFC 9768 §3.2.2.1, §3.2.2.4).
    pub(crate) cleared: bool,
    /// A mark came at a window of one segment: nothing is sent until the retransmission timer expires (RFC 3168 §6.1.2).
    pub(crate) waits: bool,
    /// Such pauses in a row.
    pub(crate) waits_in_a_row: u32,
}

impl Feedback {
    pub(crate) fn new(mode: EcnMode, handshake: EcnHandshake) -> Feedback {
        let (cep, inferred, first) = (u64::from(INITIAL_CEP), Bytes::ZERO, handshake != EcnHandshake::None);
        Feedback { mode, cep, ceb: 0, inferred, handshake, first, cleared: false, waits: false, waits_in_a_row: 0 }
    }

    /// True if a segment that acknowledges nothing new carries no ECN feedback.
    pub(crate) fn ignores(&self, segment: &Segment) -> bool {
        self.mode == EcnMode::Off || (!self.mode.is_accurate() && !segment.flags.contains(Flags::ECE))
    }

    /// Reads an acceptable ACK that newly delivers `newly_delivered` bytes.
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
        self.cleared |= std::mem::take(&mut self.first) && ace_of(segment.flags) == 0;
        let begins = [segment.seq, segment.ack] == [SeqNo::FIRST_DATA; 2] && segment.sequence_len() == Bytes::ZERO;
        if begins && self.handshake == EcnHandshake::OfServer {
            // RFC 9768 §3.2.2.1, table 3: a mark of the SYN-ACK is none of data.
            self.cep = self.cep.max(u64::from(INITIAL_CEP) + u64::from(ace_of(segment.flags) == reflected(Ecn::Ce)));
            return Marks::default();
        }
        let d_cep = (u64::from(ace_of(segment.flags)) + DIVACE - self.cep % DIVACE) % DIVACE;
        let Some(reported) = segment.ecn_bytes else {
            let packets = d_safer_cep(d_cep, newly_delivered.0.div_ceil(mss.0));
            self.cep += packets;
            self.inferred += mss * packets;
            return Marks { echo: packets > 0, ce: mss * packets };
        };
        // The counters never decrease: a smaller value is from a reordered ACK.
        let bytes = reported.ce.wrapping_sub(self.ceb);
        if bytes > u32::MAX / 2 {
            return Marks::default();
        }
        // The option is more precise than the ACE field, which then only fixes the last three bits.
        let packets = d_safer_cep(d_cep, u64::from(bytes).div_ceil(mss.0));
        self.cep += packets;
        self.ceb = reported.ce;
        let bytes = Bytes(u64::from(bytes));
        let known = bytes.min(self.inferred);
        self.inferred = self.inferred.saturating_sub(known);
        Marks { echo: packets > 0 || bytes > known, ce: bytes.saturating_sub(known) }
    }
}

/// dSafer.cep: marked packets since the last ACK, given their number modulo 8. RFC 9768 §3.2.2.5.2 and appendix A.2: if
/// enough packets were newly acknowledged that the ACE field may have cycled, the largest consistent value.
fn d_safer_cep(d_cep: u64, acked_packets: u64) -> u64 {
    if acked_packets < DIVACE || acked_packets < d_cep {
        return d_cep;
    }
    acked_packets - (acked_packets - d_cep) % DIVACE
}

#[cfg(test)]
mod tests;
