//! A file part by part: which form it has, and where it ends too early.

use crate::frame::{Each, Wrong, grouped};
use crate::pcap::Pcap;
use crate::pcapng::Pcapng;

/// The longest head of a file, which tells its form.
const HEAD: usize = 24;
/// Captures of other programs, by their first bytes.
const OTHERS: [(&[u8], &str); 4] = [
    (b"snoop\0\0\0", "snoop"),
    (b"GMBU", "Microsoft Network Monitor"),
    (b"RTSS", "Microsoft Network Monitor"),
    (b"XCP\0", "NetXRay"),
];

#[derive(Debug)]
enum Form {
    Unknown,
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// A file that comes part by part.
#[derive(Debug)]
pub(crate) struct File {
    form: Form,
    /// The last part, with what was not whole at the end of the one before.
    data: Vec<u8>,
    /// How much of it was gone over.
    used: usize,
    /// Bytes of the file before it.
    passed: u64,
}

impl File {
    pub(crate) fn new() -> File {
        File { form: Form::Unknown, data: Vec::new(), used: 0, passed: 0 }
    }

    /// Goes over the frames that are whole with this part.
    pub(crate) fn feed<'a>(&'a mut self, part: &[u8], each: &mut Each<'_, 'a>) -> Result<(), Wrong> {
        self.passed += self.used as u64;
        self.data.drain(..self.used);
        self.data.extend_from_slice(part);
        self.used = 0;
        if matches!(self.form, Form::Unknown) && self.data.len() >= HEAD {
            self.form = form(&self.data)?;
        }
        self.used = match &mut self.form {
            Form::Unknown => 0,
            Form::Pcap(pcap) => pcap.walk(&self.data, self.passed, each)?,
            Form::Pcapng(pcapng) => pcapng.walk(&self.data, self.passed, each)?,
        };
        Ok(())
    }

    /// Says where the file ended too early, after its last part.
    pub(crate) fn end(&self) -> Result<Option<String>, Wrong> {
        let (left, passed) = (grouped((self.data.len() - self.used) as u64), self.passed + self.used as u64);
        let unknown = if let Form::Unknown = self.form { Some(form(&self.data)?) } else { None };
        let what = match unknown.as_ref().unwrap_or(&self.form) {
            Form::Pcapng(_) if passed == 0 => {
                return Err(Wrong::at(0, &format!("a block of more than the {left} bytes that are left")));
            }
            Form::Pcapng(_) => "block",
            _ => "packet",
        };
        let text = format!("cut short in the last {what}, at byte {}: what is before is read", grouped(passed));
        Ok((left != "0").then_some(text))
    }
}

/// The form of a file that begins like this.
fn form(head: &[u8]) -> Result<Form, Wrong> {
    if let Some(pcap) = Pcap::of(head)? {
        return Ok(Form::Pcap(pcap));
    }
    if Pcapng::begins(head) {
        return Ok(Form::Pcapng(Pcapng::new()));
    }
    let other = OTHERS.iter().find(|(magic, _)| head.starts_with(magic));
    let said = match other {
        Some((_, name)) => format!("is a capture of {name}, which is not read"),
        None => "is no capture: it begins like neither pcap nor pcapng".to_owned(),
    };
    Err(Wrong { text: said, hint: Some("a file of tcpdump, Wireshark (editcap -F pcap) or --pcap") })
}
