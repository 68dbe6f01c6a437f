use super::*;
use crate::told::LossTrigger;
use crate::units::Span;

const NONE: &[(u64, u64)] = &[];

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

/// Segments of 100 bytes from number 1 on, sent a nanosecond apart.
fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for i in 0..segments {
        board.push(at(i), Chunk { seq: SeqNo(1 + 100 * i), len: 100, fin: false }, TxState::default());
    }
    board
}

fn advance(board: &mut Scoreboard, ack: u64) -> AckSummary {
    let mut summary = AckSummary::default();
    let prior = PriorAckState { recover: SeqNo::default(), highest_sacked: board.highest_sacked() };
    board.advance(SeqNo(ack), prior, &mut summary, |_| {});
    summary
}

fn sack(board: &mut Scoreboard, blocks: &[(u64, u64)]) -> AckSummary {
    let mut summary = AckSummary::default();
    let prior = PriorAckState { recover: SeqNo::default(), highest_sacked: board.highest_sacked() };
    let blocks: Vec<_> = blocks.iter().map(|(start, end)| SeqRange::new(SeqNo(*start), SeqNo(*end))).collect();
    board.sack(&blocks, prior, &mut summary, |_| {});
    summary
}

/// Something sent at `sent_at` that ends at `end` was delivered.
fn rack(now: Time, sent_at: Time, end: u64, timeout: Span) -> RackTimeout {
    RackTimeout { now, newest: SendOrder { sent_at, end: SeqNo(end) }, timeout }
}

#[test]
fn a_segment_takes_one_cache_line() {
    assert_eq!((size_of::<SentSegment>(), align_of::<SentSegment>()), (64, 64));
}

#[test]
fn pipe_counts_what_is_believed_in_the_network() {
    let mut board = board(10);
    board.mark_head_lost(LossTrigger::ReorderingThreshold);
    assert_eq!((board.flight(), board.pipe()), (Bytes(1000), Bytes(900)));
    let chunk = board.next_lost().unwrap();
    assert_eq!(chunk.seq, SeqNo(1));
    assert!(board.resent(at(50), TxState::default()));
    assert_eq!((board.pipe(), board.next_lost()), (Bytes(1000), None));
    board.mark_all_lost(LossTrigger::PtoExpired);
    assert_eq!(board.pipe(), Bytes::ZERO);
    assert_eq!(board.next_lost().unwrap().seq, SeqNo(1));
}

#[test]
fn lost_segments_are_offered_in_order_once() {
    let mut board = board(3);
    board.mark_all_lost(LossTrigger::PtoExpired);
    for seq in [1, 101, 201] {
        assert_eq!(board.next_lost().unwrap().seq, SeqNo(seq));
        board.resent(Time::ZERO, TxState::default());
    }
    assert_eq!(board.next_lost(), None);
}

#[test]
fn karn_what_was_sent_twice_shows_no_time() {
    let mut board = board(3);
    board.mark_head_lost(LossTrigger::ReorderingThreshold);
    board.next_lost();
    board.resent(at(10), TxState::default());
    assert!(advance(&mut board, 201).retransmission_acked);
    let rest = advance(&mut board, 301);
    let rtt = rest.acked_sent.unwrap().rtt(at(20));
    assert_eq!((rtt.oldest, rtt.latest), (Span::from_nanos(18), Span::from_nanos(18)));
    assert!(board.is_empty() && board.pipe() == Bytes::ZERO);
}

#[test]
fn what_a_time_out_marked_lost_and_had_arrived_is_not_in_flight_again() {
    let mut board = board(10);
    board.mark_all_lost(LossTrigger::PtoExpired);
    board.next_lost();
    board.resent(Time::ZERO, TxState::default());
    let summary = advance(&mut board, 1001);
    assert_eq!(
        (summary.acked, summary.acked_in_flight, summary.acked_in_flight_segments),
        (Bytes(1000), Bytes(100), 1)
    );
    assert_eq!(summary.delivered, Bytes(1000));
}

#[test]
fn an_ack_inside_a_segment_trims_it() {
    let mut board = board(2);
    assert_eq!(advance(&mut board, 51).acked, Bytes(50));
    board.mark_head_lost(LossTrigger::ReorderingThreshold);
    let chunk = board.next_lost().unwrap();
    assert_eq!((chunk.seq, chunk.len), (SeqNo(51), 50));
}

#[test]
fn what_is_reported_counts_once_whatever_the_blocks() {
    let mut board = board(10);
    for (blocks, fresh) in [
        (&[(201, 301)][..], 1),
        (&[(201, 401)], 1),
        (&[(601, 701), (201, 401)], 1),
        (&[(101, 401), (601, 701)], 1),
        (&[(101, 901)], 4),
        (&[(101, 901)], 0),
        (&[(50, 950)], 0),
    ] {
        let summary = sack(&mut board, blocks);
        assert_eq!(summary.delivered_segments, fresh, "{blocks:?}");
    }
    assert_eq!((board.sacked(), board.pipe(), board.highest_sacked()), (Bytes(800), Bytes(200), SeqNo(901)));
    assert_eq!(advance(&mut board, 1001).delivered, Bytes(200));
    assert_eq!(board.sacked(), Bytes::ZERO);
}

