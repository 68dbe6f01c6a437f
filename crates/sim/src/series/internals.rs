//! Series of what algorithms show of themselves: a column for each variable, made when it is first seen.

use tcp::cc::{Algorithm, StartConfig};
use tcp::units::Time;

use super::{Column, Series};
use crate::host::flow::Flow;
use crate::scenario::{Every, RecordedInternals, ScenarioError, SeriesName, Variable};

/// What is recorded of algorithms.
#[derive(Debug)]
pub(super) struct Internals {
    /// Those with these names; absent for all.
    named: Option<Vec<String>>,
    /// The algorithm of each listed flow.
    algorithms: Vec<Option<&'static Algorithm>>,
    /// Variables and their places among the columns.
    places: Vec<(&'static str, usize)>,
}

/// The name of the variable whose values are words of its algorithm.
const STATE: &str = "state";

impl Internals {
    /// What `recorded` asks for; `taken` columns are there already.
    pub(super) fn of(
        recorded: Option<&RecordedInternals>,
        flows: &[Flow],
        taken: usize,
    ) -> Result<Option<Internals>, ScenarioError> {
        let Some(recorded) = recorded else { return Ok(None) };
        let algorithms: Vec<_> = flows.iter().map(Flow::planned_algorithm).collect();
        let mut known: Vec<&'static str> = algorithms
            .iter()
            .flatten()
            .flat_map(|algorithm| algorithm.listed_internals())
            .chain(flows.iter().any(Flow::has_start).then_some(&StartConfig::SHOWN).into_iter().flatten())
            .map(|shown| shown.name)
            .collect();
        known.sort_unstable();
        known.dedup();
        let named = match recorded {
            RecordedInternals::All => None,
            RecordedInternals::Named(names) => {
                check(names, &known, algorithms.iter().flatten().any(|algorithm| algorithm.shows_freely()))?;
                known.retain(|name| names.iter().any(|wanted| wanted == name));
                Some(names.clone())
            }
        };
        let places = known.into_iter().enumerate().map(|(index, name)| (name, taken + index)).collect();
        Ok(Some(Internals { named, algorithms, places }))
    }

    /// The series that there are.
    pub(super) fn names(&self) -> impl Iterator<Item = SeriesName> + '_ {
        self.places.iter().map(|(name, _)| SeriesName::Internal(Variable(name)))
    }
}

/// Refuses a name that no algorithm of the scenario has; a class in Python whose `observe` gives what it will may have any.
fn check(names: &[String], known: &[&str], any: bool) -> Result<(), ScenarioError> {
    match names.iter().position(|name| !known.contains(&name.as_str())) {
        Some(index) if !any => {
            let bare = names[index].strip_prefix("cc.").unwrap_or_default();
            let hint = if known.contains(&bare) {
                format!("write {bare:?}")
            } else {
                format!("they have {}", known.join(", "))
            };
            let hint = if known.is_empty() { "they show nothing of themselves".to_owned() } else { hint };
            let message = format!("{:?} is no variable of the algorithms used", names[index]);
            Err(ScenarioError::new(format!("record.internals[{index}]"), message).with_hint(hint))
        }
        _ => Ok(()),
    }
}

impl Series {
    /// Samples what the algorithms show, unless each change is recorded.
    pub(super) fn sample_internals(&mut self, now: Time, flows: &[Flow]) {
        if self.every != Every::Change && self.internals.is_some() {
            flows.iter().enumerate().for_each(|(id, flow)| self.record_internals(now, id, flow));
        }
    }

    /// Records what the algorithm of a flow shows of itself, as far as it has changed.
    pub(super) fn record_internals(&mut self, now: Time, id: usize, flow: &Flow) {
        let Some(mut internals) = self.internals.take() else { return };
        let words = internals.algorithms.get(id).copied().flatten().map_or(&[][..], |algorithm| algorithm.states);
        flow.observe(&mut |name, value| {
            let known = internals.places.iter().find(|(known, _)| *known == name).map(|(_, place)| *place);
            let place = match known {
                Some(place) => place,
                None if internals.named.as_ref().is_none_or(|named| named.iter().any(|wanted| wanted == name)) => {
                    internals.places.push((name, self.wanted.len()));
                    self.add_column(SeriesName::Internal(Variable(name)))
                }
                None => return,
            };
            let before = self.columns[place].value.len();
            self.push_change(place, now, id, value);
            let Column { value: values, words: said, .. } = &mut self.columns[place];
            if name == STATE && values.len() > before {
                said.push(words.get(value as usize).copied().unwrap_or_default());
            }
        });
        self.internals = Some(internals);
    }
}
