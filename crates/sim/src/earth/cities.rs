//! Cities by name: latitude and longitude to a tenth of a degree, which is what the maps of any atlas agree on.

/// Name, latitude, longitude.
pub(crate) type City = (&'static str, f64, f64);

/// A line for each: name, latitude, longitude.
const TABLE: &str = include_str!("../../data/cities.csv");

/// All cities, sorted by name.
pub(super) fn cities() -> impl Iterator<Item = City> {
    TABLE.lines().map(|line| {
        let mut fields = line.split(',');
        let mut field = || fields.next().expect("a city has three fields");
        let name = field();
        let mut degrees = || field().parse().expect("degrees are numbers");
        (name, degrees(), degrees())
    })
}

/// The city of that name, whatever its case: its own spelling, latitude and longitude.
pub(crate) fn find(name: &str) -> Option<City> {
    cities().find(|city| city.0.eq_ignore_ascii_case(name.trim()))
}

/// The cities whose names are most like `name`.
pub(crate) fn alike(name: &str) -> Vec<&'static str> {
    let name = name.to_lowercase();
    let mut sorted: Vec<(usize, &str)> =
        cities().map(|city| (crate::scenario::edits(&name, &city.0.to_lowercase()), city.0)).collect();
    sorted.sort_unstable();
    sorted.into_iter().take(4).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cities_are_sorted_and_on_the_globe() {
        assert!(cities().zip(cities().skip(1)).all(|(a, b)| a.0 < b.0));
        assert_eq!(cities().count(), 96);
        assert!(cities().all(|(_, lat, lon): City| lat.abs() <= 90.0 && lon.abs() <= 180.0));
        assert_eq!(find("new york"), Some(("New York", 40.7, -74.0)));
        assert_eq!(find("Atlantis"), None);
    }

    #[test]
    fn a_slip_finds_its_city() {
        assert_eq!(alike("Berkley")[0], "Berkeley");
        assert_eq!(alike("new  yrok")[0], "New York");
    }
}
