//! What connections leave to the next ones of their pair of nodes (Careful Resume, RFC 9959): the store, and who has an entry of it.

use std::collections::BTreeMap;

use tcp::cc::{Begin, Saved};
use tcp::units::{Bytes, Span, Time};
use tcp::{Connection, ConnectionState, TcpConfig};

use crate::ids::NodeId;
use crate::scenario::Dscp;

/// Time between two looks at what a connection has seen.
const INTERVAL: Span = Span::from_millis(5000);

/// Sender, receiver and code point.
pub(crate) type Path = (NodeId, NodeId, Dscp);

/// An entry, and when it was saved.
type Entry = (Saved, Time);

/// What is known of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    entry: Option<Entry>,
    /// A connection uses an earlier entry.
    lent: bool,
}

/// The store of all nodes.
#[derive(Debug, Default)]
pub(crate) struct Store(BTreeMap<Path, Known>);

/// One end of a connection whose start resumes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resuming {
    lifetime: Span,
    /// Less is not worth it.
    least: Bytes,
    has_asked: bool,
    lent: Option<Entry>,
    saves_at: Time,
}

impl Resuming {
    /// What an end with these settings has, if its start is one that resumes.
    pub(crate) fn of(config: &TcpConfig) -> Option<Box<Resuming>> {
        let Begin::Resume(resume) = config.start.as_ref()?.begin else { return None };
        let least = config.initial_window * 4;
        Some(Box::new(Resuming {
            lifetime: resume.lifetime,
            least,
            has_asked: false,
            lent: None,
            saves_at: Time::ZERO,
        }))
    }

    /// It has not been handed what is known of its path.
    #[inline]
    pub(crate) fn asks(&self) -> bool {
        !self.has_asked
    }

    /// Before the end sends for the first time: it is handed what is known of its path.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin(&mut self, store: &mut Store, path: Path, now: Time, connection: &mut Connection) {
        self.has_asked = true;
        self.lent = store.lend(path, now, self.lifetime);
        connection.set_saved(self.lent.map(|(saved, _)| saved));
    }

    /// After it has sent: there may be something to give back or to save.
    #[inline]
    pub(crate) fn is_due(&self, now: Time, connection: &Connection) -> bool {
        self.lent.is_some() || now >= self.saves_at || closes(connection)
    }

    /// After the end has sent: what it has seen is saved every five seconds and when it closes, and what it was handed is given
    /// back once it is of no more use.
    #[cold]
    #[inline(never)]
    pub(crate) fn look(&mut self, store: &mut Store, path: Path, now: Time, connection: &Connection) {
        let closes = closes(connection);
        let resumption = connection.resumption();
        if let Some(entry) = self.lent
            && (closes || resumption.is_some_and(|resumption| resumption.over))
        {
            let unused = resumption.is_none_or(|resumption| !resumption.resumed);
            store.give_back(path, entry, unused);
            self.lent = None;
        }
        if closes || now >= self.saves_at {
            self.saves_at = now + INTERVAL;
            if let Some(saved) = connection.saved(now).filter(|saved| saved.cwnd >= self.least) {
                store.save(path, saved, now);
            }
        }
    }
}

/// The connection is established no more.
fn closes(connection: &Connection) -> bool {
    !matches!(
        connection.state(),
        ConnectionState::SynSent | ConnectionState::SynReceived | ConnectionState::Established
    )
}

impl Store {
    /// Hands out what is known of a path, once; what is older than `lifetime` is forgotten.
    fn lend(&mut self, path: Path, now: Time, lifetime: Span) -> Option<Entry> {
        let known = self.0.get_mut(&path).filter(|known| !known.lent)?;
        let entry = known.entry.take().filter(|(_, at)| now.since(*at) <= lifetime)?;
        known.lent = true;
        Some(entry)
    }

    /// Nobody uses the entry any more; one that was of no use is kept, unless a later one has come.
    fn give_back(&mut self, path: Path, entry: Entry, unused: bool) {
        let known = self.0.entry(path).or_default();
        known.lent = false;
        if unused {
            known.entry.get_or_insert(entry);
        }
    }

    fn save(&mut self, path: Path, saved: Saved, now: Time) {
        self.0.entry(path).or_default().entry = Some((saved, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Path {
        (NodeId(0), NodeId(1), Dscp::default())
    }

    fn at(s: u64) -> Time {
        Time::ZERO + Span::from_millis(1000 * s)
    }

    fn saved(cwnd: u64) -> Saved {
        Saved { cwnd: Bytes(cwnd), rtt: Span::from_millis(100) }
    }

    #[test]
    fn an_entry_is_handed_out_once_and_not_when_it_is_old() {
        let (mut store, minute) = (Store::default(), Span::from_millis(60_000));
        assert_eq!(store.lend(path(), at(0), minute), None);
        store.save(path(), saved(1000), at(0));
        let entry = store.lend(path(), at(60), minute).unwrap();
        assert_eq!(entry, (saved(1000), at(0)));
        store.save(path(), saved(2000), at(61));
        assert_eq!(store.lend(path(), at(62), minute), None, "while one is in use the next waits");
        store.give_back(path(), entry, true);
        assert_eq!(store.lend(path(), at(63), minute).unwrap().0, saved(2000), "the later one counts");
        store.give_back(path(), entry, true);
        assert_eq!(store.lend(path(), at(61), minute), None, "it has become too old");
    }

    #[test]
    fn an_entry_that_was_used_is_gone() {
        let mut store = Store::default();
        store.save(path(), saved(1000), at(0));
        let entry = store.lend(path(), at(1), Span::from_millis(60_000)).unwrap();
        store.give_back(path(), entry, false);
        assert_eq!(store.lend(path(), at(2), Span::from_millis(60_000)), None);
    }
}
