//! The filter of pure ACKs: of those that wait behind each other in a queue, later ones say what earlier ones said.

use tcp::{Flags, Segment};

use crate::packet::{Packet, Payload};
use crate::scenario::AckFilterMode;

/// Which of the packets that wait is to go because `arrival` came behind them; `waiting` in their order.
pub(super) fn replaced(mode: AckFilterMode, arrival: &Packet, waiting: impl Iterator<Item = Packet>) -> Option<usize> {
    if mode == AckFilterMode::Off {
        return None;
    }
    let newest = acknowledgment(arrival)?;
    let echo = Flags::ECE.with(Flags::CWR);
    // The earlier of two ACKs that say nothing of their own: their place, and ECE and CWR.
    let mut earlier: Option<(usize, Flags)> = None;
    let mut last = 0;
    for (place, packet) in waiting.enumerate() {
        last = place;
        if packet.to != arrival.to {
            continue;
        }
        let Some(old) = acknowledgment(&packet).filter(|old| is_pure(old) && says_less(old, &newest)) else { continue };
        let signal = old.flags.only(echo);
        match earlier {
            Some((first, seen)) if seen == signal => return Some(first),
            // The ones before carry a signal of their own.
            _ => earlier = Some((place, signal)),
        }
    }
    let (first, seen) = earlier.filter(|_| mode == AckFilterMode::Aggressive)?;
    (first == last && seen == newest.flags.only(echo)).then_some(first)
}

/// The segment of a packet that acknowledges and is no SYN.
fn acknowledgment(packet: &Packet) -> Option<Segment> {
    match packet.payload {
        Payload::Tcp(segment) if segment.flags.contains(Flags::ACK) && !segment.flags.contains(Flags::SYN) => {
            Some(segment)
        }
        _ => None,
    }
}

/// No data, no flag but ACK, ECE and CWR, no options but timestamps and SACK.
fn is_pure(old: &Segment) -> bool {
    let allowed = Flags::ACK.with(Flags::ECE).with(Flags::CWR);
    old.len == 0 && old.flags.only(allowed) == old.flags && old.ecn_bytes.is_none()
}

/// The newest says all that the old one said, and is no duplicate of it.
fn says_less(old: &Segment, newest: &Segment) -> bool {
    let earlier = match (old.timestamps, newest.timestamps) {
        (Some(old), Some(new)) => old.value <= new.value && old.echo <= new.echo,
        (None, None) => true,
        _ => false,
    };
    let reports_duplicate = old.sack.blocks().next().is_some_and(|block| block.start < old.ack);
    let covered =
        old.sack.blocks().all(|own| newest.sack.blocks().any(|new| new.start <= own.start && own.end <= new.end));
    let is_repeated = old.ack == newest.ack && old.sack == newest.sack;
    earlier && old.ack <= newest.ack && !reports_duplicate && covered && !is_repeated
}

#[cfg(test)]
mod tests {
    use tcp::units::{Bytes, Time};
    use tcp::{SeqNo, Timestamps};

    use super::*;
    use crate::ids::{FlowId, NodeId};

    fn ack(number: u64) -> Packet {
        let timestamps = Some(Timestamps { value: number as u32, echo: number as u32 });
        packet(Segment { ack: SeqNo(number), flags: Flags::ACK, timestamps, ..Segment::default() })
    }

    fn packet(segment: Segment) -> Packet {
        Packet {
            to: FlowId(0).source(),
            destination: NodeId(0),
            size: Bytes(52),
            sent_at: Time::ZERO,
            retransmission: false,
            ttl: 64,
            payload: Payload::Tcp(segment),
        }
    }

    /// What stays of packets that come one behind the other.
    fn stays(mode: AckFilterMode, arrivals: &[Packet]) -> Vec<u64> {
        let mut waiting: Vec<Packet> = Vec::new();
        for arrival in arrivals {
            if let Some(gone) = replaced(mode, arrival, waiting.iter().copied()) {
                waiting.remove(gone);
            }
            waiting.push(*arrival);
        }
        waiting.iter().filter_map(acknowledgment).map(|segment| segment.ack.0).collect()
    }

    #[test]
    fn two_acks_stay_or_one() {
        // internet §1.2 (e)
        let arrivals = [ack(1), ack(2), ack(3), ack(4)];
        assert_eq!(stays(AckFilterMode::Off, &arrivals), [1, 2, 3, 4]);
        assert_eq!(stays(AckFilterMode::On, &arrivals[..3]), [2, 3]);
        assert_eq!(stays(AckFilterMode::On, &arrivals), [3, 4]);
        assert_eq!(stays(AckFilterMode::Aggressive, &arrivals), [4]);
        for mode in [AckFilterMode::On, AckFilterMode::Aggressive] {
            assert_eq!(stays(mode, &[ack(2), ack(2), ack(2)]), [2, 2, 2], "duplicate ACKs are counted by the sender");
        }
    }

    #[test]
    fn what_says_more_than_an_ack_stays() {
        let with = |change: fn(&mut Segment)| {
            let Payload::Tcp(mut segment) = ack(1).payload else { unreachable!("an ACK is TCP") };
            change(&mut segment);
            stays(AckFilterMode::Aggressive, &[packet(segment), ack(5)]).len()
        };
        assert_eq!(with(|_| ()), 1);
        assert_eq!(with(|segment| segment.len = 10), 2);
        assert_eq!(with(|segment| segment.flags = segment.flags.with(Flags::FIN)), 2);
        assert_eq!(with(|segment| segment.flags = segment.flags.with(Flags::AE)), 2, "a counter of AccECN");
        assert_eq!(with(|segment| segment.flags = segment.flags.with(Flags::ECE)), 2, "an echo that the new one lacks");
        assert_eq!(with(|segment| segment.timestamps = None), 2);
    }
}
