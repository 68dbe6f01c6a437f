//! Tables of profiles: what a model does where a scenario does not say, by the implementation that it follows.

use std::ops::Index;

use super::radio::RadioProfile;
use super::routing::{AodvProfile, DsdvProfile};

/// A row of a table: the values of the profiles `std`, `ns2` and `ns3`, in this order.
pub(crate) struct Row<T>(pub(crate) [T; 3]);

impl<T> Index<RadioProfile> for Row<T> {
    type Output = T;

    fn index(&self, profile: RadioProfile) -> &T {
        match profile {
            RadioProfile::Std => &self.0[0],
            RadioProfile::Ns2 => &self.0[1],
            RadioProfile::Ns3 => &self.0[2],
        }
    }
}

impl<T> Index<DsdvProfile> for Row<T> {
    type Output = T;

    fn index(&self, profile: DsdvProfile) -> &T {
        match profile {
            DsdvProfile::Std => &self.0[0],
            DsdvProfile::Ns2 => &self.0[1],
            DsdvProfile::Ns3 => &self.0[2],
        }
    }
}

impl<T> Index<AodvProfile> for Row<T> {
    type Output = T;

    fn index(&self, profile: AodvProfile) -> &T {
        match profile {
            AodvProfile::Std => &self.0[0],
            AodvProfile::Ns2 => &self.0[1],
            AodvProfile::Ns3 => &self.0[2],
        }
    }
}
