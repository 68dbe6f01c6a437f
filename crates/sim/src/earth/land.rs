//! Where there is land, to two degrees: the middle of each square is on land or not. Derived from Natural Earth, 1:110m (public
//! domain), Antarctica included, lakes not.

/// A line for each two degrees of latitude from north to south, a character for each two of longitude from -180 eastwards:
/// `#` is land.
const MAP: &[u8] = include_bytes!("../../data/land.txt");

const ROWS: usize = 90;
const COLUMNS: usize = 180;
const _: () = assert!(MAP.len() == ROWS * (COLUMNS + 1));

/// True if most likely there is ground under a place.
pub(crate) fn is_land(lat_deg: f64, lon_deg: f64) -> bool {
    let row = (((90.0 - lat_deg) / 2.0) as usize).min(ROWS - 1);
    let column = (((lon_deg + 180.0) / 2.0) as usize).min(COLUMNS - 1);
    MAP[row * (COLUMNS + 1) + column] == b'#'
}

#[cfg(test)]
mod tests {
    use super::super::cities::cities;
    use super::*;

    #[test]
    fn cities_stand_on_land_or_at_its_edge_and_oceans_are_wet() {
        let near = |lat: f64, lon: f64| {
            let around = [(0.0, 0.0), (2.0, 0.0), (-2.0, 0.0), (0.0, 2.0), (0.0, -2.0)];
            around.iter().any(|(north, east)| is_land(lat + north, lon + east))
        };
        // Honolulu, Reykjavik and Singapore are on islands that may fall between two squares.
        let dry = cities().filter(|(_, lat, lon)| near(*lat, *lon)).count();
        assert!(dry >= cities().count() - 3, "{dry}");
        let wet = [(0.0, -30.0), (30.0, -45.0), (-30.0, 80.0), (0.0, -150.0), (45.0, 180.0), (-45.0, -180.0)];
        assert!(wet.iter().all(|(lat, lon)| !is_land(*lat, *lon)));
        assert!(is_land(-90.0, 0.0) && !is_land(90.0, 0.0));
    }

    #[test]
    fn three_tenths_of_the_earth_are_land() {
        // 149 of 510 million square kilometres.
        let (mut land, mut all) = (0.0, 0.0);
        for row in 0..90 {
            let lat = 89.0 - 2.0 * f64::from(row);
            for column in 0..180 {
                let share = libm::cos(lat.to_radians());
                all += share;
                land += if is_land(lat, -179.0 + 2.0 * f64::from(column)) { share } else { 0.0 };
            }
        }
        assert!((land / all - 149.0 / 510.0).abs() < 0.005, "{}", land / all);
    }
}
