//! Algorithms as other simulators and reports have them, with their faults. `vegas` of profile `ns2` is in `native_vegas.rs`, `cubic` of
//! profile `linux26` in `linux26.rs`: forms of those algorithms, listed with them. The others are algorithms of reports.

mod asran;
mod ewphcc;
mod fr;
mod hystart_report;
pub(crate) mod linux26;
pub(crate) mod native_vegas;

pub(crate) use self::asran::ASRAN;
pub(crate) use self::ewphcc::EWPHCC;
pub(crate) use self::fr::FR;
pub(crate) use self::hystart_report::HYSTART_REPORT;

use crate::cc::algorithm::Algorithm;

/// True of an algorithm that only a report has: it is listed apart.
pub fn is_compat(algorithm: &Algorithm) -> bool {
    [&ASRAN, &EWPHCC, &FR, &HYSTART_REPORT].contains(&algorithm)
}
