//! `voice`: a telephone call over datagrams, one way, judged by the E-model (ITU-T G.107; codecs by G.113 appendix I).

use serde::Serialize;
use tcp::units::{Bytes, Span, Time};

use super::command::{Command, End, Input};

/// Time between packets.
const INTERVAL: Span = Span::from_millis(20);
/// The delay of a packet that has not arrived.
const MISSING: Span = Span::from_nanos(u64::MAX);

/// A call.
#[derive(Debug)]
pub(crate) struct Voice {
    coding: Coding,
    datagram: Bytes,
    playout: Option<Span>,
    started: Time,
    /// Network delay of each packet, in the order of sending.
    delays: Vec<Span>,
}

/// A codec as the E-model sees it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Coding {
    /// Equipment impairment factor without loss, I_e.
    pub(crate) impairment: f64,
    /// Robustness against loss, Bpl.
    pub(crate) robustness: f64,
}

impl Coding {
    /// G.711 with packet loss concealment.
    pub(crate) const G711: Coding = Coding { impairment: 0.0, robustness: 25.1 };
    /// G.711 without concealment.
    pub(crate) const G711_PLAIN: Coding = Coding { robustness: 4.3, ..Coding::G711 };
    /// G.729A.
    pub(crate) const G729A: Coding = Coding { impairment: 11.0, robustness: 19.0 };

    /// The rating of a call with `delay` from mouth to ear, of which the share `loss` is lost in bursts of `burst_ratio` times
    /// the length that independent losses would have (G.107 §7.2 to §7.4, with the default of every other parameter).
    pub(crate) fn rating(&self, delay: Span, loss: f64, burst_ratio: f64) -> f64 {
        let ms = 1e3 * delay.as_secs_f64();
        let percent = 100.0 * loss;
        let delayed = 0.024 * ms + 0.11 * (ms - 177.3).max(0.0);
        let lossy = if percent > 0.0 { percent / (percent / burst_ratio + self.robustness) } else { 0.0 };
        93.2 - delayed - (self.impairment + (95.0 - self.impairment) * lossy)
    }
}

/// The mean opinion score of a rating (G.107 annex B).
pub(crate) fn opinion(rating: f64) -> f64 {
    match rating {
        r if r <= 0.0 => 1.0,
        r if r >= 100.0 => 4.5,
        r => 1.0 + 0.035 * r + 7e-6 * r * (r - 60.0) * (100.0 - r),
    }
}

/// What a call measured: packets sent within the measurement interval.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VoiceSummary {
    /// Mean opinion score from 1 to 4.5.
    pub mos: Option<f64>,
    /// Transmission rating R, 93.2 without any impairment.
    pub r_factor: Option<f64>,
    /// From mouth to ear: the playout delay and the time to fill a packet.
    pub mouth_to_ear_s: Option<f64>,
    /// Packets lost in the network, or later than the playout, as a share of those sent.
    pub voice_loss_ratio: Option<f64>,
    /// Mean length of a burst of losses, against that of independent ones.
    pub voice_burst_ratio: Option<f64>,
}

/// What the ear hears with one playout delay.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Heard {
    playout: Span,
    loss: f64,
    burst_ratio: f64,
}

impl Voice {
    pub(crate) fn new(coding: Coding, datagram: Bytes, playout: Option<Span>) -> Voice {
        Voice { coding, datagram, playout, started: Time::ZERO, delays: Vec::new() }
    }

    pub(super) fn on(&mut self, now: Time, input: Input, commands: &mut Vec<Command>) {
        match input {
            Input::Start | Input::Due => {
                if input == Input::Start {
                    self.started = now;
                }
                self.delays.push(MISSING);
                commands.push(Command::Send { connection: 0, end: End::Source, bytes: self.datagram });
                commands.push(Command::Wake(now + INTERVAL));
            }
            Input::Datagram { number, sent_at, .. } => {
                // Of a copy the first counts.
                let delay = &mut self.delays[number as usize];
                *delay = now.since(sent_at).min(*delay);
            }
            Input::Connected(_) | Input::Message { .. } | Input::Room { .. } => {}
        }
    }

    pub(super) fn held_bytes(&self) -> u64 {
        (self.delays.capacity() * size_of::<Span>()) as u64
    }

    pub(super) fn summary(&self, warmup: Time, now: Time) -> VoiceSummary {
        let delays = self.judged(warmup, now);
        let rating = |heard: &Heard| self.coding.rating(heard.playout + INTERVAL, heard.loss, heard.burst_ratio);
        let best = match self.playout {
            Some(playout) => heard_at(delays, playout),
            None => candidates(delays).into_iter().max_by(|a, b| rating(a).total_cmp(&rating(b))),
        };
        let r = best.as_ref().map(rating);
        VoiceSummary {
            mos: r.map(opinion),
            r_factor: r,
            mouth_to_ear_s: best.map(|heard| (heard.playout + INTERVAL).as_secs_f64()),
            voice_loss_ratio: best.map(|heard| heard.loss),
            voice_burst_ratio: best.filter(|heard| heard.loss > 0.0).map(|heard| heard.burst_ratio),
        }
    }

    /// The packets of the measurement interval. The last of them may be under way: as many as fit into the longest delay.
    fn judged(&self, warmup: Time, now: Time) -> &[Span] {
        let number = |at: Time| at.since(self.started).as_nanos().div_ceil(INTERVAL.as_nanos()) as usize;
        let longest = self.delays.iter().copied().filter(|delay| *delay < MISSING).max().unwrap_or(Span::ZERO);
        let since_start = now.since(self.started);
        let end = number(self.started + since_start.saturating_sub(longest)).min(self.delays.len());
        self.delays.get(number(warmup)..end).unwrap_or_default()
    }
}

