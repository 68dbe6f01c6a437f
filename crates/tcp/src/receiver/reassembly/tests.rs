use super::*;

fn range(start: u64, end: u64) -> SeqRange {
    SeqRange::new(SeqNo(start), SeqNo(end))
}

fn blocks(reassembly: &mut Reassembly, room: usize) -> Vec<(u64, u64)> {
    reassembly.sack_option(room).blocks().map(|block| (block.start.0, block.end.0)).collect()
}

#[test]
fn gaps_are_filled_in_any_order() {
    let mut r = Reassembly::new(SeqNo(1));
    for start in [301, 101, 501] {
        assert!(!r.insert(range(start, start + 100)));
    }
    assert_eq!((r.rcv_nxt.0, r.beyond.as_ref().unwrap().ranges.len()), (1, 3));
    assert!(r.advance(range(1, 101)));
    assert_eq!(r.rcv_nxt.0, 201);
    r.advance(range(201, 301));
    assert_eq!(r.rcv_nxt.0, 401);
    assert!(r.advance(range(401, 501)));
    assert_eq!((r.rcv_nxt.0, r.has_gap()), (601, false));
    assert!(!r.advance(range(601, 701)));
}

#[test]
fn the_block_of_the_segment_at_hand_comes_first() {
    let mut r = Reassembly::new(SeqNo(1));
    r.insert(range(201, 301));
    assert_eq!(blocks(&mut r, 4), [(201, 301)]);
    r.insert(range(401, 501));
    r.insert(range(601, 701));
    assert_eq!(blocks(&mut r, 4), [(601, 701), (401, 501), (201, 301)]);
    assert_eq!(blocks(&mut r, 2), [(601, 701), (401, 501)]);
    // The first block grows, and two become one.
    r.insert(range(301, 401));
    assert_eq!(blocks(&mut r, 4), [(201, 501), (601, 701)]);
    r.advance(range(1, 201));
    assert_eq!((r.rcv_nxt.0, blocks(&mut r, 4)), (501, vec![(601, 701)]));
    r.advance(range(501, 601));
    assert_eq!((r.rcv_nxt.0, blocks(&mut r, 4)), (701, vec![]));
}

#[test]
fn of_many_blocks_the_latest_four_are_reported() {
    let mut r = Reassembly::new(SeqNo(1));
    for i in 1..=6 {
        r.insert(range(i * 200, i * 200 + 100));
    }
    assert_eq!(blocks(&mut r, 4), [(1200, 1300), (1000, 1100), (800, 900), (600, 700)]);
}

#[test]
fn duplicates_are_reported_once() {
    // RFC 2883 §4.1.1: below the acknowledgment.
    let mut r = Reassembly::new(SeqNo(1001));
    r.insert(range(2001, 2501));
    r.on_duplicate(range(1, 501));
    assert_eq!(blocks(&mut r, 4), [(1, 501), (2001, 2501)]);
    assert_eq!(blocks(&mut r, 4), [(2001, 2501)]);
    // §4.1.2: above it, with the block around it.
    assert!(r.insert(range(2001, 2501)));
    assert_eq!(blocks(&mut r, 4), [(2001, 2501), (2001, 2501)]);
    // §4.2: in part.
    assert!(!r.insert(range(2401, 2601)));
    assert_eq!(blocks(&mut r, 4), [(2401, 2501), (2001, 2601)]);
    r.advance(range(901, 1101));
    assert_eq!(blocks(&mut r, 1), [(901, 1001)]);
}

#[test]
fn stretches_stay_sorted_and_apart_whatever_comes() {
    let mut rng = crate::rng::Rng::stream(3, "reassembly");
    let (mut r, mut seen) = (Reassembly::new(SeqNo(1)), vec![false; 500]);
    while r.rcv_nxt < SeqNo(400) {
        let start = 1 + rng.below(400);
        let end = start + 1 + rng.below(40);
        (start..end).for_each(|i| seen[i as usize] = true);
        match (end > r.rcv_nxt.0, start > r.rcv_nxt.0) {
            (true, true) => drop(r.insert(range(start, end))),
            (true, false) => drop(r.advance(range(start, end))),
            _ => r.on_duplicate(range(start, end)),
        }
        let expected = (1..).find(|i| !seen[*i as usize]);
        assert_eq!(Some(r.rcv_nxt.0), expected);
        let mut beyond = r.beyond.clone().unwrap_or_default();
        assert!(beyond.ranges.make_contiguous().windows(2).all(|pair| pair[0].end < pair[1].start));
        assert!(beyond.ranges.iter().all(|b| b.start > r.rcv_nxt && (b.start.0..b.end.0).all(|i| seen[i as usize])));
        let held = (r.rcv_nxt.0..500).filter(|i| seen[*i as usize]).count() as u64;
        assert_eq!(beyond.ranges.iter().map(|b| b.len().0).sum::<u64>(), held);
        assert!(beyond.reported.iter().all(|b| b.is_empty() || beyond.ranges.contains(b)));
    }
}
