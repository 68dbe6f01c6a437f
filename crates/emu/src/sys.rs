//! File descriptors that the caller hands over by number.

#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Takes over an open file descriptor, which nobody else closes.
pub fn take(fd: RawFd) -> OwnedFd {
    // SAFETY: the caller opened it for this and does not close it; a number that is not open makes system calls fail, no more.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Takes over an open file.
pub fn take_file(fd: RawFd) -> File {
    File::from(take(fd))
}
