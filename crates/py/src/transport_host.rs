//! What a transport in a shared library may call (`struct tonopah_host` of `include/tonopah_transport.h`).
//!
//! Unsafe here is to follow the pointers that a library passes: the interface's promise is that they are what it was given.

use std::ffi::c_char;
use std::slice;

use tcp::rng::Rng;

/// `TONOPAH_LOG_TEXT`
const LOG_TEXT: u32 = 2;

/// What a library may call, for one end.
pub(crate) struct Host {
    pub(crate) rng: Rng,
    /// The last line of its text log.
    pub(crate) last_line: String,
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

/// Takes note of a line.
pub(crate) unsafe extern "C" fn log(host: *mut Host, kind: u32, text: *const c_char, length: u64) {
    // SAFETY: as for `random`.
    let (host, text) = unsafe { (&mut *host, slice::from_raw_parts(text.cast::<u8>(), length as usize)) };
    if kind == LOG_TEXT
        && let Some(line) = String::from_utf8_lossy(text).lines().rfind(|line| !line.trim().is_empty())
    {
        host.last_line = line.chars().filter(|c| !c.is_control()).take(500).collect();
    }
}
