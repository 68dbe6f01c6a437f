//! What the readers of both forms have in common: a frame, numbers in the byte order of a file, and what is wrong with one.

/// Largest packet that is believed.
pub(crate) const MAX_PACKET: usize = 1 << 24;

/// What is wrong with a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wrong {
    /// The sentence, with the byte.
    pub text: String,
    /// What would be right.
    pub hint: Option<&'static str>,
}

impl Wrong {
    /// What is wrong at a byte of the file.
    pub(crate) fn at(byte: u64, text: &str) -> Wrong {
        Wrong { text: format!("at byte {}: {text}", grouped(byte)), hint: None }
    }
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let groups = digits.as_bytes()[first..].chunks(3);
    let texts = groups.map(|group| String::from_utf8_lossy(group).into_owned());
    let head = (first > 0).then(|| digits[..first].to_owned());
    head.into_iter().chain(texts).collect::<Vec<_>>().join(",")
}

/// A frame of a file.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970.
    pub t_ns: i64,
    /// LINKTYPE of its interface.
    pub link: u16,
    /// Bytes that it had before the capture cut it.
    pub size: u32,
    /// Those that were captured.
    pub bytes: &'a [u8],
}

/// Numbers of a file in its byte order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) big: bool,
}

impl Order {
    /// 16 bits at a place that is there.
    pub(crate) fn u16(self, data: &[u8], at: usize) -> u16 {
        let bytes = [data[at], data[at + 1]];
        if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// 32 bits at a place that is there.
    pub(crate) fn u32(self, data: &[u8], at: usize) -> u32 {
        let bytes = [data[at], data[at + 1], data[at + 2], data[at + 3]];
        if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }
}

/// What a form's reader calls: with a frame, or, without one, for a packet that has no time.
pub(crate) type Each<'e, 'a> = dyn FnMut(Option<Frame<'a>>) + 'e;
