use std::collections::VecDeque;

use super::*;
use crate::cc::{Algorithm, CcConfig, Profile, Requirements, Setup};
use crate::segment::{Ecn, SynOptions};
use crate::seq::SeqRange;
use crate::settings::{Misbehaviour, ProfileName};
use crate::units::Span;

const ONE_WAY: Span = Span::from_millis(10);

pub(super) fn config(profile: ProfileName) -> TcpConfig {
    match CcConfig::by_name("newreno", None, &[]) {
        Ok(cc) => TcpConfig { sack: true, ..TcpConfig::of_profile(profile, cc) },
        Err(error) => panic!("{error:?}"),
    }
}

pub(super) fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Two endpoints, 10 ms apart, on a wire without a rate.
pub(super) struct Pair {
    pub(super) ends: [Connection; 2],
    now: Time,
    wire: VecDeque<(Time, usize, Segment)>,
    /// All that was sent, by which end.
    pub(super) log: Vec<(Time, usize, Segment)>,
    /// Marks each data segment of end 0 that it is asked about, by number of data segment.
    marks: fn(usize) -> bool,
    pub(super) delivered: [u64; 2],
    pub(super) events: Vec<(usize, Event)>,
}

impl Pair {
    pub(super) fn new(ends: [Connection; 2]) -> Pair {
        let (wire, log) = (VecDeque::new(), Vec::new());
        Pair { ends, now: Time::ZERO, wire, log, marks: |_| false, delivered: [0; 2], events: Vec::new() }
    }

    pub(super) fn of(active: TcpConfig, passive: TcpConfig) -> Pair {
        Pair::new([Connection::connect(active), Connection::listen(passive)])
    }

    fn drain(&mut self) {
        for end in 0..2 {
            while let Some(event) = self.ends[end].poll_event() {
                match event {
                    Event::Delivered(bytes) => self.delivered[end] += bytes,
                    other => self.events.push((end, other)),
                }
            }
            while let Some(segment) = self.ends[end].poll_segment(self.now) {
                self.log.push((self.now, end, segment));
                let number = self.log.iter().filter(|sent| sent.1 == 0 && sent.2.len > 0).count();
                let marked = end == 0 && segment.len > 0 && segment.ecn != Ecn::NotEct && (self.marks)(number);
                let ecn = if marked { Ecn::Ce } else { segment.ecn };
                self.wire.push_back((self.now + ONE_WAY, 1 - end, Segment { ecn, ..segment }));
            }
        }
    }

    /// Lets time pass up to `until`.
    pub(super) fn run(&mut self, until: Time) {
        self.drain();
        loop {
            let timers = self.ends.iter().filter_map(Connection::next_timeout);
            let next = timers.chain(self.wire.front().map(|first| first.0)).min();
            let Some(next) = next.filter(|next| *next <= until) else { break };
            self.now = next;
            if let Some((_, end, segment)) = self.wire.pop_front_if(|first| first.0 == next) {
                self.ends[end].on_segment(next, &segment);
            }
            self.ends.iter_mut().for_each(|end| end.on_timeout(next));
            self.drain();
        }
        self.now = until;
    }

    fn sent_by(&self, end: usize) -> impl Iterator<Item = &Segment> {
        self.log.iter().filter(move |sent| sent.1 == end).map(|sent| &sent.2)
    }
}

#[test]
fn every_segment_carries_what_was_agreed() {
    let linux = config(ProfileName::Linux);
    let mut pair = Pair::of(linux.clone(), linux);
    pair.ends[0].write(100_000);
    pair.run(ms(1000));
    assert_eq!(pair.delivered, [0, 100_000]);
    let syn = SynOptions { mss: 1460, window_scale: Some(9), sack_permitted: true };
    for end in 0..2 {
        let first = pair.sent_by(end).next().copied().unwrap_or_default();
        assert_eq!((first.syn, first.window, first.header()), (Some(syn), Bytes(65_535), Bytes(40)));
        assert!(pair.sent_by(end).skip(1).all(|segment| segment.syn.is_none()));
    }
    assert!(pair.log.iter().all(|(at, _, segment)| segment.timestamps.map(|t| t.value) == Some(Clock::at(*at))));
    assert!(pair.sent_by(0).all(|segment| segment.len <= 1448));
    // Without a queue an ACK returns what was sent one way before it.
    let echoes =
        pair.log.iter().filter(|sent| sent.1 == 1).filter_map(|(at, _, segment)| Some((at, segment.timestamps?)));
    assert!(echoes.clone().count() > 60);
    assert!(echoes.clone().all(|(at, t)| t.echo + 10 == Clock::at(*at)));
}

