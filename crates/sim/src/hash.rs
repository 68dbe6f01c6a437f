//! The hash of flows, of queues and of equal paths.

/// The finalizer of SplitMix64: every bit of the input moves every bit of the output.
pub(crate) fn spread(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
