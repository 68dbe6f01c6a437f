//! The Earth by profile: WGS 84 and IAU, and satellite/satgeometry.h of ns-2.35.

use super::Earth;
use crate::scenario::ConstellationProfile;

const STD: Earth =
    Earth { radius_km: 6378.137, mu: 398_600.441_8, sidereal_day_s: 86_164.090_5, light_km_s: 299_792.458 };
const NS2: Earth = Earth { radius_km: 6378.0, mu: 398_601.2, sidereal_day_s: 86_164.0, light_km_s: 299_793.0 };

impl Earth {
    /// The Earth as a profile has it.
    pub(crate) fn of(profile: ConstellationProfile) -> Earth {
        match profile {
            ConstellationProfile::Std => STD,
            ConstellationProfile::Ns2 => NS2,
        }
    }
}
