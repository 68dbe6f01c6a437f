//! The samples of a run as a page asks for them: one track for each series and flow, link or node.
//!
//! A track keeps what the engine gave: times in full, values as float32, which is what a screen needs and a page receives.

use std::collections::BTreeMap;

use sim::Column;

/// Pixels of the widest screen that is served.
pub(crate) const MOST_COLUMNS: usize = 4000;
/// Flows that a page draws and switches; the others are in the files of a run.
pub(crate) const MOST_FLOWS: u32 = 24;
/// States are names; drops and marks are drawn as instants.
const NO_DIFFERENCE: [&str; 3] = ["state", "drops", "marks"];
/// A time and a value.
const BYTES_PER_SAMPLE: usize = 12;

/// The samples of one owner of a series, in the order of time.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Track {
    t_s: Vec<f64>,
    values: Vec<f32>,
}

/// What a page wants to see: from and to which second, in how many columns of pixels.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// From this second,
    pub from_s: f64,
    /// to this one,
    pub until_s: f64,
    /// in so many columns of pixels.
    pub columns: usize,
}

/// All series of a run.
#[derive(Default, Debug)]
pub struct Tracks {
    tracks: BTreeMap<String, BTreeMap<u32, Track>>,
    samples: usize,
}

impl Track {
    /// The samples of an interval, with the last before it, which holds at its start, and the first after it.
    fn between(&self, shown: Shown) -> Track {
        let first = self.t_s.partition_point(|t| *t <= shown.from_s).saturating_sub(1);
        let end = (self.t_s.partition_point(|t| *t <= shown.until_s) + 1).min(self.t_s.len());
        Track { t_s: self.t_s[first..end].to_vec(), values: self.values[first..end].to_vec() }
    }

    /// The smallest and the largest sample of each column of pixels, and the very last; everything if there is not more than that.
    fn reduced(self, shown: Shown) -> Track {
        if self.t_s.len() <= 2 * shown.columns {
            return self;
        }
        let column = |t: f64| {
            let at = (t - shown.from_s) / (shown.until_s - shown.from_s) * shown.columns as f64;
            at.clamp(-1.0, shown.columns as f64) as i64
        };
        let mut kept = Vec::new();
        let mut start = 0;
        while start < self.t_s.len() {
            let own = column(self.t_s[start]);
            let count = self.t_s[start..].iter().take_while(|t| column(**t) == own).count();
            kept.extend(extremes(&self.values[start..start + count]).map(|i| start + i));
            start += count;
        }
        kept.push(self.t_s.len() - 1);
        kept.sort_unstable();
        kept.dedup();
        let at = |i: &usize| (self.t_s[*i], self.values[*i]);
        let (t_s, values) = kept.iter().map(at).unzip();
        Track { t_s, values }
    }

    /// The value that holds at a time: of several at one time the last. NaN before the first.
    fn held_at(&self, t_s: f64) -> f32 {
        let after = self.t_s.partition_point(|t| *t <= t_s);
        if after == 0 { f32::NAN } else { self.values[after - 1] }
    }

    /// This track less another at every time of either.
    fn less(&self, other: &Track) -> Track {
        let mut t_s = [self.t_s.as_slice(), other.t_s.as_slice()].concat();
        t_s.sort_unstable_by(f64::total_cmp);
        t_s.dedup();
        let values = t_s.iter().map(|t| self.held_at(*t) - other.held_at(*t)).collect();
        Track { t_s, values }
    }
}

/// The places of the first smallest and the first largest value; of the first if there is no number.
fn extremes(values: &[f32]) -> impl Iterator<Item = usize> {
    let (mut low, mut high) = (0, 0);
    for (i, value) in values.iter().enumerate() {
        if *value < values[low] || values[low].is_nan() && !value.is_nan() {
            low = i;
        }
        if *value > values[high] || values[high].is_nan() && !value.is_nan() {
            high = i;
        }
    }
    [low, high].into_iter()
}

