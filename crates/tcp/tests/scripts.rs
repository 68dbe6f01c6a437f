//! Runs the segment scripts under `scripts/<topic>/`: one endpoint, its application, and a peer made of text.
//!
//! The first line of a script is a comment that says what is proved and by which section. Then come settings
//! (`set mss 1000`; windows in segments, buffers in bytes, times in seconds) and timed lines. A time `+0.1` counts
//! from the line before it; timers that fall due on the way fire. `<` hands the endpoint a segment, `>` expects one at
//! this very time: flags, `first:last(payload)`, `ack`, `win` (injected: the peer's window from now on; expected:
//! compared if written). `ack 1001..4001` stands for one segment per MSS, `x3` for three alike, a payload above the
//! MSS for consecutive segments. Whatever was sent must have been expected before the script does anything else.

#[path = "scripts/text.rs"]
mod text;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use tcp::cc::Choice;
use tcp::config::Profile;
use tcp::units::{Bytes, Time};
use tcp::{Connection, Segment, TcpConfig};
use text::{Outcome, number, seconds, show};

struct Run {
    config: TcpConfig,
    connection: Option<Connection>,
    now: Time,
    /// Sent and not yet expected.
    sent: VecDeque<(Time, Segment)>,
    peer_window: Bytes,
}

impl Run {
    /// Runs a script; an error begins with the number of its line.
    fn script(script: &str) -> Outcome {
        let cc = Choice::new("newreno", None, &[]).map_err(|error| error.message)?;
        let config = TcpConfig::of_profile(Profile::Rfc, cc);
        let (now, sent, peer_window) = (Time::ZERO, VecDeque::new(), Bytes(65_535));
        let mut run = Run { config, connection: None, now, sent, peer_window };
        if !script.lines().next().is_some_and(|line| line.starts_with("# ") && line.contains('§')) {
            return Err("1: the first line must be a comment that names a section (§)".into());
        }
        let mut last = 0;
        for (index, line) in script.lines().enumerate() {
            run.line(line).map_err(|error| format!("{}: {error}", index + 1))?;
            last = index + 1;
        }
        run.nothing_left().map_err(|error| format!("{last}: {error}"))
    }

    fn line(&mut self, line: &str) -> Outcome {
        let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        let (at, verb, rest) = match words[..] {
            [] => return Ok(()),
            ["set", key, ref rest @ ..] if self.connection.is_none() => return text::set(&mut self.config, key, rest),
            [at, verb, ref rest @ ..] => (at, verb, rest),
            _ => return Err(format!("{line:?} is not a step")),
        };
        let to = self.now + seconds(at.strip_prefix('+').ok_or(format!("{at:?} is not a time such as +0.1"))?)?;
        if verb != ">" {
            self.nothing_left()?;
        }
        self.advance(to)?;
        if verb == ">" {
            return self.expect(rest);
        }
        self.nothing_left()?;
        match (verb, rest) {
            ("connect", []) => self.connection = Some(Connection::connect(self.config.clone())),
            ("listen", []) => self.connection = Some(Connection::listen(self.config.clone())),
            ("close", []) => self.connection()?.close(),
            ("<", _) => self.inject(rest)?,
            ("write", [bytes]) => self.write(number(bytes)?, number(bytes)?)?,
            ("write", [bytes, "takes", taken]) => self.write(number(bytes)?, number(taken)?)?,
            ("event", _) => self.event(rest)?,
            ("assert", _) => rest.chunks(2).try_for_each(|pair| self.assert(pair[0], pair.get(1).unwrap_or(&"")))?,
            _ => return Err(format!("{line:?} is not a step")),
        }
        self.drain()
    }

    fn connection(&mut self) -> Outcome<&mut Connection> {
        self.connection.as_mut().ok_or("no connection yet".into())
    }

    fn drain(&mut self) -> Outcome {
        let now = self.now;
        while let Some(segment) = self.connection()?.poll_segment(now) {
            // The options of a SYN are not part of the vocabulary.
            self.sent.push_back((now, Segment { syn: None, ..segment }));
        }
        Ok(())
    }

    fn nothing_left(&self) -> Outcome {
        let left = self.sent.front();
        left.map_or(Ok(()), |(at, segment)| Err(format!("expected nothing, got {at} {}", show(segment))))
    }

