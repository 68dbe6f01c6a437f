//! Text forms of times, rates and sizes.

use std::fmt;
use std::str::FromStr;

use super::grammar::{Domain, ParseQuantityError, QuantityKind, Unit};
use super::{Bytes, NANOS_PER_SECOND, Rate, Span, Time};

/// Durations, in nanoseconds.
pub const DURATION: QuantityKind = QuantityKind {
    name: "duration",
    noun: "a time",
    example: "20ms",
    units: &[
        Unit::read_only("h", 3600e9),
        Unit::read_only("min", 60e9),
        Unit::new("s", 1e9),
        Unit::new("ms", 1e6),
        Unit::new("us", 1e3),
        Unit::new("ns", 1.0),
    ],
    domain: Domain::Rounded,
    base_per_si: 1e9,
};

/// Rates, in bits per second; never zero, since no transmission would ever end.
pub const RATE: QuantityKind = QuantityKind {
    name: "rate",
    noun: "a rate",
    example: "10Mbps",
    units: &[Unit::new("Gbps", 1e9), Unit::new("Mbps", 1e6), Unit::new("kbps", 1e3), Unit::new("bps", 1.0)],
    domain: Domain::RoundedPositive,
    base_per_si: 1.0,
};

/// Numbers of bytes. Only decimal units are printed: a byte count reads as what is on the wire.
pub const SIZE: QuantityKind = QuantityKind {
    name: "size",
    noun: "a size",
    example: "1460B",
    units: &[
        Unit::read_only("TB", 1e12),
        Unit::read_only("GiB", 1_073_741_824.0),
        Unit::read_only("MiB", 1_048_576.0),
        Unit::read_only("KiB", 1024.0),
        Unit::new("GB", 1e9),
        Unit::new("MB", 1e6),
        Unit::new("kB", 1e3),
        Unit::read_only("KB", 1e3),
        Unit::new("B", 1.0),
    ],
    domain: Domain::Rounded,
    base_per_si: 1.0,
};

crate::text_quantity! {
    Span, "Time", DURATION.example, DURATION.description();
    Rate, "Rate", RATE.example, RATE.description();
    Bytes, "Size", SIZE.example, SIZE.description();
}

impl FromStr for Span {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Span, ParseQuantityError> {
        DURATION.parse_whole(text).map(Span)
    }
}

impl FromStr for Rate {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Rate, ParseQuantityError> {
        RATE.parse_whole(text).map(Rate)
    }
}

impl FromStr for Bytes {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Bytes, ParseQuantityError> {
        SIZE.parse_whole(text).map(Bytes)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}", self.0 / NANOS_PER_SECOND, self.0 % NANOS_PER_SECOND)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0s"),
            nanos => DURATION.format(nanos, f),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SIZE.format(self.0, f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        RATE.format(self.0, f)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}s")
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
