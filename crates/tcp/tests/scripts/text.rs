//! The text of a script: settings, and segments in the vocabulary of tcpdump and packetdrill.

use std::str::FromStr;

use tcp::cc::{Choice, Value};
use tcp::config::{Profile, RecoveryKind, initial_window};
use tcp::units::{Bytes, Span};
use tcp::{Connection, Flags, Segment, TcpConfig};

pub(crate) type Outcome<T = ()> = Result<T, String>;

const FLAGS: [(char, Flags); 4] = [('S', Flags::SYN), ('F', Flags::FIN), ('R', Flags::RST), ('.', Flags::ACK)];

pub(crate) fn number<T: FromStr>(word: &str) -> Outcome<T> {
    word.parse().map_err(|_| format!("{word:?} is not a number of the right kind"))
}

pub(crate) fn seconds(word: &str) -> Outcome<Span> {
    number(word).map(Span::from_secs_f64)
}

/// `10` is ten segments, `65535B` that many bytes.
pub(crate) fn window(word: &str, mss: Bytes) -> Outcome<Bytes> {
    word.strip_suffix('B').map_or_else(|| Ok(mss * number(word)?), |bytes| number(bytes).map(Bytes))
}

/// Applies `set key words`.
pub(crate) fn set(config: &mut TcpConfig, key: &str, words: &[&str]) -> Outcome {
    let word = *words.first().ok_or("a value is missing")?;
    let mss = config.mss;
    match key {
        "mss" => {
            config.mss = Bytes(number(word)?);
            config.initial_window = initial_window(Profile::Rfc, config.mss);
        }
        "initial_window" => config.initial_window = window(word, mss)?,
        "initial_ssthresh" => config.initial_ssthresh = window(word, mss)?,
        "recv_buffer" => config.recv_buffer = Bytes(number(word)?),
        "send_buffer" => config.send_buffer = Bytes(number(word)?),
        "delayed_ack" => config.delayed_ack.segments = number(word)?,
        "rto_min" => config.rto.min = seconds(word)?,
        "time_wait" => config.time_wait = seconds(word)?,
        "syn_retries" => config.syn_retries = number(word)?,
        "limited_transmit" => config.limited_transmit = number(word)?,
        "cwnd_validation" => config.cwnd_validation = number(word)?,
        "idle_restart" => config.idle_restart = number(word)?,
        "cc" => {
            config.cc = choice(word, &words[1..])?;
            config.recovery = config.cc.recovery().unwrap_or(RecoveryKind::NewReno);
        }
        _ => return Err(format!("unknown setting {key:?}")),
    }
    Ok(())
}

fn choice(name: &str, parameters: &[&str]) -> Outcome<Choice> {
    let value = |text: &str| text.parse().map(Value::Number).or_else(|_| number(text).map(Value::Flag));
    let pair = |word: &&str| {
        let (key, text) = word.split_once('=').ok_or(format!("{word:?} is not key=value"))?;
        Ok((key.to_owned(), value(text)?))
    };
    let overrides = parameters.iter().map(pair).collect::<Outcome<Vec<_>>>()?;
    Choice::new(name, None, &overrides).map_err(|error| error.message)
}

/// A line's segments before they are spelled out.
struct Pattern {
    flags: Flags,
    seq: (u64, u64),
    ack: (u64, u64),
    window: Bytes,
    copies: usize,
}

impl Pattern {
    fn parse(words: &[&str], window: Bytes) -> Outcome<Pattern> {
        let [flags, range, ref options @ ..] = *words else { return Err("a segment needs flags and a range".into()) };
        let mut pattern = Pattern { flags: Flags::default(), seq: stretch(range)?, ack: (0, 0), window, copies: 1 };
        for name in flags.chars() {
            let (_, flag) = FLAGS.iter().find(|(known, _)| *known == name).ok_or(format!("unknown flag {name:?}"))?;
            pattern.flags = pattern.flags.with(*flag);
        }
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let mut value = || options.next().copied().ok_or(format!("{option:?} needs a value"));
            match (*option, option.strip_prefix('x')) {
                ("ack", _) => {
                    let value = value()?;
                    let (from, to) = value.split_once("..").unwrap_or((value, value));
                    pattern.ack = (number(from)?, number(to)?);
                }
                ("win", _) => pattern.window = Bytes(number(value()?)?),
                (_, Some(times)) => pattern.copies = number(times)?,
                _ => return Err(format!("unknown word {option:?}")),
            }
        }
        Ok(pattern)
    }

    fn segment(&self, seq: u64, ack: u64, mss: u64) -> Segment {
        let len = mss.min(self.seq.1 - seq);
        // Of consecutive segments only the last carries the FIN.
        let ends = seq + len == self.seq.1;
        let here = FLAGS.iter().filter(|(name, flag)| self.flags.contains(*flag) && (ends || *name != 'F'));
        let flags = here.fold(Flags::default(), |all, (_, flag)| all.with(*flag));
        Segment { seq, ack, len: len as u32, flags, window: self.window, ..Segment::default() }
    }
}