#[test]
fn claims_beyond_what_was_sent_are_ignored_and_answered() {
    let misled =
        TcpConfig { misbehaviour: Some(Misbehaviour::Optimistic { ahead: Bytes(50_000) }), ..config(ProfileName::Rfc) };
    let mut pair = Pair::of(config(ProfileName::Rfc), misled);
    pair.ends[0].write(100_000);
    pair.run(ms(45));
    // Each ACK is of two segments and claims two more; of those in flight the sender believes all.
    let claims: Vec<u64> = pair.sent_by(1).map(|segment| segment.ack.0).take(3).collect();
    assert_eq!(claims, [1, 1 + 4 * 1460, 1 + 8 * 1460]);
    assert_eq!(pair.ends[0].snapshot().map(|sender| sender.snd_una), Some(SeqNo(1 + 20 * 1460)));
    assert_eq!(pair.delivered, [0, 10 * 1460]);
    pair.run(ms(3000));
    // RFC 9293 §3.10.7.4, RFC 5961 §5.2: what was not sent is not taken for acknowledged; one answer in half a second.
    let beyond = pair.sent_by(1).filter(|segment| segment.ack > SeqNo(100_001)).count();
    let answers = pair.sent_by(0).filter(|segment| segment.len == 0 && segment.seq == SeqNo(100_001)).count();
    assert!(beyond > 1 && (1..beyond).contains(&answers), "{beyond} {answers}");
    // What is sent again for want of an ACK gets an honest one.
    assert_eq!(pair.ends[0].snapshot().map(|sender| sender.snd_una), Some(SeqNo(100_001)));
    assert_eq!((pair.delivered, pair.ends[1].undelivered()), ([0, 100_000], Some(Bytes::ZERO)));
}

#[test]
fn without_scaling_no_window_exceeds_the_field() {
    let rfc = config(ProfileName::Rfc);
    let mut pair = Pair::of(rfc.clone(), TcpConfig { window_scale: false, ..rfc.clone() });
    pair.ends[0].write(1_000_000);
    pair.run(ms(2000));
    assert_eq!(pair.delivered, [0, 1_000_000]);
    assert!(pair.log.iter().all(|sent| sent.2.window <= Bytes(65_535)));
    let mut pair = Pair::of(rfc.clone(), rfc);
    pair.run(ms(100));
    assert_eq!(pair.log.last().map(|sent| sent.2.window), Some(Bytes(65_535 << 14)));
}

#[test]
fn a_slow_reader_closes_the_window_and_opens_it_again() {
    let rfc = config(ProfileName::Rfc);
    let slow = TcpConfig { recv_buffer: Bytes(8192), auto_read: false, ..rfc.clone() };
    let mut pair = Pair::of(rfc, slow);
    pair.ends[0].write(20_000);
    pair.ends[0].shutdown_write();
    // Five segments fit. The rest of the window, less than a segment, is filled by the override timeout after a second
    // (RFC 9293 §3.8.6.2.1).
    pair.run(ms(1000));
    assert_eq!(pair.delivered[1], 5 * 1460);
    pair.run(ms(1500));
    assert_eq!((pair.delivered[1], pair.ends[1].readable()), (8192, Bytes(8192)));
    assert_eq!(pair.sent_by(1).last().map(|ack| ack.window), Some(Bytes::ZERO));
    let mut read = 0;
    for step in 1..40 {
        read += pair.ends[1].read(pair.now, 1000);
        pair.run(ms(1500 + 50 * step));
    }
    assert_eq!((read, pair.delivered[1], pair.ends[1].readable()), (20_000, 20_000, Bytes::ZERO));
    assert!(pair.events.contains(&(1, Event::PeerClosed)));
}

