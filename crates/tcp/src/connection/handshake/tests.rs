use crate::connection::tests::{Pair, config, ms};
use crate::connection::{Connection, ConnectionState};
use crate::segment::{Flags, Segment, Timestamps};
use crate::seq::SeqNo;
use crate::settings::ProfileName;
use crate::units::Bytes;

#[test]
fn both_sides_may_open_and_close_at_once() {
    let linux = config(ProfileName::Linux);
    let mut pair = Pair::new([Connection::connect(linux.clone()), Connection::connect(linux)]);
    pair.run(ms(15));
    assert!(pair.ends.iter().all(|end| end.state() == ConnectionState::SynReceived));
    pair.run(ms(100));
    assert!(pair.ends.iter().all(|end| end.state() == ConnectionState::Established));
    for end in &mut pair.ends {
        end.write(30_000);
        end.shutdown_write();
    }
    pair.run(ms(500));
    assert_eq!(pair.delivered, [30_000; 2]);
    assert!(pair.ends.iter().all(|end| end.state() == ConnectionState::TimeWait));
    pair.run(ms(200_000));
    assert!(pair.ends.iter().all(|end| end.state() == ConnectionState::Closed));
}

#[test]
fn a_lost_syn_is_sent_again_with_its_options() {
    let mut end = Connection::connect(config(ProfileName::Linux));
    let first = end.poll_segment(ms(0)).unwrap_or_default();
    assert_eq!(end.timers().collect::<Vec<_>>(), [("rto", ms(1000))]);
    end.on_timeout(ms(1000));
    let again = end.poll_segment(ms(1000)).unwrap_or_default();
    let stamps = Some(Timestamps { value: 1000, echo: 0 });
    assert_eq!(again, Segment { timestamps: stamps, ..first });
    // Linux since 6.5: the first five time-outs are alike.
    assert_eq!(end.timers().collect::<Vec<_>>(), [("rto", ms(2000))]);
}

/// The trace of ns-3.37: the SYN of 3 s is answered after 3.008 s; the ACK goes alone, then the whole initial window, and the first
/// time-out lasts three times the RTT that the timestamps show.
#[test]
fn profile_ns3_opens_as_ns3_does() {
    let mut end = Connection::connect(config(ProfileName::Ns3));
    let syn = end.poll_segment(ms(0)).unwrap_or_default();
    assert_eq!(end.timers().collect::<Vec<_>>(), [("rto", ms(3000))]);
    end.on_timeout(ms(3000));
    assert!(end.poll_segment(ms(3000)).is_some());
    assert_eq!(end.timers().collect::<Vec<_>>(), [("rto", ms(9000))]);
    end.on_timeout(ms(9000));
    assert!(end.poll_segment(ms(9000)).is_some());
    end.write(100_000);
    let answer = Segment {
        flags: Flags::SYN.with(Flags::ACK),
        ack: SeqNo::FIRST_DATA,
        window: Bytes(65_535),
        timestamps: Some(Timestamps { value: 1, echo: 3000 }),
        ..syn
    };
    end.on_segment(ms(6008), &answer);
    let ack = end.poll_segment(ms(6008)).unwrap_or_default();
    assert_eq!((ack.len, ack.ack), (0, SeqNo::FIRST_DATA));
    let sent = std::iter::from_fn(|| end.poll_segment(ms(6008))).map(|segment| segment.len).collect::<Vec<_>>();
    assert_eq!(sent, [536; 10]);
    assert_eq!(end.timers().find(|(name, _)| *name == "rto"), Some(("rto", ms(6008 + 3 * 3008))));
}
