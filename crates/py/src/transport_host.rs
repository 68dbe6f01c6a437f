//! What a transport in a shared library may call (`struct tonopah_host` of `include/tonopah_transport.h`).
//!
//! Unsafe here is to follow the pointers that a library passes: the interface's promise is that they are what it was given.

use std::ffi::c_char;
use std::fs::File;
use std::io::{LineWriter, Write};
use std::path::PathBuf;
use std::slice;
use std::sync::Mutex;

use pyo3::prelude::*;
use tcp::rng::Rng;

/// `TONOPAH_LOG_TEXT`
const LOG_TEXT: u32 = 2;
/// What the name of a log ends in: `TONOPAH_LOG_KEYS`, `…_QLOG`, `…_TEXT`.
const ENDINGS: [&str; 3] = ["keys", "sqlog", "txt"];

/// Where ends that are made in this process log to, and what: bits `1 << TONOPAH_LOG_…`.
static WANTED: Mutex<Option<(PathBuf, u32)>> = Mutex::new(None);

/// Lets transports that are made in this process from now on write these logs, `keys`, `sqlog` or `txt`, into a folder.
#[pyfunction]
pub(crate) fn log_transports(folder: PathBuf, kinds: Vec<String>) {
    let bits =
        (0..ENDINGS.len()).filter(|kind| kinds.iter().any(|named| named == ENDINGS[*kind])).map(|kind| 1 << kind);
    *WANTED.lock().expect("nothing panics with it") = Some((folder, bits.sum()));
}

/// What a library may call, for one end.
pub(crate) struct Host {
    pub(crate) rng: Rng,
    /// The last line of its text log.
    pub(crate) last_line: String,
    /// Bits of the logs that are wanted, and where; the name of a file there begins so.
    pub(crate) wanted: u32,
    folder: PathBuf,
    label: String,
    /// A log that has begun; a line is there when it has ended.
    logs: [Option<LineWriter<File>>; 3],
    /// Why a log could not be written.
    pub(crate) failure: Option<String>,
}

impl Host {
    pub(crate) fn new(seed: u64, label: &str) -> Host {
        let (folder, wanted) = WANTED.lock().expect("nothing panics with it").clone().unwrap_or_default();
        let rng = Rng::stream(seed, "transport");
        let logs = [const { None }; 3];
        Host { rng, last_line: String::new(), wanted, folder, label: label.to_owned(), logs, failure: None }
    }

    /// Adds to a log that is wanted.
    fn write(&mut self, kind: usize, text: &[u8]) -> std::io::Result<()> {
        if self.logs[kind].is_none() {
            let file = File::create(self.folder.join(format!("{}.{}", self.label, ENDINGS[kind])))?;
            // Secrets of the connection.
            #[cfg(unix)]
            if kind == 0 {
                file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
            }
            self.logs[kind] = Some(LineWriter::new(file));
        }
        self.logs[kind].as_mut().expect("it has begun").write_all(text)
    }
}

/// Fills bytes from the seed of the end.
pub(crate) unsafe extern "C" fn random(host: *mut Host, bytes: *mut u8, length: u64) {
    // SAFETY: `host` is what `create` was given, which lives as long as its end; `bytes` has this length.
    let (host, bytes) = unsafe { (&mut *host, slice::from_raw_parts_mut(bytes, length as usize)) };
    for chunk in bytes.chunks_mut(8) {
        let drawn = host.rng.next_u64().to_le_bytes();
        chunk.copy_from_slice(&drawn[..chunk.len()]);
    }
}

/// Writes a log, and takes note of the last line of text.
pub(crate) unsafe extern "C" fn log(host: *mut Host, kind: u32, text: *const c_char, length: u64) {
    // SAFETY: as for `random`.
    let (host, text) = unsafe { (&mut *host, slice::from_raw_parts(text.cast::<u8>(), length as usize)) };
    let place = kind as usize;
    if place < ENDINGS.len()
        && host.wanted & (1 << kind) != 0
        && let Err(error) = host.write(place, text)
    {
        host.failure = Some(format!("its log {}.{} cannot be written: {error}", host.label, ENDINGS[place]));
    }
    if kind == LOG_TEXT
        && let Some(line) = String::from_utf8_lossy(text).lines().rfind(|line| !line.trim().is_empty())
    {
        host.last_line = line.chars().filter(|c| !c.is_control()).take(500).collect();
    }
}