#[test]
fn the_last_byte_is_read_before_the_close_is_reported() {
    let rfc = config(ProfileName::Rfc);
    let mut pair = Pair::of(rfc.clone(), TcpConfig { auto_read: false, ..rfc });
    pair.ends[0].write(1000);
    pair.ends[0].shutdown_write();
    pair.run(ms(300));
    assert_eq!(pair.ends[1].state(), ConnectionState::CloseWait);
    assert!(!pair.events.contains(&(1, Event::PeerClosed)));
    pair.ends[1].read(pair.now, 1000);
    assert_eq!(pair.ends[1].poll_event(), Some(Event::PeerClosed));
}

#[test]
fn a_reset_closes_if_it_has_the_number_expected() {
    let established = || {
        let mut pair =
            Pair::of(config(ProfileName::Rfc), TcpConfig { recv_buffer: Bytes(10_000), ..config(ProfileName::Rfc) });
        pair.run(ms(100));
        pair.ends.into_iter().next_back()
    };
    for (seq, closes) in [(0, false), (1, true), (2, false), (10_000, false), (11_000, false)] {
        let Some(mut end) = established() else { continue };
        end.on_segment(ms(200), &Segment { seq: SeqNo(seq), flags: Flags::RST, ..Segment::default() });
        assert_eq!(end.state() == ConnectionState::Closed, closes, "{seq}");
        let events = [end.poll_event(), end.poll_event()];
        assert_eq!(events == [Some(Event::Reset), Some(Event::Closed)], closes, "{seq}");
        assert!(!closes || (end.next_timeout().is_none() && end.poll_segment(ms(200)).is_none()));
    }
    let mut end = Connection::connect(config(ProfileName::Rfc));
    end.poll_segment(ms(0));
    end.on_segment(ms(10), &Segment { flags: Flags::RST, ..Segment::default() });
    assert_eq!(end.state(), ConnectionState::SynSent);
    end.on_segment(
        ms(10),
        &Segment { ack: SeqNo::FIRST_DATA, flags: Flags::RST.with(Flags::ACK), ..Segment::default() },
    );
    assert_eq!(end.state(), ConnectionState::Closed);
}

#[test]
fn a_deadline_that_comes_after_the_end_arms_nothing() {
    // This algorithm asks for a deadline of its own with every ACK.
    let cc = CcConfig::by_name("westwood", Some("ns3"), &[]);
    let config = TcpConfig { cc: cc.unwrap_or_else(|error| panic!("{error:?}")), ..config(ProfileName::Rfc) };
    let mut pair = Pair::of(config.clone(), config);
    pair.ends[0].write(3000);
    pair.run(ms(45));
    assert!(pair.ends[0].timers().any(|(name, _)| name == "algorithm"));
    pair.ends[0].abort(ms(45));
    pair.ends[0].on_timeout(ms(45));
    assert_eq!(pair.ends[0].next_timeout(), None);
}

/// The passive end of a connection with ECN in `mode`, at 100 ms, and the ACKs that data brings, with their flags.
fn acks_of(mode: EcnMode, packets: &[(u64, Ecn, Flags)]) -> Vec<(u64, bool, bool, bool)> {
    let config = TcpConfig { ecn: mode, ..config(ProfileName::Rfc) };
    let mut pair = Pair::of(config.clone(), config);
    pair.run(ms(100));
    let mut acks = Vec::new();
    for (number, ecn, flags) in packets {
        let data = Segment {
            seq: SeqNo(1 + number * 1460),
            len: 1460,
            ack: SeqNo::FIRST_DATA,
            ecn: *ecn,
            ..Segment::default()
        };
        pair.ends[1].on_segment(ms(100), &Segment { flags: Flags::ACK.with(*flags), ..data });
        while let Some(ack) = pair.ends[1].poll_segment(ms(100)) {
            assert_eq!(ack.ecn, Ecn::NotEct);
            let has = |flag| ack.flags.contains(flag);
            acks.push(((ack.ack.0 - 1) / 1460, has(Flags::AE), has(Flags::CWR), has(Flags::ECE)));
        }
    }
    acks
}

#[test]
fn classic_acks_echo_until_the_window_is_reduced() {
    let none = Flags::default();
    let packets = [
        (0, Ecn::Ect0, none),
        (1, Ecn::Ce, none),
        (2, Ecn::Ect0, none),
        (3, Ecn::Ect0, none),
        (4, Ecn::Ect0, Flags::CWR),
    ];
    let echo = |ack, ece| (ack, false, false, ece);
    assert_eq!(acks_of(EcnMode::Classic, &packets), [echo(2, true), echo(4, true), echo(5, false)]);
    assert_eq!(acks_of(EcnMode::Off, &packets[..2]), [echo(2, false)]);
}

