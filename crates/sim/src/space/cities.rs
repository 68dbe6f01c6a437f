//! Cities by name: latitude and longitude to a tenth of a degree, which is what the maps of any atlas agree on.

/// Name, latitude, longitude.
pub(crate) type City = (&'static str, f64, f64);

pub(crate) const CITIES: [City; 96] = [
    ("Accra", 5.6, -0.2),
    ("Addis Ababa", 9.0, 38.7),
    ("Algiers", 36.8, 3.1),
    ("Almaty", 43.2, 76.9),
    ("Amsterdam", 52.4, 4.9),
    ("Anchorage", 61.2, -149.9),
    ("Ankara", 39.9, 32.9),
    ("Antananarivo", -18.9, 47.5),
    ("Athens", 38.0, 23.7),
    ("Atlanta", 33.7, -84.4),
    ("Auckland", -36.8, 174.8),
    ("Baghdad", 33.3, 44.4),
    ("Bangkok", 13.8, 100.5),
    ("Beijing", 39.9, 116.4),
    ("Berkeley", 37.9, -122.3),
    ("Berlin", 52.5, 13.4),
    ("Bogota", 4.7, -74.1),
    ("Boston", 42.3, -71.1),
    ("Brisbane", -27.5, 153.0),
    ("Brussels", 50.8, 4.4),
    ("Buenos Aires", -34.6, -58.4),
    ("Cairo", 30.0, 31.2),
    ("Cape Town", -33.9, 18.4),
    ("Caracas", 10.5, -66.9),
    ("Casablanca", 33.6, -7.6),
    ("Chennai", 13.1, 80.3),
    ("Chicago", 41.9, -87.6),
    ("Chittagong", 22.4, 91.8),
    ("Colombo", 6.9, 79.9),
    ("Copenhagen", 55.7, 12.6),
    ("Dakar", 14.7, -17.4),
    ("Dar es Salaam", -6.8, 39.3),
    ("Delhi", 28.6, 77.2),
    ("Denver", 39.7, -105.0),
    ("Dhaka", 23.8, 90.4),
    ("Dubai", 25.2, 55.3),
    ("Dublin", 53.3, -6.3),
    ("Frankfurt", 50.1, 8.7),
    ("Hanoi", 21.0, 105.8),
    ("Havana", 23.1, -82.4),
    ("Helsinki", 60.2, 24.9),
    ("Hong Kong", 22.3, 114.2),
    ("Honolulu", 21.3, -157.9),
    ("Houston", 29.8, -95.4),
    ("Istanbul", 41.0, 29.0),
    ("Jakarta", -6.2, 106.8),
    ("Johannesburg", -26.2, 28.0),
    ("Karachi", 24.9, 67.0),
    ("Kathmandu", 27.7, 85.3),
    ("Kinshasa", -4.3, 15.3),
    ("Kolkata", 22.6, 88.4),
    ("Kuala Lumpur", 3.1, 101.7),
    ("Kyiv", 50.5, 30.5),
    ("Lagos", 6.5, 3.4),
    ("Lima", -12.0, -77.0),
    ("Lisbon", 38.7, -9.1),
    ("London", 51.5, -0.1),
    ("Los Angeles", 34.1, -118.2),
    ("Madrid", 40.4, -3.7),
    ("Manila", 14.6, 121.0),
    ("Melbourne", -37.8, 145.0),
    ("Mexico City", 19.4, -99.1),
    ("Miami", 25.8, -80.2),
    ("Montreal", 45.5, -73.6),
    ("Moscow", 55.8, 37.6),
    ("Mumbai", 19.1, 72.9),
    ("Nairobi", -1.3, 36.8),
    ("New York", 40.7, -74.0),
    ("Osaka", 34.7, 135.5),
    ("Oslo", 59.9, 10.8),
    ("Paris", 48.9, 2.4),
    ("Perth", -32.0, 115.9),
    ("Prague", 50.1, 14.4),
    ("Quito", -0.2, -78.5),
    ("Reykjavik", 64.1, -21.9),
    ("Rio de Janeiro", -22.9, -43.2),
    ("Riyadh", 24.7, 46.7),
    ("Rome", 41.9, 12.5),
    ("San Francisco", 37.8, -122.4),
    ("Santiago", -33.4, -70.7),
    ("Sao Paulo", -23.5, -46.6),
    ("Seattle", 47.6, -122.3),
    ("Seoul", 37.6, 127.0),
    ("Shanghai", 31.2, 121.5),
    ("Singapore", 1.4, 103.8),
    ("Stockholm", 59.3, 18.1),
    ("Sydney", -33.9, 151.2),
    ("Taipei", 25.0, 121.6),
    ("Tehran", 35.7, 51.4),
    ("Tokyo", 35.7, 139.7),
    ("Toronto", 43.7, -79.4),
    ("Vancouver", 49.3, -123.1),
    ("Vienna", 48.2, 16.4),
    ("Warsaw", 52.2, 21.0),
    ("Washington", 38.9, -77.0),
    ("Zurich", 47.4, 8.5),
];

/// The city of that name, whatever its case: its own spelling, latitude and longitude.
pub(crate) fn find(name: &str) -> Option<City> {
    CITIES.into_iter().find(|city| city.0.eq_ignore_ascii_case(name.trim()))
}

/// The cities whose names are most like `name`.
pub(crate) fn alike(name: &str) -> Vec<&'static str> {
    let name = name.to_lowercase();
    let mut sorted: Vec<(usize, &str)> =
        CITIES.iter().map(|city| (edits(&name, &city.0.to_lowercase()), city.0)).collect();
    sorted.sort_unstable();
    sorted.into_iter().take(4).map(|(_, name)| name).collect()
}

/// Letters to insert, remove or replace to make one text the other (Levenshtein 1965).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cities_are_sorted_and_on_the_globe() {
        assert!(CITIES.windows(2).all(|two| two[0].0 < two[1].0));
        assert!(CITIES.iter().all(|(_, lat, lon)| lat.abs() <= 90.0 && lon.abs() <= 180.0));
        assert_eq!(find("new york"), Some(("New York", 40.7, -74.0)));
        assert_eq!(find("Atlantis"), None);
    }

    #[test]
    fn a_slip_finds_its_city() {
        assert_eq!(alike("Berkley")[0], "Berkeley");
        assert_eq!(alike("new  yrok")[0], "New York");
    }
}
