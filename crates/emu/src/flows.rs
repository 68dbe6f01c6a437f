//! Five-tuples become flows of the simulation, in the order of their first packets; of TCP also what is sent again and what is
//! acknowledged.

use std::collections::HashMap;

use sim::{EndpointId, FlowId};

use crate::packet::{Headers, TcpHeader, Tuple};

/// A flow of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its number in summary and series.
    pub flow: FlowId,
    /// As its first packet had it.
    pub tuple: Tuple,
    /// Index of the hosts that it is between: of the first packet's source, and of its destination.
    pub hosts: Ends,
}

/// Two hosts, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Of the source.
    pub from: usize,
    /// Of the destination.
    pub to: usize,
}

/// What TCP has sent in one direction of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// The number after the highest byte sent.
    next: Option<u32>,
    /// The number up to which all is acknowledged.
    acked: u32,
    /// The number after the FIN.
    fin: Option<u32>,
}

/// What a segment says of its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Its bytes were sent before.
    pub(crate) retransmission: bool,
    /// Bytes that its sender has received in order since its last ACK.
    pub(crate) received: u32,
    /// It acknowledges the end of the data of the flow's source.
    pub(crate) ends: bool,
}

/// The flows of programs.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    known: HashMap<Tuple, usize>,
    pub(crate) programs: Vec<Program>,
    sides: Vec<[Side; 2]>,
}

impl Flows {
    /// The place of the flow of a packet, if it is known.
    pub(crate) fn find(&self, tuple: Tuple) -> Option<usize> {
        self.known.get(&tuple).copied()
    }

    /// A flow of this packet and those of the other direction.
    pub(crate) fn open(&mut self, program: Program) -> usize {
        self.programs.push(program);
        self.sides.push(Default::default());
        self.join(program.tuple, self.programs.len() - 1)
    }

    /// Packets of this five-tuple count as those of a flow that is known.
    pub(crate) fn join(&mut self, tuple: Tuple, place: usize) -> usize {
        self.known.insert(tuple, place);
        self.known.insert(tuple.turned(), place);
        place
    }

    /// The last flow between these hosts.
    pub(crate) fn between(&self, ends: Ends) -> Option<usize> {
        let turned = Ends { from: ends.to, to: ends.from };
        self.programs.iter().rposition(|program| program.hosts == ends || program.hosts == turned)
    }

    /// The end of its flow that a packet is for.
    pub(crate) fn receiver(&self, place: usize, tuple: Tuple, ends: Ends) -> EndpointId {
        let Program { flow, tuple: first, hosts } = self.programs[place];
        let is_forward = first == tuple || (first.turned() != tuple && hosts == ends);
        if is_forward { flow.sink() } else { flow.source() }
    }

    /// Reads a segment.
    pub(crate) fn on_segment(&mut self, place: usize, to: EndpointId, headers: &Headers, tcp: &TcpHeader) -> Told {
        let [forward, reverse] = &mut self.sides[place];
        let (own, other) = if to.is_source() { (reverse, forward) } else { (forward, reverse) };
        let retransmission = own.on_sent(tcp, headers.payload as u32);
        let received = tcp.ack.map_or(0, |ack| other.on_ack(ack));
        let ends = to.is_source() && tcp.ack.is_some_and(|ack| other.fin.is_some_and(|fin| is_at_or_after(ack, fin)));
        Told { retransmission, received, ends }
    }
}

/// `a` is `b` or a number after it, as numbers go round.
fn is_at_or_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 >= 0
}

impl Side {
    /// Notes what is sent; true if all of it was sent before.
    fn on_sent(&mut self, tcp: &TcpHeader, payload: u32) -> bool {
        let first = tcp.seq.wrapping_add(u32::from(tcp.syn));
        if tcp.syn || self.next.is_none() {
            (self.next, self.acked) = (Some(first), first);
        }
        let end = first.wrapping_add(payload);
        if tcp.fin {
            self.fin = Some(end.wrapping_add(1));
        }
        let next = self.next.insert(self.next.unwrap_or(first));
        let before = is_at_or_after(*next, end);
        // A segment without data that follows a FIN has the number behind it, which is no byte.
        if !before && payload > 0 {
            *next = end;
        }
        before && payload > 0
    }

    /// Notes an ACK of the other end; how many bytes are new in it. A SYN and a FIN are no bytes.
    fn on_ack(&mut self, ack: u32) -> u32 {
        let Some(next) = self.next else { return 0 };
        let covered = if is_at_or_after(ack, next) { next } else { ack };
        let new = covered.wrapping_sub(self.acked);
        if new as i32 <= 0 {
            return 0;
        }
        self.acked = covered;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(seq: u32, ack: Option<u32>) -> TcpHeader {
        TcpHeader { seq, ack, syn: false, fin: false }
    }

    #[test]
    fn what_was_sent_before_is_a_retransmission_where_numbers_go_round_too() {
        for start in [1000, u32::MAX - 1500] {
            let mut side = Side::default();
            assert!(!side.on_sent(&TcpHeader { syn: true, ..header(start, None) }, 0));
            let at = |offset: u32| start.wrapping_add(1 + offset);
            assert!(!side.on_sent(&header(at(0), None), 1000));
            assert!(!side.on_sent(&header(at(1000), None), 1000));
            assert!(side.on_sent(&header(at(0), None), 1000));
            assert!(!side.on_sent(&header(at(2000), None), 0));
            assert_eq!((side.on_ack(at(500)), side.on_ack(at(500)), side.on_ack(at(0))), (500, 0, 0));
            side.on_sent(&TcpHeader { fin: true, ..header(at(2000), None) }, 0);
            assert!(!side.on_sent(&header(at(2001), None), 0));
            assert_eq!(side.on_ack(at(2001)), 1500);
            assert_eq!(side.fin, Some(at(2001)));
        }
    }
}
