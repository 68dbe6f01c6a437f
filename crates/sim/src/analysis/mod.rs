//! What is found out of a scenario or of a run beside its results: ground tracks, what is random, who reaches whom, a sample of transmissions, captures.

pub(crate) mod capture;
pub(crate) mod ground_track;
pub(crate) mod randomness;
pub(crate) mod reach;
pub(crate) mod transmissions;
