//! The terminals of a constellation: cities by name, places of one's own, and places that are drawn.

use tcp::rng::Rng;

use super::graph::within;
use super::limits::MAX_TERMINALS;
use crate::earth::cities;
use crate::earth::land::is_land;
use crate::scenario::{Constellation, GroundDef, LatitudeDef, PlaceDef, ScenarioError, TerminalDef, join};

/// Places drawn in search of one on land.
const MAX_TRIES: u32 = 100_000;

/// The terminals that the scenario lists, cities with their places.
pub(super) fn listed(def: &Constellation) -> Result<Vec<TerminalDef>, ScenarioError> {
    let number = def.nodes.saturating_add(def.terminals.len() as u64);
    if !(2..=MAX_TERMINALS).contains(&number) {
        let message = format!("{number} is not a number of terminals from 2 to {MAX_TERMINALS}");
        let hint = "such as terminals = [\"Berkeley\", \"Boston\"], or nodes = 20";
        return Err(ScenarioError::new("network.terminals", message).with_hint(hint));
    }
    let mut places: Vec<PlaceDef> = Vec::with_capacity(def.terminals.len());
    for (index, terminal) in def.terminals.iter().enumerate() {
        let path = format!("network.terminals[{index}]");
        let place = match terminal {
            TerminalDef::City(name) => city(name, &path)?,
            TerminalDef::Place(place) => place.clone(),
        };
        within(&join(&path, "lat_deg"), place.lat_deg, [-90.0, 90.0])?;
        within(&join(&path, "lon_deg"), place.lon_deg, [-180.0, 180.0])?;
        if places.iter().any(|other| other.name == place.name) {
            return Err(ScenarioError::new(path, format!("{:?} is the name of two terminals", place.name)));
        }
        places.push(place);
    }
    Ok(places.into_iter().map(TerminalDef::Place).collect())
}

fn city(name: &str, path: &str) -> Result<PlaceDef, ScenarioError> {
    let unknown = || {
        let hint = format!(
            "near names: {}; or write {{ name = {name:?}, lat_deg = …, lon_deg = … }}",
            cities::alike(name).join(", ")
        );
        ScenarioError::new(path, format!("unknown city {name:?}")).with_hint(hint)
    };
    let (name, lat_deg, lon_deg) = cities::find(name).ok_or_else(unknown)?;
    Ok(PlaceDef { name: name.to_owned(), lat_deg, lon_deg })
}

/// Where terminals without a place are; nothing if there are none.
pub(super) fn placement(def: &Constellation) -> Result<Option<GroundDef>, ScenarioError> {
    const PATH: &str = "network.placement";
    if def.nodes == 0 {
        let error = ScenarioError::new(PATH, "there is nothing to place").with_hint("say how many with network.nodes");
        return if def.placement.is_some() { Err(error) } else { Ok(None) };
    }
    let placement = def.placement.unwrap_or_default();
    let (GroundDef::Land(LatitudeDef { south_deg, north_deg })
    | GroundDef::Globe(LatitudeDef { south_deg, north_deg })) = placement;
    within(&join(PATH, "south_deg"), south_deg, [-90.0, 90.0])?;
    within(&join(PATH, "north_deg"), north_deg, [-90.0, 90.0])?;
    if south_deg >= north_deg {
        let message = format!("{north_deg} is not north of south_deg ({south_deg})");
        return Err(ScenarioError::new(join(PATH, "north_deg"), message));
    }
    Ok(Some(placement))
}

/// The listed terminals, then those that are drawn, of a definition with nothing left to a default.
pub(super) fn all(full: &Constellation, seed: u64) -> Result<Vec<TerminalDef>, ScenarioError> {
    let mut terminals = full.terminals.clone();
    let Some(placement) = full.placement else { return Ok(terminals) };
    let mut rng = Rng::stream(seed, "placement");
    for i in 0..full.nodes {
        let name = format!("n{i}");
        let is_taken = |terminal: &TerminalDef| matches!(terminal, TerminalDef::Place(place) if place.name == name);
        if let Some(index) = full.terminals.iter().position(is_taken) {
            let message = format!("{name:?} is the name of one of network.nodes too");
            return Err(ScenarioError::new(format!("network.terminals[{index}]"), message));
        }
        let [lat_deg, lon_deg] = random_place(placement, &mut rng)?;
        terminals.push(TerminalDef::Place(PlaceDef { name, lat_deg, lon_deg }));
    }
    Ok(terminals)
}

/// A place; between two parallels the area is as the difference of their sines.
fn random_place(placement: GroundDef, rng: &mut Rng) -> Result<[f64; 2], ScenarioError> {
    let (belt, dry) = match placement {
        GroundDef::Land(belt) => (belt, true),
        GroundDef::Globe(belt) => (belt, false),
    };
    let [south, north] = [belt.south_deg, belt.north_deg].map(|latitude| libm::sin(latitude.to_radians()));
    for _ in 0..MAX_TRIES {
        let lat_deg = libm::asin(south + (north - south) * rng.uniform()).to_degrees();
        let lon_deg = 360.0 * rng.uniform() - 180.0;
        if !dry || is_land(lat_deg, lon_deg) {
            return Ok([lat_deg, lon_deg]);
        }
    }
    let message = format!("no land was found from {} to {} degrees", belt.south_deg, belt.north_deg);
    Err(ScenarioError::new("network.placement", message).with_hint("a wider belt, or kind = \"globe\""))
}

/// Flow i between two terminals, each pair with the same chance.
pub(super) fn random_ends(i: u64, full: &Constellation, seed: u64) -> [usize; 2] {
    let mut rng = Rng::stream(seed, &format!("traffic/{i}/ends"));
    let among = full.terminals.len() as u64;
    let from = rng.below(among);
    [from as usize, ((from + 1 + rng.below(among - 1)) % among) as usize]
}

/// Flow i from the first half of the terminals to the second.
pub(super) fn halves(i: u64, full: &Constellation) -> [usize; 2] {
    let half = full.terminals.len() / 2;
    let i = i as usize % half;
    [i, half + i]
}
