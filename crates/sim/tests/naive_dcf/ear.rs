//! What a naive station hears: every signal in the air, and the one it is locked on.

/// How frames are received. Powers in watts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ear {
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
    /// Index of the frame in the world's list of all frames.
    pub(super) frame: usize,
    pub(super) power: f64,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The frame a station is locked on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Locked {
    pub(super) signal: Signal,
    /// It cannot be read any more, or never could.
    pub(super) spoilt: bool,
    /// Rule b: the worst ratio so far. Rule c: the ratio since `since`.
    pub(super) ratio: f64,
    /// Rule c: the chance that it has survived so far, and when the present chunk began.
    pub(super) chance: f64,
    pub(super) since: u64,
}

/// What a station hears.
#[derive(Clone, Debug, Default)]
pub(super) struct Hearing {
    /// On their way.
    pub(super) coming: Vec<Signal>,
    pub(super) in_the_air: Vec<Signal>,
    pub(super) locked: Option<Locked>,
}

/// What the start of a signal means for a station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Started {
    /// The station locks on it.
    Lock,
    /// Rule a: the frame it is locked on is so much stronger that this one is ignored.
    Ignored,
    /// It disturbs, or is not noticed.
    Noise,
}

impl Hearing {
    fn others(&self, frame: usize) -> f64 {
        self.in_the_air.iter().filter(|signal| signal.frame != frame).map(|signal| signal.power).sum()
    }

    /// True if the sum of all signals makes the medium busy.
    pub(super) fn loud(&self, ear: &Ear) -> bool {
        match ear {
            Ear::Capture { .. } => false,
            Ear::Ratio { energy, .. } | Ear::Chunks { energy, .. } => {
                self.in_the_air.iter().map(|signal| signal.power).sum::<f64>() >= *energy
            }
        }
    }

    /// A signal begins; `sending` if the station itself is on the air. `survive` gives the chance that a frame outlives
    /// a stretch of time at a ratio.
    pub(super) fn start(
        &mut self,
        ear: &Ear,
        new: Signal,
        now: u64,
        sending: bool,
        survive: &dyn Fn(usize, u64, u64, f64) -> f64,
    ) -> Started {
        self.in_the_air.push(new);
        let lock = |spoilt, ratio| Locked { signal: new, spoilt, ratio, chance: 1.0, since: now };
        match *ear {
            Ear::Capture { receive, ratio } => {
                let Some(held) = self.locked else {
                    self.locked = Some(lock(sending || new.power < receive, 0.0));
                    return Started::Lock;
                };
                if held.signal.power / new.power >= ratio {
                    return Started::Ignored;
                }
                let longer = if new.end > held.signal.end { new } else { held.signal };
                self.locked = Some(Locked { signal: longer, spoilt: true, ..held });
                Started::Noise
            }
            Ear::Ratio { sensitivity, noise, .. } => {
                if self.locked.is_none() && !sending && new.power >= sensitivity {
                    self.locked = Some(lock(false, new.power / (noise + self.others(new.frame))));
                    return Started::Lock;
                }
                self.worsen(noise);
                Started::Noise
            }
            Ear::Chunks { sensitivity, noise, preamble, .. } => {
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

    /// Rule c: what disturbs the frame in hand has changed.
    pub(super) fn next_chunk(&mut self, noise: f64, now: u64, survive: &dyn Fn(usize, u64, u64, f64) -> f64) {
        let Some(mut held) = self.locked else { return };
        held.chance *= survive(held.signal.frame, held.since - held.signal.start, now - held.signal.start, held.ratio);
        held.since = now;
        held.ratio = held.signal.power / (noise + self.others(held.signal.frame));
        self.locked = Some(held);
    }
}
