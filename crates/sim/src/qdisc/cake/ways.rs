//! A hash table of queues in sets of eight: flows meet in a queue only if more of them than that fall into one set.

/// Queues, and hosts of a kind, of a tin.
pub(super) const QUEUES: usize = 1024;
const WAYS: usize = 8;

/// What was found for a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// The queue with this key.
    Own,
    /// One that nobody uses.
    Free,
    /// One that others use.
    Shared,
}

/// The place that the hash of a key says.
pub(super) fn own_place(key: u64) -> usize {
    (key % QUEUES as u64) as usize
}

/// The place of a key: in its set, from its own place on, the one with its tag, else the first that is not in use, else its own.
pub(super) fn place(key: u64, tags: &[u64], is_used: impl Fn(usize) -> bool) -> (usize, Found) {
    let own = own_place(key);
    let first = own - own % WAYS;
    let mut set = (0..WAYS).map(|way| first + (own + way) % WAYS);
    if let Some(tagged) = set.clone().find(|at| tags[*at] == key) {
        return (tagged, if is_used(tagged) { Found::Own } else { Found::Free });
    }
    set.find(|at| !is_used(*at)).map_or((own, Found::Shared), |free| (free, Found::Free))
}

#[cfg(test)]
mod tests {
    use tcp::rng::Rng;

    use super::{QUEUES, place};

    /// The part of so many random keys, all in use, that share a queue.
    fn sharing(flows: usize) -> f64 {
        let mut rng = Rng::stream(7, "ways");
        let (mut shared, runs) = (0, 40);
        for _ in 0..runs {
            let (mut tags, mut users) = (vec![u64::MAX; QUEUES], vec![0; QUEUES]);
            for _ in 0..flows {
                let key = rng.next_u64();
                let (at, _) = place(key, &tags, |at| users[at] > 0);
                tags[at] = key;
                users[at] += 1;
            }
            shared += users.iter().filter(|count| **count > 1).sum::<usize>();
        }
        shared as f64 / (flows * runs) as f64
    }

    #[test]
    fn parts_of_flows_that_share_a_queue() {
        // internet §1.2 (g): 0.0000, 0.0003, 0.015, 0.256 of 100, 256, 512, 1024 flows.
        for (flows, part, error) in
            [(100, 0.0, 0.0002), (256, 0.0003, 0.0005), (512, 0.015, 0.004), (1024, 0.256, 0.012)]
        {
            let found = sharing(flows);
            assert!((found - part).abs() <= error, "{flows} flows: {found}");
        }
    }
}
