//! What a connection has seen of its path, for the next one of its pair of nodes (RFC 9959 §4.1).

use std::collections::VecDeque;

use crate::cc::{Saved, View, Window};
use crate::units::{Bytes, Time};

/// Round trips that count.
const ROUNDS: usize = 10;

/// The observer of one connection.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    /// Newly acknowledged in each of the last smoothed RTTs.
    volumes: VecDeque<Bytes>,
    from: Bytes,
    ends: Time,
    has_left_slow_start: bool,
}

impl Observer {
    pub(crate) fn on_ack(&mut self, view: &View, window: Window) {
        self.has_left_slow_start |= !window.in_slow_start();
        if view.now < self.ends {
            return;
        }
        let Some(srtt) = view.srtt else { return };
        if self.ends > Time::ZERO {
            self.volumes.push_back(view.delivered.saturating_sub(self.from));
        }
        if self.volumes.len() > ROUNDS {
            self.volumes.pop_front();
        }
        (self.from, self.ends) = (view.delivered, view.now + srtt);
    }

    /// The window that the path has carried; half of it while slow start may have overshot what it carries.
    pub(crate) fn saved(&self, view: &View) -> Option<Saved> {
        let most = self.volumes.iter().max()?;
        let cwnd = if self.has_left_slow_start { *most } else { Bytes(most.0 / 2) };
        view.min_rtt.map(|rtt| Saved { cwnd, rtt })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn the_largest_of_ten_round_trips_halved_in_slow_start() {
        let ms = Span::from_millis;
        let mut observer = Observer::default();
        let mut view = View { srtt: Some(ms(100)), min_rtt: Some(ms(90)), ..View::default() };
        let slow_start = Window { cwnd: Bytes(1), ssthresh: Bytes::MAX };
        for volume in [1, 2, 8, 3] {
            view.now = view.now + ms(100);
            observer.on_ack(&view, slow_start);
            view.delivered += Bytes(1000 * volume);
        }
        view.now = view.now + ms(100);
        observer.on_ack(&view, slow_start);
        assert_eq!(observer.saved(&view), Some(Saved { cwnd: Bytes(4000), rtt: ms(90) }));
        observer.on_ack(&view, Window { cwnd: Bytes(2), ssthresh: Bytes(1) });
        assert_eq!(observer.saved(&view).unwrap().cwnd, Bytes(8000));
        for _ in 0..12 {
            view.now = view.now + ms(100);
            view.delivered += Bytes(2000);
            observer.on_ack(&view, slow_start);
        }
        assert_eq!(observer.saved(&view).unwrap().cwnd, Bytes(2000), "ten round trips later it is forgotten");
    }
}
