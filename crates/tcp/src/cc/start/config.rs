//! The choices of a start, and the start that they make.

use super::by_rate::ByRate;
use super::rapid::Rapid;
use super::resume::Resume;
use super::search::{Search, SearchConfig};
use super::{Start, Watch};
use crate::cc::algorithm::{Algorithm, Internal, Setup};
use crate::cc::config::CcConfig;
use crate::cc::controller::CongestionControl;
use crate::cc::hystart::{HyStart, PlusPlus};
use crate::cc::parameters::Value;
use crate::cc::reno_window::SLOW_START_LIMIT;
use crate::cc::signals::Saved;
use crate::units::{Bytes, Span};

/// RFC 9406 §4.3: L.
const L: u64 = 8;

/// What ends slow start besides congestion and ssthresh.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Exit {
    /// Nothing.
    #[default]
    Loss,
    /// HyStart as in Linux.
    HyStart,
    /// HyStart++ (RFC 9406).
    HyStartPlusPlus,
    /// SEARCH (draft-chung-ccwg-search).
    Search(SearchConfig),
}

/// How the window grows in slow start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Growth {
    /// By what is acknowledged.
    #[default]
    Standard,
    /// Rapid start (draft-kazuho-ccwg-rapid-start): by twice as much while there is no queue.
    Rapid,
}

/// Careful Resume (RFC 9959).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ResumeConfig {
    /// What was saved longer ago is not used.
    pub lifetime: Span,
    /// The window does not jump beyond this.
    pub max_jump: Option<Bytes>,
    /// What an earlier connection would have left, for one that has none.
    pub saved: Option<Saved>,
    /// Of ssthresh after a retreat; that of the algorithm if absent.
    pub beta: Option<f64>,
}

/// The window that slow start begins with.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Begin {
    /// The initial window.
    #[default]
    InitialWindow,
    /// What an earlier connection has left, once the initial window is acknowledged.
    Resume(ResumeConfig),
    /// This, from the first ACK on.
    Jump(Bytes),
}

/// How a connection starts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StartConfig {
    /// Where it begins.
    pub begin: Begin,
    /// How the window grows.
    pub growth: Growth,
    /// What ends slow start.
    pub exit: Exit,
}

impl StartConfig {
    /// What a start shows of itself beside the variables of the algorithm: its stage, and what SEARCH drains to.
    pub const SHOWN: [Internal; 2] = [
        Internal::of(
            "start",
            "stage of tcp.start: 0 over, 1 slow start, 2 conservative slow start, 3 draining, 4 unvalidated, 5 validating, 6 retreat",
        ),
        Internal::of("start_target_bytes", "bytes of one empty round trip, to which SEARCH takes the window"),
    ];

    /// It begins with what an earlier connection has left.
    pub fn resumes(&self) -> bool {
        matches!(self.begin, Begin::Resume(_))
    }

    /// `inside` with this start around it.
    pub(crate) fn around(
        &self,
        mut inside: Box<dyn CongestionControl>,
        config: &CcConfig,
        setup: &Setup,
    ) -> Box<dyn CongestionControl> {
        if config.algorithm.starts == Some(Algorithm::RESUMES) {
            return Box::new(ByRate::new(inside, self.jump(setup), setup.initial_window));
        }
        let (limit, exit) = match self.exit {
            Exit::Loss => (limit_of(config), Watch::Nothing),
            Exit::HyStart => (limit_of(config), Watch::HyStart(HyStart::linux(setup))),
            // RFC 9406 §4.2: L is infinite when paced
            Exit::HyStartPlusPlus => (if setup.paced { u64::MAX } else { L }, Watch::PlusPlus(PlusPlus::standard())),
            Exit::Search(config) => (u64::MAX, Watch::Search(Box::new(Search::new(config, setup.initial_window)))),
        };
        let rapid = (self.growth == Growth::Rapid).then(Rapid::default);
        let limit = if rapid.is_some() { Bytes::MAX } else { Bytes(limit.saturating_mul(setup.mss.0)) };
        let (window, initial_window) = (inside.window(), setup.initial_window);
        let resume = self.resume(&*inside, setup);
        Box::new(Start {
            window,
            inside,
            limit,
            exit,
            rapid,
            resume,
            fall: None,
            drain: None,
            initial_window,
            lasts: true,
        })
    }

    /// The jump of this start, if there is one.
    fn resume(&self, inside: &dyn CongestionControl, setup: &Setup) -> Option<Resume> {
        let Setup { initial_window, mss, .. } = *setup;
        match self.begin {
            Begin::InitialWindow => None,
            Begin::Jump(cwnd) => Some(Resume::new(cwnd, None, inside.beta(), initial_window, mss)),
            Begin::Resume(config) => {
                let Saved { cwnd, rtt } = self.jump(setup)?;
                let beta = config.beta.unwrap_or_else(|| inside.beta());
                Some(Resume::new(cwnd, Some(rtt), beta, initial_window, mss))
            }
        }
    }

    /// The window to jump to, half of the one that was saved, with the RTT of that.
    fn jump(&self, setup: &Setup) -> Option<Saved> {
        let Begin::Resume(config) = self.begin else { return None };
        // RFC 9959 §4.1: less than four initial windows are not worth it.
        let saved = setup.saved.or(config.saved).filter(|saved| saved.cwnd >= setup.initial_window * 4)?;
        let half = Bytes(saved.cwnd.0 / 2);
        Some(Saved { cwnd: config.max_jump.map_or(half, |most| half.min(most)), ..saved })
    }
}

/// Segments that an ACK may add in slow start.
fn limit_of(config: &CcConfig) -> u64 {
    let given = config.values.iter().find(|(name, _)| *name == SLOW_START_LIMIT.name);
    match (given, config.algorithm.starts) {
        (Some((_, Value::Number(limit))), _) => limit as u64,
        (_, starts) => starts.map_or(1, u64::from),
    }
}
