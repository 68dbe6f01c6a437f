//! Values by number of station, of which only the pages that were written take memory. A network of 10,000 stations has
//! 10,000 tables, and at first each knows of one station.

use crate::ids::StationId;

const STATIONS_PER_PAGE: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Pages<T> {
    pages: Vec<Option<Box<[T; STATIONS_PER_PAGE]>>>,
    /// The value of what was never written.
    unwritten: T,
}

impl<T: Copy> Pages<T> {
    pub(super) fn new(unwritten: T) -> Pages<T> {
        Pages { pages: Vec::new(), unwritten }
    }

    pub(super) fn get(&self, station: StationId) -> &T {
        let (page, place) = position(station);
        self.pages.get(page).and_then(Option::as_ref).map_or(&self.unwritten, |page| &page[place])
    }

    pub(super) fn get_mut(&mut self, station: StationId) -> &mut T {
        let (page, place) = position(station);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        &mut self.pages[page].get_or_insert_with(|| Box::new([self.unwritten; STATIONS_PER_PAGE]))[place]
    }

    /// The stations of all written pages with their values, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (StationId, &T)> {
        let written = self.pages.iter().enumerate().filter_map(|(number, page)| Some((number, page.as_ref()?)));
        written.flat_map(|(number, page)| {
            let first = number * STATIONS_PER_PAGE;
            page.iter().enumerate().map(move |(place, value)| (StationId((first + place) as u32), value))
        })
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.pages.iter_mut().flatten().flat_map(|page| page.iter_mut())
    }
}

fn position(station: StationId) -> (usize, usize) {
    (station.index() / STATIONS_PER_PAGE, station.index() % STATIONS_PER_PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_were_not_written_hold_the_value_of_the_unwritten_and_no_memory() {
        let mut pages = Pages::new(7);
        *pages.get_mut(StationId(9_999)) = 8;
        let values = [9_999, 9_998, 3, 20_000].map(|station| *pages.get(StationId(station)));
        assert_eq!(values, [8, 7, 7, 7]);
        assert_eq!(pages.pages.iter().flatten().count(), 1);
        let stations: Vec<StationId> = pages.iter().map(|(station, _)| station).collect();
        assert_eq!((stations[0], stations.len()), (StationId(9_984), STATIONS_PER_PAGE));
        pages.values_mut().for_each(|value| *value = 1);
        assert_eq!(pages.iter().map(|(_, value)| value).sum::<usize>(), STATIONS_PER_PAGE);
        assert_eq!(*pages.get(StationId(3)), 7);
    }
}
