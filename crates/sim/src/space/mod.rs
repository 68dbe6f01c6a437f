//! Satellites: where they are, who hears whom, and which way is shortest, all of it functions of time.
//!
//! `orbit` moves bodies, `shell` has the satellites and their links, `terminal` the hand-overs, `routes` the shortest ways.
//! `sky` carries their changes into a running network, `survey` shows them without one.

mod beam;
pub(crate) mod cities;
pub(crate) mod land;
mod orbit;
mod routes;
mod shell;
mod sky;
mod survey;
mod terminal;

pub(crate) use beam::Beam;
pub(crate) use orbit::Flight;
pub(crate) use shell::Shell;
pub(crate) use sky::{Sky, SkyLinks};
pub use survey::{CurrentPath, GroundTrack, PathSeries, Survey, SurveyTerminal, survey};
pub(crate) use terminal::Terminal;
