//! The random streams of a workload: what one draws does not shift what another does.

use tcp::rng::Rng;

/// The random streams of a workload.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) arrivals: Rng,
    pub(crate) sizes: Rng,
    pub(crate) ends: Rng,
    pub(crate) app: Rng,
}

impl Streams {
    pub(crate) fn new(seed: u64, name: &str) -> Streams {
        let stream = |what| Rng::stream(seed, &format!("workload/{name}/{what}"));
        Streams { arrivals: stream("arrivals"), sizes: stream("sizes"), ends: stream("ends"), app: stream("app") }
    }
}
