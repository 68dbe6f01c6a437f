//! Windows and buffers against a naive twin, which keeps everything that ever happened and reads the rules off it.

use std::collections::BTreeSet;

use tcp::rng::Rng;
use tcp::units::{Bytes, Time};

use super::*;
use crate::ids::PacketId;
use crate::radio::service::TrafficClass;

/// Exchanges after which an MPDU is too old.
const LIMIT: u64 = 4;

fn request(number: u32, exchange: u64) -> MacRequest {
    let content = Content::Packet(PacketId(number));
    let since = Time::from_nanos(exchange);
    MacRequest { content, to: Some(StationId(1)), size: Bytes(100), since, class: TrafficClass::Other }
}

/// One MPDU of the twin: acknowledged or given up, and the exchange before which it came.
#[derive(Clone, Copy)]
struct Fate {
    done: bool,
    since: u64,
}

/// The twin: all MPDUs ever sent, all ever received, and what was passed up.
#[derive(Default)]
struct Twin {
    fates: Vec<Fate>,
    received: BTreeSet<u32>,
    passed: Vec<u32>,
    start: u32,
}

impl Twin {
    fn open(&self) -> Vec<u32> {
        (0..self.fates.len() as u32).filter(|sequence| !self.fates[*sequence as usize].done).collect()
    }

    fn has_room(&self) -> bool {
        let next = self.fates.len() as u32;
        self.open().first().is_none_or(|first| next - first < 64)
    }

    /// Passes up all below `start`, then what follows without a gap.
    fn move_to(&mut self, start: u32) {
        let before = self.start;
        self.start = self.start.max(start);
        while self.received.contains(&self.start) {
            self.start += 1;
        }
        self.passed.extend(self.received.range(before..self.start));
    }

    fn receive(&mut self, sequence: u32) {
        if sequence < self.start {
            return;
        }
        if sequence >= self.start + 64 {
            self.move_to(sequence - 63);
        }
        self.received.insert(sequence);
        self.move_to(self.start);
    }

    fn acknowledges(&self, sequence: u32) -> bool {
        sequence < self.start || self.received.contains(&sequence)
    }
}

fn number(content: &Content) -> u32 {
    match content {
        Content::Packet(id) => id.0,
        Content::Message(_) => unreachable!("the test sends packets"),
    }
}

/// Exchanges in which MPDUs, whole PPDUs and block ACKs are lost at random, with requests, and giving up.
#[test]
fn the_window_does_what_the_naive_twin_does() {
    for seed in 0..40 {
        let mut rng = Rng::stream(seed, "block-ack");
        let loss = rng.uniform() * 0.9;
        let (mut originator, mut recipient, mut twin) = (Originator::new(), Recipient::default(), Twin::default());
        let (mut passed, mut lost): (Vec<Content>, u32) = (Vec::new(), 0);
        for exchange in 0..80 {
            for _ in 0..rng.below(40) {
                assert_eq!(originator.has_room(), twin.has_room());
                if !originator.has_room() {
                    break;
                }
                originator.admit(request(twin.fates.len() as u32, exchange));
                twin.fates.push(Fate { done: false, since: exchange });
            }
            let sent: Vec<u32> = originator.window.iter().map(|mpdu| mpdu.sequence).collect();
            assert_eq!(sent, twin.open(), "all that is open is sent");
            let asks = originator.request == BlockAckRequest::Due;
            if rng.uniform() < loss / 4.0 {
                continue;
            }
            if asks {
                recipient.advance(originator.start(), &mut passed);
                twin.move_to(twin.open().first().copied().unwrap_or(twin.fates.len() as u32));
            } else {
                for sequence in sent.iter().copied().filter(|_| rng.uniform() >= loss).collect::<Vec<_>>() {
                    let known = twin.acknowledges(sequence);
                    let content = Content::Packet(PacketId(sequence));
                    assert_eq!(recipient.receive(sequence, content, &mut passed), !known);
                    twin.receive(sequence);
                }
            }
            if rng.uniform() < loss / 4.0 {
                originator.request = BlockAckRequest::Due;
                continue;
            }
            let acknowledged = originator.on_block_ack(recipient.block_ack());
            let expected: Vec<u32> = sent.iter().copied().filter(|s| twin.acknowledges(*s)).collect();
            assert_eq!(acknowledged.iter().map(|mpdu| mpdu.sequence).collect::<Vec<_>>(), expected);
            for sequence in sent {
                twin.fates[sequence as usize].done = expected.contains(&sequence);
            }
            let given_up = originator.give_up(|request| request.since.as_nanos() + LIMIT < exchange);
            lost += given_up.len() as u32;
            for fate in twin.fates.iter_mut().filter(|fate| !fate.done && fate.since + LIMIT < exchange) {
                fate.done = true;
            }
            let due = if originator.window.is_empty() { BlockAckRequest::WithNextMpdu } else { BlockAckRequest::Due };
            assert_eq!(originator.request, if given_up.is_empty() { BlockAckRequest::None } else { due });
        }
        assert_eq!(passed.iter().map(number).collect::<Vec<_>>(), twin.passed, "seed {seed}");
        assert!(twin.passed.is_sorted(), "in order, and nothing twice");
        assert!(loss < 0.8 || lost > 0, "seed {seed}: what is too old is given up");
    }
}