/// Reads `1:1001(1000)`.
fn stretch(range: &str) -> Outcome<(u64, u64)> {
    let parts = range.split_once(':').and_then(|(first, rest)| Some((first, rest.strip_suffix(')')?.split_once('(')?)));
    let (first, (last, payload)) = parts.ok_or(format!("{range:?} does not look like 1:1001(1000)"))?;
    let (first, last) = (number::<u64>(first)?, number::<u64>(last)?);
    let adds_up = last.checked_sub(first) == Some(number(payload)?);
    if adds_up { Ok((first, last)) } else { Err(format!("{range} does not add up")) }
}

/// The segments that a line stands for; `window` is theirs unless the line gives one.
pub(crate) fn segments(words: &[&str], mss: Bytes, window: Bytes) -> Outcome<Vec<Segment>> {
    let pattern = Pattern::parse(words, window)?;
    let (first, last) = pattern.seq;
    let mut result = Vec::new();
    for seq in (first..last.max(first + 1)).step_by(mss.0 as usize) {
        for ack in (pattern.ack.0..=pattern.ack.1).step_by(mss.0 as usize) {
            result.extend(std::iter::repeat_n(pattern.segment(seq, ack, mss.0), pattern.copies));
        }
    }
    Ok(result)
}

/// A segment as a script would write it.
pub(crate) fn show(segment: &Segment) -> String {
    let Segment { seq, len, ack, flags, window, .. } = *segment;
    let flags: String = FLAGS.iter().filter(|(_, flag)| flags.contains(*flag)).map(|(name, _)| name).collect();
    format!("{flags} {seq}:{}({len}) ack {ack} win {}", seq + u64::from(len), window.0)
}

fn in_segments(size: Bytes, mss: Bytes) -> f64 {
    if size == Bytes::MAX { f64::INFINITY } else { size.as_f64() / mss.as_f64() }
}

/// What `assert key` compares: windows in segments, times in seconds, names in lower case.
pub(crate) fn quantity(connection: &Connection, key: &str, mss: Bytes) -> Outcome<String> {
    let totals = connection.totals();
    let snapshot = || connection.snapshot().ok_or(format!("no {key} before the handshake is done"));
    let segments = |size: Bytes| in_segments(size, mss).to_string();
    Ok(match key {
        "phase" => format!("{:?}", connection.phase()).to_lowercase(),
        "state" => format!("{:?}", snapshot()?.state).to_lowercase(),
        "cwnd" => segments(snapshot()?.window.cwnd),
        "ssthresh" => segments(snapshot()?.window.ssthresh),
        "window" => segments(snapshot()?.send_window),
        "flight" => segments(snapshot()?.flight),
        "pipe" => segments(snapshot()?.pipe),
        "rto" => snapshot()?.rto.as_secs_f64().to_string(),
        "srtt" => snapshot()?.srtt.map_or("none".into(), |srtt| srtt.as_secs_f64().to_string()),
        "timeouts" => totals.timeouts.to_string(),
        "recoveries" => totals.recoveries.to_string(),
        "retransmitted" => totals.retransmitted_segments.to_string(),
        _ => return Err(format!("unknown quantity {key:?}")),
    })
}

/// A wanted quantity in the form of [`quantity`].
pub(crate) fn normal(wanted: &str, mss: Bytes) -> String {
    let bytes = || wanted.strip_suffix('B').and_then(|n| n.parse().ok()).map(|n| in_segments(Bytes(n), mss));
    wanted.parse().ok().or_else(bytes).map_or(wanted.replace('_', ""), |number: f64| number.to_string())
}
