//! What a tin counts, as `tc -s` shows it.

use super::super::cobalt::Settings;
use super::super::report::{ClassCounts, TinReport};

/// Counts of a tin. Drops, marks and ways cover the whole run.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) class: ClassCounts,
    pub(super) ack_drops: u64,
    pub(super) way_hits: u64,
    pub(super) way_misses: u64,
    pub(super) way_collisions: u64,
    sparse_max: u64,
    bulk_max: u64,
}

impl Counts {
    /// So many flows are in each set now.
    pub(super) fn on_flows(&mut self, sparse: u64, bulk: u64) {
        self.sparse_max = self.sparse_max.max(sparse);
        self.bulk_max = self.bulk_max.max(bulk);
    }

    /// The measurement interval begins with so many flows in each set.
    pub(super) fn on_warmup_end(&mut self, sparse: u64, bulk: u64) {
        self.class.on_warmup_end();
        (self.sparse_max, self.bulk_max) = (sparse, bulk);
    }

    pub(super) fn report(&self, tin: &'static str, settings: &Settings) -> TinReport {
        let Counts { class, ack_drops, way_hits, way_misses, way_collisions, sparse_max, bulk_max } = self;
        let [delay_mean_s, delay_p50_s, delay_p99_s, delay_max_s] = class.delays_s();
        TinReport {
            tin,
            sent: class.packets,
            bytes: class.bytes.0,
            delay_mean_s,
            delay_p50_s,
            delay_p99_s,
            delay_max_s,
            drops: class.drops,
            marks: class.marks,
            ack_drops: *ack_drops,
            way_hits: *way_hits,
            way_misses: *way_misses,
            way_collisions: *way_collisions,
            sparse_max: *sparse_max,
            bulk_max: *bulk_max,
            target_s: settings.target.as_secs_f64(),
            interval_s: settings.interval.as_secs_f64(),
        }
    }
}
