use crate::config::TcpConfig;
use crate::connection::Connection;
use crate::connection::tests::{Pair, config, ms};
use crate::settings::ProfileName;

/// All that two ends sent, and the states of their senders in the end; both have the memory of `before` if there is one.
fn conversation(seed: u64, bytes: u64, before: Option<[Connection; 2]>) -> (String, [Connection; 2]) {
    let settings = TcpConfig { seed, ..config(ProfileName::Linux) };
    let mut pair = Pair::of(settings.clone(), settings);
    for (end, old) in pair.ends.iter_mut().zip(before.into_iter().flatten()) {
        let mut old = old;
        end.use_memory(old.take_memory());
    }
    pair.ends[0].write(bytes);
    pair.ends[0].shutdown_write();
    pair.run(ms(400));
    pair.ends[1].shutdown_write();
    pair.run(ms(4_000));
    let snapshots = pair.ends.each_ref().map(|end| (end.snapshot(), end.totals(), end.state()));
    (format!("{:?} {snapshots:?} {:?}", pair.log, pair.events), pair.ends)
}

#[test]
fn a_connection_in_the_memory_of_another_is_like_a_new_one() {
    let mut ends = None;
    for (seed, bytes) in [(1, 10_000), (2, 200), (3, 500_000), (4, 10_000), (5, 1)] {
        let (fresh, _) = conversation(seed, bytes, None);
        let (reused, left) = conversation(seed, bytes, ends.take());
        assert_eq!(fresh, reused, "{bytes} B");
        ends = Some(left);
    }
}