impl Tracks {
    /// Adds what the engine has recorded since the last time.
    pub fn extend(&mut self, name: &str, column: &Column) {
        self.samples += column.id.len();
        let owners = self.tracks.entry(name.to_owned()).or_default();
        for (i, owner) in column.id.iter().enumerate() {
            let track = owners.entry(*owner).or_default();
            track.t_s.push(column.t_s[i]);
            track.values.push(column.value[i] as f32);
        }
    }

    /// Memory of the samples.
    pub fn held_bytes(&self) -> u64 {
        (self.samples * BYTES_PER_SAMPLE) as u64
    }

    /// The largest, smallest or mean sample of a series, if it has any that is a number.
    pub fn statistic(&self, name: &str, owner: u32, statistic: &str) -> Option<f64> {
        let track = self.tracks.get(name)?.get(&owner)?;
        let numbers = || track.values.iter().filter(|value| !value.is_nan()).map(|value| f64::from(*value));
        match statistic {
            "max" => numbers().reduce(f64::max),
            "min" => numbers().reduce(f64::min),
            "mean" => Some(numbers().sum::<f64>() / numbers().count() as f64).filter(|mean| !mean.is_nan()),
            _ => None,
        }
    }

    /// What a page wants to see: the first flows, and all that is no flow's (`of_flows` tells which series are).
    pub fn message(&self, shown: Shown, facts: &str, of_flows: impl Fn(&str) -> bool) -> Vec<u8> {
        let drawn = self.all().filter(|(name, owner, _)| *owner < MOST_FLOWS || !of_flows(name));
        let reduced =
            drawn.map(|(name, owner, track)| (name, owner, track.between(shown).reduced(shown), track.t_s.len()));
        packed(reduced, shown, facts)
    }

    /// Name, owner and samples of every track.
    fn all(&self) -> impl Iterator<Item = (&str, u32, &Track)> {
        self.tracks
            .iter()
            .flat_map(|(name, owners)| owners.iter().map(move |(owner, track)| (name.as_str(), *owner, track)))
    }

    /// The series that both have: those of this run less those of `before`.
    pub fn difference(&self, before: &Tracks, shown: Shown) -> Vec<u8> {
        let less = self.all().filter(|(name, ..)| !NO_DIFFERENCE.contains(name)).filter_map(|(name, owner, track)| {
            let other = before.tracks.get(name)?.get(&owner)?;
            let less = track.between(shown).less(&other.between(shown));
            let count = less.t_s.len();
            Some((name, owner, less.reduced(shown), count))
        });
        packed(less, shown, "")
    }
}

/// Series for a page: the length of the head, the head as JSON, and columns of float32 (little endian). Times count from `from_s`
/// of the head, so that float32 is fine enough for them. `facts` are the first entries of the head.
fn packed<'a>(tracks: impl Iterator<Item = (&'a str, u32, Track, usize)>, shown: Shown, facts: &str) -> Vec<u8> {
    let (mut heads, mut blocks) = (Vec::new(), Vec::new());
    for (name, id, track, of) in tracks {
        heads.push(serde_json::json!({"name": name, "id": id, "count": track.t_s.len(), "of": of}));
        blocks.extend(track.t_s.iter().flat_map(|t| ((t - shown.from_s) as f32).to_le_bytes()));
        blocks.extend(track.values.iter().flat_map(|value| value.to_le_bytes()));
    }
    let comma = if facts.is_empty() { "" } else { "," };
    let columns = serde_json::Value::from(heads);
    let (from_s, until_s) = (shown.from_s, shown.until_s);
    let mut head =
        format!(r#"{{{facts}{comma}"from_s":{from_s:?},"until_s":{until_s:?},"columns":{columns}}}"#).into_bytes();
    // The columns begin at a multiple of four, where a Float32Array can.
    head.resize(head.len().next_multiple_of(4), b' ');
    [(head.len() as u32).to_le_bytes().as_slice(), &head, &blocks].concat()
}
