//! Constellations as they are known: what each preset stands for, and how profiles differ.

use tcp::units::{Bytes, Span};

use crate::scenario::{ConstellationPreset, ConstellationProfile, GslPolicy, Pattern};

/// What a preset stands for.
pub(super) struct Preset {
    pub(super) pattern: Pattern,
    pub(super) planes: u64,
    pub(super) satellites: u64,
    pub(super) altitude_km: f64,
    pub(super) inclination_deg: f64,
    pub(super) node_deg: f64,
    pub(super) elevation_deg: f64,
    /// F of a Walker delta.
    pub(super) phasing: f64,
    pub(super) policy: GslPolicy,
    pub(super) interval_s: u64,
    /// Rates in Mbps.
    pub(super) rates: [u64; 3],
    pub(super) isl_queue: u64,
    /// Outage at a handover.
    pub(super) outage_ms: u64,
    /// The most that medium access delays a packet, uniform from 0: uplink and downlink.
    pub(super) jitter_us: [u64; 2],
}

/// Iridium as in ns-2's example sat-iridium; a rate of 0 stands for the 1.5 Mbps of that example.
const IRIDIUM: Preset = Preset {
    pattern: Pattern::Star,
    planes: 6,
    satellites: 11,
    altitude_km: 780.0,
    inclination_deg: 86.4,
    node_deg: 0.0,
    elevation_deg: 8.2,
    phasing: 1.0,
    policy: GslPolicy::LongestRemaining,
    interval_s: 10,
    rates: [0, 0, 25],
    isl_queue: 50,
    outage_ms: 0,
    jitter_us: [0, 0],
};

/// Starlink's first shell as filed with the FCC in 2019. The rate down is within the 10 to 370 Mb/s that were measured, and the outage
/// the middle of the 30 to 50 ms by which round trips grow at a handover (Huston, APNIC blog, 2024-05-17); rates up and between
/// satellites and the phasing are assumed. Packets wait for a frame, of which there are 750 a second (Humphreys et al., IEEE TAES 2023).
const STARLINK: Preset = Preset {
    pattern: Pattern::Delta,
    planes: 72,
    satellites: 22,
    altitude_km: 550.0,
    inclination_deg: 53.0,
    elevation_deg: 25.0,
    phasing: 17.0,
    policy: GslPolicy::Together,
    interval_s: 15,
    outage_ms: 40,
    jitter_us: [1333, 1333],
    rates: [20, 100, 10_000],
    isl_queue: 1000,
    ..IRIDIUM
};

/// A return link of DVB-RCS2: packets wait for a frame of 26.5 ms, as in OpenSAND (second-hand).
const GEO: Preset = Preset {
    jitter_us: [26_500, 0],
    pattern: Pattern::Geo,
    planes: 1,
    satellites: 1,
    altitude_km: 35_786.0,
    inclination_deg: 0.0,
    node_deg: -30.0,
    elevation_deg: 10.0,
    rates: [2, 2, 25],
    ..IRIDIUM
};

/// What the constellation is known to be.
pub(super) fn preset_of(preset: ConstellationPreset) -> Preset {
    match preset {
        ConstellationPreset::Iridium => IRIDIUM,
        ConstellationPreset::Starlink => STARLINK,
        ConstellationPreset::Geo => GEO,
    }
}

/// In what profiles differ.
pub(super) struct Habits {
    /// Latitude from which on Iridium's links between planes are off.
    pub(super) iridium_limit_deg: f64,
    /// In place of the preset's.
    pub(super) gsl_policy: Option<GslPolicy>,
    /// Checks for a handover come later by up to half of their interval.
    pub(super) shifts_checks: bool,
    pub(super) handover_requeue: bool,
    /// Links to the ground have the jitter of medium access, and handovers an outage.
    pub(super) has_medium_access: bool,
    pub(super) shared_downlink: bool,
    /// By which a packet is longer on a satellite link.
    pub(super) framing: Bytes,
}

const STD: Habits = Habits {
    iridium_limit_deg: 70.0,
    gsl_policy: None,
    shifts_checks: false,
    handover_requeue: true,
    has_medium_access: true,
    shared_downlink: false,
    framing: Bytes::ZERO,
};

/// Measured in ns-2.
const NS2: Habits = Habits {
    iridium_limit_deg: 60.0,
    gsl_policy: Some(GslPolicy::NextOfPlane),
    shifts_checks: true,
    handover_requeue: false,
    has_medium_access: false,
    shared_downlink: true,
    framing: Bytes(16),
};

impl Habits {
    pub(super) fn of(profile: ConstellationProfile) -> Habits {
        match profile {
            ConstellationProfile::Ns2 => NS2,
            _ => STD,
        }
    }

    /// By how much a check for a handover may come later.
    pub(super) fn handover_jitter(&self, interval: Span) -> Span {
        if self.shifts_checks { Span::from_nanos(interval.as_nanos() / 2) } else { Span::ZERO }
    }

    /// Time without a link after a handover.
    pub(super) fn handover_outage(&self, preset_ms: u64) -> Span {
        Span::from_millis(if self.has_medium_access { preset_ms } else { 0 })
    }

    /// Latitude from which on links between planes are off.
    pub(super) fn latitude_limit_deg(&self, preset: ConstellationPreset) -> f64 {
        if preset == ConstellationPreset::Iridium { self.iridium_limit_deg } else { 90.0 }
    }
}