#[test]
fn dctcp_acks_keep_marked_and_unmarked_packets_apart() {
    let fields = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ect0];
    let packets: Vec<_> = (0..).zip(fields).map(|(number, ecn)| (number, ecn, Flags::default())).collect();
    let acks: Vec<(u64, bool)> = acks_of(EcnMode::Dctcp, &packets).iter().map(|ack| (ack.0, ack.3)).collect();
    // One unmarked, one marked and reported immediately, two marked, one unmarked and reported immediately.
    assert_eq!(acks, [(1, false), (2, true), (4, true), (5, false)]);
    let packets: Vec<_> = packets.into_iter().take(3).chain([(3, Ecn::Ect0, Flags::default())]).collect();
    let acks: Vec<(u64, bool)> = acks_of(EcnMode::Dctcp, &packets).iter().map(|ack| (ack.0, ack.3)).collect();
    // The third waits, marked; the fourth is not, so the third is reported first.
    assert_eq!(acks, [(1, false), (2, true), (3, true), (4, false)]);
}

#[test]
fn accurate_acks_count() {
    let fields = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ce];
    let packets: Vec<_> = (0..).zip(fields).map(|(number, ecn)| (number, ecn, Flags::default())).collect();
    // 5 + 1 = 0b110, 5 + 3 = 0b000.
    assert_eq!(acks_of(EcnMode::Accecn, &packets), [(2, true, true, false), (4, false, false, false)]);
}

#[test]
fn options_leave_room_for_one_block_beside_counters_and_timestamps() {
    let config = TcpConfig { ecn: EcnMode::Accecn, timestamps: true, ..config(ProfileName::Rfc) };
    let mut pair = Pair::of(config.clone(), config);
    pair.run(ms(100));
    for number in [1, 3, 5] {
        let data = Segment {
            seq: SeqNo(1 + number * 1000),
            len: 1000,
            ack: SeqNo::FIRST_DATA,
            flags: Flags::ACK,
            ..Segment::default()
        };
        pair.ends[1].on_segment(ms(100), &data);
        let ack = pair.ends[1].poll_segment(ms(100)).unwrap_or_default();
        let (start, end) = (SeqNo(1 + number * 1000), SeqNo(1001 + number * 1000));
        assert_eq!(ack.sack.blocks().collect::<Vec<_>>(), [SeqRange::new(start, end)]);
        assert!(ack.header() <= Bytes(60) && ack.ecn_bytes.is_some() && ack.timestamps.is_some());
    }
}

/// Reno whose initial window shows its seed.
static SEEDED: Algorithm = Algorithm {
    name: "seeded",
    title: "",
    reference: "",
    requirements: Requirements::NONE,
    starts: None,
    params: &[],
    profiles: &[Profile { name: "only", set: &[], recovery: None }],
    internals: &[],
    states: &[],
    build: &|_, setup| {
        let reno = CcConfig::by_name("reno", None, &[]).unwrap();
        reno.build(&Setup { initial_window: setup.initial_window + Bytes(setup.seed), ..*setup })
    },
};

#[test]
fn a_seed_beside_shared_settings_is_that_of_settings_of_its_own() {
    let shown = |own: u64, beside: Option<u64>| {
        let cc = CcConfig::of(&SEEDED, None, &[]).unwrap();
        let settings = TcpConfig { seed: own, ..TcpConfig::of_profile(ProfileName::Linux, cc) };
        let mut pair = Pair::of(settings.clone(), settings);
        if let Some(seed) = beside {
            pair.ends.iter_mut().for_each(|end| end.set_seed(seed));
        }
        pair.run(ms(100));
        pair.ends.map(|end| end.window().unwrap().cwnd)
    };
    assert_eq!(shown(7, None), shown(1, Some(7)));
    assert_eq!(shown(7, None)[0], shown(1, None)[0] + Bytes(6));
}

#[test]
fn an_end_takes_less_than_1600_bytes_besides_its_scoreboard() {
    let bytes = [size_of::<Connection>(), size_of::<Sender>()];
    assert!(bytes.iter().sum::<usize>() < 1600, "{bytes:?}");
}