#[test]
fn a_block_that_ends_inside_a_segment_reports_it_when_it_grows() {
    let mut board = board(10);
    assert_eq!(sack(&mut board, &[(101, 250)]).delivered_segments, 1);
    assert_eq!(sack(&mut board, &[(101, 301)]).delivered_segments, 1);
    assert_eq!(sack(&mut board, &[(450, 701)]).delivered_segments, 2);
    assert_eq!(sack(&mut board, &[(401, 701)]).delivered_segments, 1);
}

#[test]
fn a_report_below_the_highest_one_is_reordering() {
    let mut board = board(10);
    assert_eq!(sack(&mut board, &[(501, 601)]).reordered_from, None);
    assert_eq!(sack(&mut board, &[(301, 401), (501, 601)]).reordered_from, Some(SeqNo(301)));
    board.mark_head_lost(LossTrigger::ReorderingThreshold);
    board.next_lost();
    board.resent(at(20), TxState::default());
    assert_eq!(advance(&mut board, 101).reordered_from, None, "a repaired hole is not reordering");
    assert_eq!(advance(&mut board, 201).reordered_from, Some(SeqNo(101)), "a hole that filled by itself is");
}

#[test]
fn rfc_6675_vector_three_segments_above_mean_loss() {
    // RFC 6675 §5: 20 in flight, the first lost.
    let mut board = board(20);
    for (end, lost) in [(201, 0), (301, 0), (401, 100)] {
        sack(&mut board, &[(101, end)]);
        board.mark_lost_by_sack(3, Bytes(100));
        assert_eq!(board.lost(), Bytes(lost));
    }
    assert_eq!(board.next_lost().unwrap().seq, SeqNo(1));
    board.resent(at(30), TxState::default());
    assert_eq!(board.pipe(), Bytes(1700));
}

#[test]
fn rfc_6675_three_separate_stretches_mean_loss_however_small() {
    let mut board = Scoreboard::default();
    for i in 0..8 {
        board.push(at(i), Chunk { seq: SeqNo(1 + 10 * i), len: 10, fin: false }, TxState::default());
    }
    sack(&mut board, &[(11, 21), (31, 41)]);
    board.mark_lost_by_sack(3, Bytes(100));
    assert_eq!(board.lost(), Bytes::ZERO);
    sack(&mut board, &[(51, 61), (11, 21), (31, 41)]);
    board.mark_lost_by_sack(3, Bytes(100));
    assert_eq!(board.lost(), Bytes(10), "only the first has three stretches above");
}

#[test]
fn rack_marks_what_was_sent_before_the_newest_and_is_old_enough() {
    let mut board = board(5);
    sack(&mut board, &[(301, 401)]);
    let found = board.mark_lost_by_time(&rack(at(101), at(3), 401, Span::from_nanos(100)));
    assert_eq!((board.lost(), found.wait), (Bytes(200), Some(Span::from_nanos(1))));
    let found = board.mark_lost_by_time(&rack(at(102), at(3), 401, Span::from_nanos(100)));
    assert_eq!((board.lost(), found.wait, found.retransmission), (Bytes(300), None, None));
    assert_eq!(board.pipe(), Bytes(100), "what was sent after the newest is not judged");
}

#[test]
fn rack_finds_lost_retransmissions_in_the_order_they_were_sent() {
    let mut board = board(5);
    sack(&mut board, &[(201, 501)]);
    board.mark_lost_by_time(&rack(at(10), at(4), 501, Span::ZERO));
    for sent_at in [10, 11] {
        board.next_lost().unwrap();
        board.resent(at(sent_at), TxState::default());
    }
    // The second repair arrives: the first, sent before it, is lost again.
    sack(&mut board, &[(101, 501)]);
    let found = board.mark_lost_by_time(&rack(at(20), at(11), 201, Span::ZERO));
    assert!(found.retransmission.is_some());
    assert_eq!(board.next_lost().unwrap().seq, SeqNo(1));
    assert_eq!(board.lost_total(), Bytes(300));
}

#[test]
fn an_undone_episode_leaves_what_was_sent_again_in_the_network() {
    let mut board = board(4);
    board.mark_lost_by_time_out(at(10), None);
    board.next_lost();
    board.resent(at(10), TxState::default());
    board.unmark_lost();
    assert_eq!((board.lost(), board.retransmitted(), board.pipe()), (Bytes::ZERO, Bytes(100), Bytes(500)));
    assert_eq!(board.next_lost(), None);
    sack(&mut board, NONE);
}

#[test]
fn a_time_out_spares_what_was_sent_just_now() {
    let mut board = board(4);
    board.mark_lost_by_time_out(at(10), Some(Span::from_nanos(9)));
    assert_eq!(board.lost(), Bytes(200), "sent at 0 and 1; the oldest in any case");
}

#[test]
fn holes_and_the_highest_segment_are_the_last_resort() {
    let mut board = board(6);
    sack(&mut board, &[(201, 301)]);
    assert_eq!(board.resend_hole(at(9), TxState::default()).map(|c| c.seq), Some(SeqNo(1)));
    assert_eq!(board.resend_hole(at(9), TxState::default()).map(|c| c.seq), Some(SeqNo(101)));
    assert_eq!(board.resend_hole(at(9), TxState::default()), None);
    assert_eq!(board.resend_highest(at(9), TxState::default()).map(|c| c.seq), Some(SeqNo(501)));
}
