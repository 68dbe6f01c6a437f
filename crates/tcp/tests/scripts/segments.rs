//! Segments in the vocabulary of tcpdump and packetdrill.

use tcp::units::Bytes;
use tcp::{Ecn, Flags, Segment, SeqNo};

use crate::options;
use crate::text::{Outcome, number};

const FLAGS: [(char, Flags); 8] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('A', Flags::AE),
    ('.', Flags::ACK),
];

const ECN: [(&str, Ecn); 4] =
    [("[noecn]", Ecn::NotEct), ("[ect0]", Ecn::Ect0), ("[ect1]", Ecn::Ect1), ("[ce]", Ecn::Ce)];

/// A segment as a line writes it.
pub(crate) struct Written {
    pub(crate) segment: Segment,
    /// The line writes the options, so these are all of them.
    options: bool,
    /// The line writes the ECN field of the packet.
    ecn: bool,
}

impl Written {
    /// What of `sent` a line like this one compares.
    pub(crate) fn compared(&self, sent: &Segment) -> Segment {
        let mut sent = *sent;
        if !self.options {
            (sent.syn, sent.timestamps, sent.ecn_bytes) = (None, None, None);
        }
        if !self.ecn {
            sent.ecn = Ecn::NotEct;
        }
        sent
    }
}

/// A line's segments before they are spelled out.
struct Pattern {
    /// What all have in common.
    common: Segment,
    seq: (u64, u64),
    ack: (u64, u64),
    copies: usize,
    /// One segment, whatever its size.
    one: bool,
    options: bool,
    ecn: bool,
}

impl Pattern {
    fn parse(words: &[&str], window: Bytes) -> Outcome<Pattern> {
        let field = words.first().and_then(|word| ECN.iter().find(|(name, _)| name == word));
        let words = if field.is_some() { &words[1..] } else { words };
        let [flags, range, ref rest @ ..] = *words else { return Err("a segment needs flags and a range".into()) };
        let mut common = Segment { window, ecn: field.map_or(Ecn::NotEct, |(_, ecn)| *ecn), ..Segment::default() };
        for name in flags.chars() {
            let (_, flag) = FLAGS.iter().find(|(known, _)| *known == name).ok_or(format!("unknown flag {name:?}"))?;
            common.flags = common.flags.with(*flag);
        }
        let ecn = field.is_some();
        let mut pattern =
            Pattern { common, seq: stretch(range)?, ack: (0, 0), copies: 1, one: false, options: false, ecn };
        pattern.read(rest)?;
        Ok(pattern)
    }

    /// Reads what follows the range.
    fn read(&mut self, words: &[&str]) -> Outcome {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().copied().ok_or(format!("{word:?} needs a value"));
            match *word {
                "ack" => {
                    let value = value()?;
                    let (from, to) = value.split_once("..").unwrap_or((value, value));
                    self.ack = (number(from)?, number(to)?);
                }
                "win" => self.common.window = Bytes(number(value()?)?),
                "one" => self.one = true,
                _ if word.starts_with('<') => {
                    let mut text = (*word).to_owned();
                    while !text.ends_with('>') {
                        text = format!("{text} {}", words.next().ok_or("\"<\" without \">\"")?);
                    }
                    options::read(&text[1..text.len() - 1], &mut self.common)?;
                    self.options = true;
                }
                _ => {
                    let times = word.strip_prefix('x').ok_or(format!("unknown word {word:?}"))?;
                    self.copies = number(times)?;
                }
            }
        }
        Ok(())
    }

    fn written(&self, seq: u64, ack: u64, mss: u64) -> Written {
        let len = mss.min(self.seq.1 - seq);
        // Of consecutive segments only the last carries the FIN.
        let ends = seq + len == self.seq.1;
        let here = FLAGS.iter().filter(|(name, flag)| self.common.flags.contains(*flag) && (ends || *name != 'F'));
        let flags = here.fold(Flags::default(), |all, (_, flag)| all.with(*flag));
        let segment = Segment { seq: SeqNo(seq), ack: SeqNo(ack), len: len as u32, flags, ..self.common };
        Written { segment, options: self.options, ecn: self.ecn }
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
pub(crate) fn segments(words: &[&str], mss: Bytes, window: Bytes) -> Outcome<Vec<Written>> {
    let pattern = Pattern::parse(words, window)?;
    let (first, last) = pattern.seq;
    let mss = if pattern.one { mss.max(Bytes(last - first)) } else { mss };
    let mut result = Vec::new();
    for seq in (first..last.max(first + 1)).step_by(mss.0 as usize) {
        for ack in (pattern.ack.0..=pattern.ack.1).step_by(mss.0 as usize) {
            result.extend((0..pattern.copies).map(|_| pattern.written(seq, ack, mss.0)));
        }
    }
    Ok(result)
}

/// A segment as a script would write it.
pub(crate) fn show(segment: &Segment) -> String {
    let Segment { seq, len, ack, flags, window, ecn, .. } = *segment;
    let flags: String = FLAGS.iter().filter(|(_, flag)| flags.contains(*flag)).map(|(name, _)| name).collect();
    let field = ECN.iter().find(|(_, field)| *field == ecn && ecn != Ecn::NotEct);
    let field = field.map_or(String::new(), |(name, _)| format!("{name} "));
    let end = seq + Bytes(u64::from(len));
    format!("{field}{flags} {seq}:{end}({len}) ack {ack} win {}{}", window.0, options::show(segment))
}
