//! Where there is land, to two degrees: the middle of each square is on land or not. Derived from Natural Earth, 1:110m (public
//! domain), Antarctica included, lakes not.

/// From north to south; three times 60 squares from longitude -180 eastwards, the first in the highest bit.
const LAND: [[u64; 3]; 90] = [
    [0x000000000000000, 0x000000000000000, 0x000000000000000],
    [0x000000000000000, 0x000000000000000, 0x000000000000000],
    [0x000000000000000, 0x000000000000000, 0x000000000000000],
    [0x0000000000007f8, 0x00ffc0000000000, 0x000000000000000],
    [0x000000000017ff3, 0xfffffe000000000, 0x000040000000000],
    [0x00000000061df0f, 0xfffff0000f80000, 0x000074000000000],
    [0x000000030027c3f, 0xfffff8000200000, 0x000006000000000],
    [0x0000000038afc00, 0x7ffff0000000003, 0x0007ffc001c8000],
    [0x0000000e88b7b00, 0x3fffc000000000c, 0x003fffffc000000],
    [0x80180009fc37fc0, 0x0fffa0000018004, 0x1dffffffeffc001],
    [0x00fffbfe725d8f0, 0x0fff800001ff000, 0xedfffffffffffdf],
    [0xe0ffffffffff87c, 0x1ff8000007ffebf, 0xfdfffffffffffff],
    [0x31fffffffffd1f8, 0x0fc03e000f9ebff, 0xfffffffffffffff],
    [0x00fffffffff8034, 0x078000003e7ffff, 0xfffffffffffffff],
    [0x01fdffffffe01e0, 0x038000007e7ffff, 0xffffffffffff2f0],
    [0x007807ffffe01e4, 0x000000007e3ffff, 0xffffffffff82200],
    [0x001001fffff80fe, 0x000000182c7ffff, 0xfffffffffe00f00],
    [0x0080007fffff9ff, 0x8000003820fffff, 0xfffffffffc00e00],
    [0x0000007fffff9ff, 0xc000006cfffffff, 0xffffffffffc0800],
    [0x0000003ffffffff, 0xc000000dfffffff, 0xffffffffff40000],
    [0x0000001fffffff4, 0x60000007fffffff, 0xffffffffff40000],
    [0x0000000fffffffc, 0x10000007ffffbff, 0xfffffffffe40000],
    [0x0000000fffffff6, 0x00000007f7f97cf, 0xfffffffffc00000],
    [0x0000000ffffffe0, 0x0000007f19f03cf, 0xfffffffff8c0000],
    [0x0000000ffffff80, 0x0000003c26f7fe7, 0xffffffffe080000],
    [0x0000000ffffff00, 0x0000007c029ffe7, 0xfffffff84080000],
    [0x00000007fffff00, 0x00000038740ffe7, 0xfffffffe6300000],
    [0x00000003fffff00, 0x0000001fe022fff, 0xfffffffc4f00000],
    [0x00000001ffffc00, 0x0000003ff000fff, 0xfffffffc1800000],
    [0x00000000ffff800, 0x0000007ffef5fff, 0xfffffffe0000000],
    [0x000000003fc0400, 0x0000007ffffffdf, 0xfffffffe0000000],
    [0x000000005f80400, 0x000001fffffefe7, 0xfffffffc0000000],
    [0x000000002f80000, 0x000001fffffe7f4, 0x1ffffffc0000000],
    [0x000000000780c00, 0x000003ffffff7ff, 0x07fffff20000000],
    [0x000000000786100, 0x000007ffffffbfe, 0x07f8ff000000000],
    [0x0000000003cc020, 0x000003ffffff9fe, 0x03f07e800000000],
    [0x0000000000fc000, 0x000003ffffff9f8, 0x01e07f020000000],
    [0x00000000000f000, 0x000007ffffffde0, 0x01c01f020000000],
    [0x000000000003000, 0x000003ffffffe80, 0x01c01f820000000],
    [0x0000000000010f0, 0x000003fffffff20, 0x00c013000000000],
    [0x000000000000aff, 0x000001fffffffe0, 0x00a012000000000],
    [0x0000000000001ff, 0x800000fffffffe0, 0x002000008000000],
    [0x0000000000001ff, 0xf00000687ffffc0, 0x00002c1c0000000],
    [0x0000000000001ff, 0xf80000001ffff80, 0x000014380000000],
    [0x0000000000003ff, 0xf80000001ffff00, 0x0000187a0000000],
    [0x0000000000003ff, 0xfe0000003fffe00, 0x00000c781800000],
    [0x0000000000003ff, 0xffc000001fffc00, 0x000006762b80000],
    [0x0000000000007ff, 0xfff000000fffc00, 0x0000020101e0000],
    [0x0000000000003ff, 0xfff800000fffc00, 0x000001c001f0800],
    [0x0000000000001ff, 0xfff000000fffc00, 0x0000000880d0200],
    [0x0000000000001ff, 0xffe0000007ffc00, 0x000000000000000],
    [0x0000000000000ff, 0xffe000000fffc20, 0x000000001c40000],
    [0x0000000000000ff, 0xffe000000fffc20, 0x00000000fc60040],
    [0x00000000000003f, 0xffc000000fff8e0, 0x00000001fe60000],
    [0x00000000000001f, 0xffc000000fff0e0, 0x00000001ffe0000],
    [0x00000000000001f, 0xffc0000007ff0c0, 0x0000000ffff8080],
    [0x00000000000001f, 0xff80000007ff0c0, 0x0000001ffff8000],
    [0x00000000000001f, 0xfc00000007fe080, 0x0000001ffffc000],
    [0x00000000000001f, 0xfc00000003fc000, 0x0000001ffffe000],
    [0x00000000000003f, 0xf800000003fc000, 0x0000001ffffe000],
    [0x00000000000003f, 0xf800000001f8000, 0x0000000ffffe000],
    [0x00000000000003f, 0xf000000001f0000, 0x0000000f07fc000],
    [0x00000000000003f, 0x800000000000000, 0x0000000801f8008],
    [0x00000000000007f, 0xc00000000000000, 0x0000000000f8004],
    [0x00000000000007e, 0x000000000000000, 0x000000000000006],
    [0x00000000000007e, 0x000000000000000, 0x00000000003000c],
    [0x00000000000003c, 0x000000000000000, 0x000000000010018],
    [0x000000000000078, 0x000000000000000, 0x000000000000030],
    [0x000000000000078, 0x000000000000000, 0x000000000000000],
    [0x0000000000000f0, 0x000000000000000, 0x080000000000000],
    [0x0000000000000e0, 0x000000000000000, 0x000000000000000],
    [0x000000000000070, 0x000000000000000, 0x000000000000000],
    [0x000000000000030, 0x000000000000000, 0x000000000000000],
    [0x000000000000000, 0x000000000000000, 0x000000000000000],
    [0x000000000000000, 0x000000000000000, 0x000000000000000],
    [0x000000000000000, 0x000000000000000, 0x000000000000000],
    [0x000000000000000, 0x000000000000000, 0x000000000000000],
    [0x000000000000002, 0x000000000000000, 0x000000000000000],
    [0x00000000000000c, 0x00000000000001e, 0x00000ff9ffe0000],
    [0x00000000000002c, 0x0000000000013ff, 0xf87fffffffff000],
    [0x00000000000003e, 0x00000021fffffff, 0xf3fffffffffffc0],
    [0x00000000038400f, 0x000001fffffffff, 0xfffffffffffffe0],
    [0x000007fff4ffffc, 0x000007fffffffff, 0xfffffffffffff80],
    [0x0001fffffffff00, 0x0001fffffffffff, 0xfffffffffffff00],
    [0x004fffffffffe00, 0x070ffffffffffff, 0xfffffffffffff00],
    [0x0000fffffffffe0, 0x080ffffffffffff, 0xffffffffffffc00],
    [0x0007fffffffffff, 0xfffffffffffffff, 0xfffffffffffff80],
    [0xff803ffffffffff, 0xfffffffffffffff, 0xfffffffffffffff],
    [0xfffffffffffffff, 0xfffffffffffffff, 0xfffffffffffffff],
    [0xfffffffffffffff, 0xfffffffffffffff, 0xfffffffffffffff],
];

/// True if most likely there is ground under a place.
pub(crate) fn is_land(lat_deg: f64, lon_deg: f64) -> bool {
    let row = (((90.0 - lat_deg) / 2.0) as usize).min(89);
    let column = (((lon_deg + 180.0) / 2.0) as usize).min(179);
    LAND[row][column / 60] >> (59 - column % 60) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::super::cities::CITIES;
    use super::*;

    #[test]
    fn cities_stand_on_land_or_at_its_edge_and_oceans_are_wet() {
        let near = |lat: f64, lon: f64| {
            let around = [(0.0, 0.0), (2.0, 0.0), (-2.0, 0.0), (0.0, 2.0), (0.0, -2.0)];
            around.iter().any(|(north, east)| is_land(lat + north, lon + east))
        };
        // Honolulu, Reykjavik and Singapore are on islands that may fall between two squares.
        let dry = CITIES.iter().filter(|(_, lat, lon)| near(*lat, *lon)).count();
        assert!(dry >= CITIES.len() - 3, "{dry}");
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
