//! A constellation: its satellites and links (`shell`), which satellite serves a terminal when (`terminal`, `together`), shortest paths
//! (`routes`), and how their changes reach a running network (`dynamics`). All of it is a function of time.

mod dynamics;
mod handover;
pub(crate) mod routes;
pub(crate) mod shell;
pub(crate) mod terminal;
mod together;

pub(crate) use dynamics::{ConstellationDynamics, ConstellationLinks};
pub(crate) use handover::Handover;
pub(crate) use shell::Shell;
pub(crate) use terminal::Terminal;