    /// Lets time pass; timers on the way fire.
    fn advance(&mut self, to: Time) -> Outcome {
        while let Some(at) = self.connection.as_ref().and_then(Connection::next_timeout).filter(|at| *at <= to) {
            self.now = at;
            self.connection()?.on_timeout(at);
            self.drain()?;
            if self.connection()?.next_timeout().is_some_and(|next| next <= at) {
                return Err(format!("the timer due at {at} does not go away"));
            }
        }
        self.now = to;
        Ok(())
    }

    fn inject(&mut self, words: &[&str]) -> Outcome {
        let now = self.now;
        for segment in text::segments(words, self.config.mss, self.peer_window)? {
            self.peer_window = segment.window;
            self.connection()?.on_segment(now, &segment);
            self.drain()?;
        }
        Ok(())
    }

    fn expect(&mut self, words: &[&str]) -> Outcome {
        let any = self.sent.front().map_or(Bytes::ZERO, |(_, segment)| segment.window);
        for wanted in text::segments(words, self.config.mss, any)? {
            let got = self.sent.pop_front();
            if got != Some((self.now, wanted)) {
                let got = got.map_or("nothing".into(), |(at, segment)| format!("{at} {}", show(&segment)));
                return Err(format!("expected {} {}, got {got}", self.now, show(&wanted)));
            }
        }
        Ok(())
    }

    fn write(&mut self, bytes: u64, wanted: u64) -> Outcome {
        let taken = self.connection()?.write(bytes);
        if taken == wanted { Ok(()) } else { Err(format!("expected {wanted} bytes taken, got {taken}")) }
    }

    /// `event delivered 1000`, `event peer_closed`, `event none`: the next thing the application is told.
    fn event(&mut self, words: &[&str]) -> Outcome {
        let got = self.connection()?.poll_event().map_or("none".into(), |event| format!("{event:?}").to_lowercase());
        let wanted = words.join(" ").replace('_', "");
        let alike = got.replace('(', " ").replace(')', "") == wanted;
        if alike { Ok(()) } else { Err(format!("expected event {wanted}, got {got}")) }
    }

    fn assert(&mut self, key: &str, wanted: &str) -> Outcome {
        let mss = self.config.mss;
        let (got, wanted) = (text::quantity(self.connection()?, key, mss)?, text::normal(wanted, mss));
        if got == wanted { Ok(()) } else { Err(format!("expected {key} {wanted}, got {got}")) }
    }
}

/// Every `.seg` file below `folder`, in order.
fn scripts(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(scripts(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "seg") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[test]
fn every_script_holds() -> std::io::Result<()> {
    let scripts = scripts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts"))?;
    assert!(!scripts.is_empty(), "no scripts found");
    let mut failures = Vec::new();
    for path in &scripts {
        if let Err(error) = Run::script(&std::fs::read_to_string(path)?) {
            failures.push(format!("{}:{error}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{} of {} scripts fail\n{}", failures.len(), scripts.len(), failures.join("\n"));
    Ok(())
}

/// What each wrong last line of an otherwise right script is told.
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
    ("+0 > . 1:1001(1000) ack 1\n+0 close\n+0 > F. 1001:1001(0) ack 1\n+0 write 5", "expected 5 bytes taken, got 0"),
    ("+0 > . 1:1001(999) ack 1", "1:1001(999) does not add up"),
    ("+0 > . 1:1001(1000) ack", "\"ack\" needs a value"),
    ("+0 > . 1:1001(1000) sack 1", "unknown word \"sack\""),
    ("set mss 1", "\"set\" is not a time"),
];

#[test]
fn wrong_scripts_are_refused_with_their_line() {
    let right = "# §\nset mss 1000\nset recv_buffer 5000\n+0 connect\n+0 > S 0:0(0)\n+0.1 < S. 0:0(0) ack 1 win 9000\n\
                 +0 > . 1:1(0) ack 1\n+0 write 1000\n";
    assert_eq!(Run::script(&format!("{right}+0 > . 1:1001(1000) ack 1")), Ok(()));
    for (end, wanted) in WRONG {
        let script = format!("{right}{end}");
        let error = Run::script(&script).expect_err(end);
        let line = format!("{}: ", script.lines().count());
        assert!(error.starts_with(&line) && error.contains(wanted), "{end}\n{error}");
    }
    for (script, wanted) in [("+0 connect", "1: the first line"), ("# §\nset msss 1", "2: unknown setting \"msss\"")] {
        assert!(Run::script(script).expect_err(script).starts_with(wanted), "{script}");
    }
}
