//! AODV agents in a row that exchange messages without a medium.

use super::*;

const RULES: AodvRules = AodvRules { active_timeout: Span::from_millis(3_000), ttl_start: 1, hellos: false };

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Agents in a row; the link after `broken` is broken.
struct Row {
    agents: Vec<Aodv>,
    broken: Option<u32>,
    /// Messages sent, by sender.
    log: Vec<(u32, AodvMessage)>,
}

impl Row {
    fn new(stations: u32) -> Row {
        let rng = |i: u32| Rng::stream(1, &format!("station/{i}/routing"));
        let agents = (0..stations).map(|i| Aodv::new(StationId(i), RULES, rng(i))).collect();
        Row { agents, broken: None, log: Vec::new() }
    }

    fn joined(&self, a: u32, b: u32) -> bool {
        a.abs_diff(b) == 1 && self.broken != Some(a.min(b)) && b < self.agents.len() as u32
    }

    /// Runs up to `until`; messages take no time.
    fn run(&mut self, until: Time) {
        let stations = self.agents.len() as u32;
        while let Some((now, from)) = (0..stations)
            .filter_map(|i| Some((self.agents[i as usize].next_timer()?, i)))
            .min()
            .filter(|n| n.0 <= until)
        {
            self.agents[from as usize].on_timer(now);
            while let Some(Outgoing { message: Message::Aodv(message), to, .. }) =
                self.agents[from as usize].outbox.pop(now)
            {
                for there in (0..stations).filter(|i| to.is_none_or(|to| to == StationId(*i))) {
                    if self.joined(from, there) {
                        self.agents[there as usize].on_message(now, StationId(from), &message);
                    }
                }
                self.log.push((from, message));
            }
        }
    }

    fn next_hop(&self, at: u32, now: Time, to: u32) -> NextHop {
        self.agents[at as usize].next_hop(now, StationId(to))
    }
}

/// Rings of 1 and 3 hops: a route to a destination 3 hops away is found after the 240 ms of the first ring (§6.4).
#[test]
fn rings_grow_until_the_destination_answers() {
    let mut row = Row::new(5);
    row.agents[0].discover(at(0), StationId(3));
    assert_eq!(row.next_hop(0, at(0), 3), NextHop::Wait);
    row.run(at(239));
    assert_eq!(row.next_hop(0, at(239), 3), NextHop::Wait);
    row.run(at(290));
    assert_eq!(row.next_hop(0, at(290), 3), NextHop::Via(StationId(1)));
    assert_eq!(row.next_hop(3, at(290), 0), NextHop::Via(StationId(2)));
    // The second ring ends at the destination: no station behind it received the RREQ.
    let asked = row.log.iter().filter(|(_, message)| matches!(message, AodvMessage::Request(_)));
    assert_eq!(asked.map(|(from, _)| *from).collect::<Vec<_>>(), [0, 0, 1, 2]);
}

/// Without an RREP: rings of 1, 3, 5, 7, then the whole network three times, and the discovery ends.
#[test]
fn a_discovery_ends() {
    let mut row = Row::new(1);
    row.agents[0].discover(at(0), StationId(9));
    row.run(at(60_000));
    let ttls = row.log.iter().map(|(_, message)| match message {
        AodvMessage::Request(request) => request.ttl,
        _ => panic!("only requests are sent"),
    });
    assert_eq!(ttls.collect::<Vec<_>>(), [1, 3, 5, 7, 35, 35, 35]);
    assert_eq!(row.next_hop(0, at(60_000), 9), NextHop::None);
}

/// When a link breaks the source receives an RERR, and its next RREQ finds no station with a later sequence number.
#[test]
fn precursors_receive_an_rerr_for_a_broken_link() {
    let mut row = Row::new(4);
    row.agents[0].discover(at(0), StationId(3));
    row.run(at(400));
    for station in [0, 1, 2] {
        let previous = (station > 0).then(|| StationId(station - 1));
        row.agents[station as usize].on_used(at(400), StationId(3), previous);
    }
    row.broken = Some(2);
    row.agents[2].on_neighbour_lost(at(500), StationId(3));
    row.run(at(600));
    let (sender, error) = row.log.iter().rev().find(|(_, m)| matches!(m, AodvMessage::Error(_))).unwrap();
    assert_eq!(*sender, 1);
    let AodvMessage::Error(lost) = error else { unreachable!() };
    assert_eq!(lost.iter().map(|lost| lost.destination).collect::<Vec<_>>(), [StationId(3)]);
    assert_eq!(row.next_hop(0, at(600), 3), NextHop::None);
    row.broken = None;
    row.agents[0].discover(at(700), StationId(3));
    row.run(at(800));
    assert_eq!(row.next_hop(0, at(800), 3), NextHop::Via(StationId(1)));
}

/// An unused route expires.
#[test]
fn an_idle_route_expires() {
    let mut row = Row::new(2);
    row.agents[0].discover(at(0), StationId(1));
    row.run(at(100));
    assert_eq!(row.next_hop(0, at(11_000), 1), NextHop::Via(StationId(1)));
    assert_eq!(row.next_hop(0, at(11_300), 1), NextHop::None);
}
