//! Wrong scripts are refused with the number of the line and what is wrong with it.

use crate::Run;

/// The error message for each wrong last line of an otherwise correct script.
const WRONG: &[(&str, &str)] = &[
    ("+0 > . 1:2001(2000) ack 1", "expected 0.100000000 . 1001:2001(1000) ack 1 win 5000, got nothing"),
    ("+0 > . 1:501(500) ack 1", "expected 0.100000000 . 1:501(500) ack 1 win 5000, got 0.100000000 . 1:1001(1000)"),
    ("+0 > . 2:1002(1000) ack 1", "got 0.100000000 . 1:1001(1000) ack 1"),
    ("+0 > . 1:1001(1000) ack 2", "got 0.100000000 . 1:1001(1000) ack 1"),
    ("+0 > F. 1:1001(1000) ack 1", "got 0.100000000 . 1:1001(1000) ack 1"),
    ("+0 > . 1:1001(1000) ack 1 win 6000", "got 0.100000000 . 1:1001(1000) ack 1 win 5000"),
    ("+0.1 > . 1:1001(1000) ack 1", "expected 0.200000000 . 1:1001(1000) ack 1 win 5000, got 0.100000000"),
    ("+0 assert cwnd 10", "expected nothing, got 0.100000000 . 1:1001(1000) ack 1"),
    ("", "expected nothing, got 0.100000000 . 1:1001(1000) ack 1"),
    ("+0 > . 1:1001(1000) ack 1\n+1.5 write 1", "expected nothing, got 1.100000000 . 1:1001(1000) ack 1"),
    ("+0 > . 1:1001(1000) ack 1\n+0.9 > . 1:1001(1000) ack 1", "got nothing"),
    ("+0 > . 1:1001(1000) ack 1\n+0 assert cwnd 10 ssthresh 5", "expected ssthresh 5, got inf"),
    ("+0 > . 1:1001(1000) ack 1\n+0 assert state loss", "expected state loss, got open"),
    ("+0 > . 1:1001(1000) ack 1\n+0 assert phase fin_wait_1", "expected phase finwait1, got established"),
    ("+0 > . 1:1001(1000) ack 1\n+0 assert colour 1", "unknown quantity \"colour\""),
    ("+0 > . 1:1001(1000) ack 1\n+0 event closed", "expected event closed, got connected"),
    (
        "+0 > . 1:1001(1000) ack 1\n+0 shutdown_write\n+0 > F. 1001:1001(0) ack 1\n+0 write 5",
        "expected 5 bytes taken, got 0",
    ),
    ("+0 > . 1:1001(999) ack 1", "1:1001(999) does not add up"),
    ("+0 > . 1:1001(1000) ack", "\"ack\" needs a value"),
    ("+0 > . 1:1001(1000) sack 1", "unknown word \"sack\""),
    ("+0 > . 1:1001(1000) ack 1 <>", "got 0.100000000 . 1:1001(1000) ack 1 win 5000 <TS val 100 ecr 7>"),
    (
        "+0 > . 1:1001(1000) ack 1 <TS val 9 ecr 7>",
        "expected 0.100000000 . 1:1001(1000) ack 1 win 5000 <TS val 9 ecr 7>",
    ),
    ("+0 > . 1:1001(1000) ack 1 <sack 5:6>", "<sack 5:6>, got 0.100000000 . 1:1001(1000) ack 1"),
    ("+0 > [ect0] . 1:1001(1000) ack 1", "expected 0.100000000 [ect0] . 1:1001(1000) ack 1 win 5000, got"),
    ("+0 > [ect2] . 1:1001(1000) ack 1", "unknown flag '['"),
    ("+0 > X. 1:1001(1000) ack 1", "unknown flag 'X'"),
    ("+0 > . 1:1001(1000) ack 1 <mss 5>", "\"mss 5\" belongs to a SYN"),
    ("+0 > . 1:1001(1000) ack 1 <nop>", "unknown option \"nop\""),
    ("+0 > . 1:1001(1000) ack 1 <sack 5>", "\"5\" does not look like 1:1001"),
    ("+0 > . 1:1001(1000) ack 1 <sack 1:2 3:4 5:6 7:8 9:10>", "no room for so many blocks"),
    ("+0 > . 1:1001(1000) ack 1 <TS val 1", "\"<\" without \">\""),
    ("+0 > . 1:1001(1000) ack 1\n+0 assert timer tlp", "expected timer tlp, got rto"),
    ("+0 > . 1:1001(1000) ack 1\n+0 read 5", "expected 5 bytes taken, got 0"),
    ("set mss 1", "\"set\" is not a time"),
];

#[test]
fn wrong_scripts_are_refused_with_their_line() {
    let right = "# §\nset mss 1000\nset recv_buffer 5000\nset timestamps true\n+0 connect\n+0 > S 0:0(0)\n+0.1 < S. 0:0(0) ack 1 win 9000 <mss 1012,TS val 7 ecr 0>\n\
                 +0 > . 1:1(0) ack 1\n+0 write 1000\n";
    assert_eq!(Run::script(&format!("{right}+0 > . 1:1001(1000) ack 1")), Ok(()));
    for (end, wanted) in WRONG {
        let script = format!("{right}{end}");
        let error = Run::script(&script).expect_err(end);
        let line = format!("{}: ", script.lines().count());
        assert!(error.starts_with(&line) && error.contains(wanted), "{end}\n{error}");
    }
    for (script, wanted) in [
        ("+0 connect", "1: the first line"),
        ("# §\nset msss 1", "2: unknown setting \"msss\""),
        ("# §\nset ecn loud", "2: unknown variant `loud`"),
        ("# §\nset profile linux", "2: the name of an algorithm is missing"),
        ("# §\nset nagle 1", "2: \"1\" is not a number of the right kind"),
    ] {
        assert!(Run::script(script).expect_err(script).starts_with(wanted), "{script}");
    }
}
