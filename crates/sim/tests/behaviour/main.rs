//! What each algorithm does on one bottleneck, against what its source promises. One file per family; each tolerance is
//! derived beside its test.

#[path = "../common/mod.rs"]
mod common;
mod cubic;
mod linux_agent;
mod loss_based;
mod studies;
mod vegas;

mod background;
mod bandwidth;
mod bbr;
mod bbr3_kernel;
mod delay;
mod dualpi2;
mod fallback;
mod limited;
mod marks;
mod rates;
mod scavengers;
mod start_keys;
mod starts;
mod validation;
