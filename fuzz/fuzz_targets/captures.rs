//! Any bytes as a capture, in parts of any size: a sentence, or connections and packets whose numbers agree.
#![no_main]

use captures::{Reader, Wanted};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let size = data.len() % 97 + 1;
    let mut reader = Reader::new(Some(Wanted { number: 0, until_ns: i64::MAX }));
    let (mut packets, mut bytes) = (0, 0);
    for part in data.chunks(size) {
        let Ok(found) = reader.feed(part) else { return };
        packets += found.iter().filter(|packet| packet.length > 0).count() as u64;
        bytes += found.iter().map(|packet| packet.length as u64).sum::<u64>();
    }
    let _sentence = reader.end();
    let first = reader.connections().next().map(|(one, _)| (one.segments, one.data_bytes));
    assert_eq!(first.unwrap_or_default(), (packets, bytes));
});
