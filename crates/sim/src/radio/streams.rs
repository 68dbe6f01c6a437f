//! The random streams of a station.

/// A random stream of a station's radio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RandomStream {
    Backoff,
    FrameError,
}

impl RandomStream {
    /// The last part of the stream's name, which seeds it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RandomStream::Backoff => "backoff",
            RandomStream::FrameError => "frame_error",
        }
    }
}
