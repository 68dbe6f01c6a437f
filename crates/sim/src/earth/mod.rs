//! The Earth: cities by name, and where there is land.

pub(crate) mod cities;
pub(crate) mod land;
