//! The receiver of a station: every signal on the air, and the one it is locked on.

/// Reception model. Powers in watts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReceptionModel {
    /// Rule a.
    Capture { receive: f64, ratio: f64 },
    /// Rule b.
    Ratio { sensitivity: f64, energy: f64, noise: f64 },
    /// Rule c.
    Chunks { sensitivity: f64, energy: f64, noise: f64, preamble: f64 },
}

/// A signal at one station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    /// Index of the frame in the list of all frames.
    pub(super) frame: usize,
    pub(super) power: f64,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The frame that a station is locked on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Locked {
    pub(super) signal: Signal,
    /// It is not, or no longer, readable.
    pub(super) unreadable: bool,
    /// Rule b: the minimum SINR so far. Rule c: the SINR since `since`.
    pub(super) ratio: f64,
    /// Rule c: the probability of survival so far, and the start of the present chunk.
    pub(super) chance: f64,
    pub(super) since: u64,
}

/// The signals at a station.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    /// Not started.
    pub(super) pending: Vec<Signal>,
    pub(super) on_air: Vec<Signal>,
    pub(super) locked: Option<Locked>,
}

/// Effect of the start of a signal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Started {
    /// The station locks on it.
    Lock,
    /// Rule a: capture; the frame it is locked on is strong enough that this one is ignored.
    Ignored,
    /// Interference, or below detection.
    Noise,
}

impl Signals {
    fn others(&self, frame: usize) -> f64 {
        self.on_air.iter().filter(|signal| signal.frame != frame).map(|signal| signal.power).sum()
    }

    /// True if the total power makes the medium busy.
    pub(super) fn loud(&self, reception: &ReceptionModel) -> bool {
        match reception {
            ReceptionModel::Capture { .. } => false,
            ReceptionModel::Ratio { energy, .. } | ReceptionModel::Chunks { energy, .. } => {
                self.on_air.iter().map(|signal| signal.power).sum::<f64>() >= *energy
            }
        }
    }

    /// Starts a signal; `sending` if the station itself transmits. `survive` is the probability that a frame survives
    /// an interval at an SINR.
    pub(super) fn start(
        &mut self,
        reception: &ReceptionModel,
        new: Signal,
        now: u64,
        sending: bool,
        survive: &dyn Fn(usize, u64, u64, f64) -> f64,
    ) -> Started {
        self.on_air.push(new);
        let lock = |unreadable, ratio| Locked { signal: new, unreadable, ratio, chance: 1.0, since: now };
        match *reception {
            ReceptionModel::Capture { receive, ratio } => {
                let Some(held) = self.locked else {
                    self.locked = Some(lock(sending || new.power < receive, 0.0));
                    return Started::Lock;
                };
                if held.signal.power / new.power >= ratio {
                    return Started::Ignored;
                }
                let longer = if new.end > held.signal.end { new } else { held.signal };
                self.locked = Some(Locked { signal: longer, unreadable: true, ..held });
                Started::Noise
            }
            ReceptionModel::Ratio { sensitivity, noise, .. } => {
                if self.locked.is_none() && !sending && new.power >= sensitivity {
                    self.locked = Some(lock(false, new.power / (noise + self.others(new.frame))));
                    return Started::Lock;
                }
                self.worsen(noise);
                Started::Noise
            }
            ReceptionModel::Chunks { sensitivity, noise, preamble, .. } => {
                let ratio = new.power / (noise + self.others(new.frame));
                if self.locked.is_none() && !sending && new.power >= sensitivity && ratio >= preamble {
                    self.locked = Some(lock(false, ratio));
                    return Started::Lock;
                }
                self.next_chunk(noise, now, survive);
                Started::Noise
            }
        }
    }

    fn worsen(&mut self, noise: f64) {
        let Some(mut held) = self.locked else { return };
        held.ratio = held.ratio.min(held.signal.power / (noise + self.others(held.signal.frame)));
        self.locked = Some(held);
    }

    /// Rule c: the interference with the frame being received has changed.
    pub(super) fn next_chunk(&mut self, noise: f64, now: u64, survive: &dyn Fn(usize, u64, u64, f64) -> f64) {
        let Some(mut held) = self.locked else { return };
        held.chance *= survive(held.signal.frame, held.since - held.signal.start, now - held.signal.start, held.ratio);
        held.since = now;
        held.ratio = held.signal.power / (noise + self.others(held.signal.frame));
        self.locked = Some(held);
    }
}