fn heard_at(delays: &[Span], playout: Span) -> Option<Heard> {
    let lost: Vec<bool> = delays.iter().map(|delay| *delay > playout).collect();
    let bursts = (0..lost.len()).filter(|i| lost[*i] && (*i == 0 || !lost[i - 1])).count();
    let count = lost.iter().filter(|lost| **lost).count();
    (!lost.is_empty()).then(|| heard(playout, count, bursts, lost.len()))
}

fn heard(playout: Span, lost: usize, bursts: usize, sent: usize) -> Heard {
    let loss = lost as f64 / sent as f64;
    let length = if bursts > 0 { lost as f64 / bursts as f64 } else { 1.0 };
    // Independent losses come in bursts of 1 / (1 - loss) in the mean.
    Heard { playout, loss, burst_ratio: (length * (1.0 - loss)).max(1.0) }
}

/// What is heard with each delay that a packet had as playout: packets are added in the order of their delays.
fn candidates(delays: &[Span]) -> Vec<Heard> {
    let sent = delays.len();
    let mut order: Vec<usize> = (0..sent).filter(|i| delays[*i] < MISSING).collect();
    order.sort_unstable_by_key(|i| delays[*i]);
    let mut lost = vec![true; sent];
    // All are lost, in one burst.
    let (mut count, mut bursts) = (sent, usize::from(sent > 0));
    let mut all = Vec::new();
    for (rank, index) in order.iter().copied().enumerate() {
        let lost_at = |i: Option<usize>| i.and_then(|i| lost.get(i)).copied().unwrap_or(false);
        let neighbours = usize::from(lost_at(index.checked_sub(1))) + usize::from(lost_at(Some(index + 1)));
        bursts = bursts + neighbours - 1;
        lost[index] = false;
        count -= 1;
        if order.get(rank + 1).is_none_or(|next| delays[*next] > delays[index]) {
            all.push(heard(delays[index], count, bursts, sent));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    /// Vectors: delay from mouth to ear, loss in percent, rating, opinion.
    #[test]
    fn the_e_model_gives_its_vectors() {
        for (delay, percent, rating, mos) in [
            (0, 0.0, 93.2, 4.4093),
            (150, 0.0, 89.6, 4.3291),
            (150, 1.0, 85.96, 4.2279),
            (150, 5.0, 73.819, 3.7706),
            (300, 2.0, 65.492, 3.3791),
            (400, 10.0, 32.037, 1.6951),
        ] {
            let r = Coding::G711.rating(ms(delay), percent / 100.0, 1.0);
            assert!((r - rating).abs() < 1e-3 && (opinion(r) - mos).abs() < 1e-4, "{delay} {percent}: {r}");
        }
        let r = Coding::G729A.rating(ms(150), 0.01, 1.0);
        assert!((r - 74.4).abs() < 1e-9 && (opinion(r) - 3.796).abs() < 5e-4, "{r}");
        assert!((Coding::G711.rating(ms(150), 0.02, 2.0) - 82.32).abs() < 5e-3);
        assert!(Coding::G711_PLAIN.rating(ms(0), 0.01, 1.0) < Coding::G711.rating(ms(0), 0.01, 1.0));
        assert_eq!((opinion(-1.0), opinion(101.0)), (1.0, 4.5));
    }

    #[test]
    fn every_candidate_is_what_a_fixed_playout_gives() {
        let delays: Vec<Span> =
            [20, 30, 0, 0, 21, 25, 20, 0, 90, 90, 20].map(|d| if d == 0 { MISSING } else { ms(d) }).to_vec();
        let all = candidates(&delays);
        assert_eq!(all.iter().map(|heard| heard.playout).collect::<Vec<_>>(), [20, 21, 25, 30, 90].map(ms));
        for heard in all {
            assert_eq!(Some(heard), heard_at(&delays, heard.playout));
        }
        // Lost: 3 and 4 of 11, and 8: two bursts, 1.5 long; independent ones would be 11 / 8 long.
        let last = heard_at(&delays, ms(90)).unwrap();
        assert!((last.loss - 3.0 / 11.0).abs() < 1e-12 && (last.burst_ratio - 1.5 * 8.0 / 11.0).abs() < 1e-12);
    }

    /// Delays that grow: late packets against waiting for them.
    #[test]
    fn auto_waits_for_no_rare_straggler() {
        let mut voice = Voice::new(Coding::G711, Bytes(172), None);
        let mut commands = Vec::new();
        let at = |n: u64| Time::ZERO + ms(20 * n);
        for number in 0..200 {
            voice.on(at(number), if number == 0 { Input::Start } else { Input::Due }, &mut commands);
        }
        for number in 0..190 {
            let late = if number == 77 { 600 } else { 50 };
            let arrived = Input::Datagram { reader: End::Sink, number, sent_at: at(number) };
            voice.on(at(number) + ms(late), arrived, &mut commands);
        }
        // The longest delay is 600 ms: what was sent in the last 600 ms before the end, 30 packets, is not judged.
        let summary = voice.summary(Time::ZERO, at(200));
        assert_eq!(summary.mouth_to_ear_s, Some(0.07));
        assert_eq!(summary.voice_loss_ratio, Some(1.0 / 170.0));
        let fixed = Voice { playout: Some(ms(600)), ..voice };
        let summary = fixed.summary(at(100), at(200));
        assert_eq!((summary.voice_loss_ratio, summary.voice_burst_ratio), (Some(0.0), None));
        assert!(summary.mos.unwrap() < 2.5);
    }
}
