//! Runs the segment scripts under `scripts/<topic>/`: one endpoint, its application, and a peer made of text.
//!
//! `scripts/README.md` has the vocabulary. In short: settings, then timed lines; `<` hands the endpoint a segment, `>`
//! expects one at this very time. An expected line compares the ECN field of the packet if it writes one, and the options
//! if it writes any; if it does not, the segment must report nothing by SACK and its other options are left alone.
//! Whatever was sent must have been expected before the script does anything else.

#[path = "scripts/options.rs"]
mod options;
#[path = "scripts/quantities.rs"]
mod quantities;
#[path = "scripts/segments.rs"]
mod segments;
#[path = "scripts/settings.rs"]
mod settings;
#[path = "scripts/text.rs"]
mod text;
#[path = "scripts/wrong.rs"]
mod wrong;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use segments::show;
use settings::Settings;
use tcp::units::{Bytes, Time};
use tcp::{Connection, Segment};
use text::{Outcome, number, seconds};

struct Run {
    settings: Settings,
    connection: Option<Connection>,
    now: Time,
    /// Sent and not yet expected.
    sent: VecDeque<(Time, Segment)>,
    peer_window: Bytes,
}

impl Run {
    /// Runs a script; an error begins with the number of its line.
    fn script(script: &str) -> Outcome {
        let (now, sent, peer_window) = (Time::ZERO, VecDeque::new(), Bytes(65_535));
        let mut run = Run { settings: Settings::new()?, connection: None, now, sent, peer_window };
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
            ["set", key, ref rest @ ..] if self.connection.is_none() => return self.settings.set(key, rest),
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
            ("connect", []) => self.connection = Some(Connection::connect(self.settings.config.clone())),
            ("listen", []) => self.connection = Some(Connection::listen(self.settings.config.clone())),
            ("shutdown_write", []) => self.connection()?.shutdown_write(),
            ("shutdown_read", []) => self.connection()?.shutdown_read(),
            ("close" | "abort", []) => {
                let now = self.now;
                let connection = self.connection()?;
                if verb == "close" { connection.close(now) } else { connection.abort(now) }
            }
            ("abandon_unsent", []) => self.connection()?.abandon_unsent(),
            ("change", [key, value]) => self.change(key, value)?,
            ("<", _) => self.inject(rest)?,
            ("write_more", [bytes]) => {
                let bytes = number::<u64>(bytes)?;
                self.connection()?.write_more(bytes);
            }
            ("write" | "read", [bytes]) => self.transfer(verb, bytes, bytes)?,
            ("write" | "read", [bytes, "takes", taken]) => self.transfer(verb, bytes, taken)?,
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
            self.sent.push_back((now, segment));
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

    fn mss(&self) -> Bytes {
        self.settings.config.mss
    }

    fn inject(&mut self, words: &[&str]) -> Outcome {
        let now = self.now;
        for written in segments::segments(words, self.mss(), self.peer_window)? {
            self.peer_window = written.segment.window;
            self.connection()?.on_segment(now, &written.segment);
            self.drain()?;
        }
        Ok(())
    }

    fn expect(&mut self, words: &[&str]) -> Outcome {
        let any = self.sent.front().map_or(Bytes::ZERO, |(_, segment)| segment.window);
        for wanted in segments::segments(words, self.mss(), any)? {
            let got = self.sent.pop_front();
            if got.map(|(at, segment)| (at, wanted.compared(&segment))) != Some((self.now, wanted.segment)) {
                let got = got.map_or("nothing".into(), |(at, segment)| format!("{at} {}", show(&segment)));
                return Err(format!("expected {} {}, got {got}", self.now, show(&wanted.segment)));
            }
        }
        Ok(())
    }

    /// `write` or `read`, as far as it goes.
    fn transfer(&mut self, verb: &str, bytes: &str, wanted: &str) -> Outcome {
        let (now, bytes, wanted) = (self.now, number::<u64>(bytes)?, number::<u64>(wanted)?);
        let connection = self.connection()?;
        let taken = if verb == "write" { connection.write(bytes) } else { connection.read(now, bytes) };
        if taken == wanted { Ok(()) } else { Err(format!("expected {wanted} bytes taken, got {taken}")) }
    }

    /// `change cork true`: the application changes a socket option.
    fn change(&mut self, key: &str, value: &str) -> Outcome {
        let now = self.now;
        let connection = self.connection()?;
        match key {
            "nagle" => connection.set_nagle(number(value)?),
            "cork" => connection.set_cork(number(value)?),
            "send_buffer" => connection.set_send_buffer(Bytes(number(value)?)),
            "recv_buffer" => connection.set_recv_buffer(Bytes(number(value)?)),
            "user_timeout" => connection.set_user_timeout(now, seconds(value)?),
            _ => return Err(format!("{key:?} cannot be changed")),
        }
        Ok(())
    }

    /// `event delivered 1000`, `event peer_closed`, `event none`: the next event for the application.
    fn event(&mut self, words: &[&str]) -> Outcome {
        let got = self.connection()?.poll_event().map_or("none".into(), |event| format!("{event:?}").to_lowercase());
        let wanted = words.join(" ").replace('_', "");
        let alike = got.replace('(', " ").replace(')', "") == wanted;
        if alike { Ok(()) } else { Err(format!("expected event {wanted}, got {got}")) }
    }

    fn assert(&mut self, key: &str, wanted: &str) -> Outcome {
        let (mss, now) = (self.mss(), self.now);
        let (got, wanted) = (quantities::quantity(self.connection()?, key, mss, now)?, quantities::normal(wanted, mss));
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
