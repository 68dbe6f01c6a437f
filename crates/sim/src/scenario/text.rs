//! Values with more than one kind of unit, and their text forms.

use std::fmt;
use std::str::FromStr;

use tcp::text_quantity;
use tcp::units::{Bytes, DURATION, ParseQuantityError, Rate, Span};

use super::quantity::{BDP, PACKET_RATE, PACKETS};

/// An amount of data: packets (`"33p"`), bytes (`"64kB"`) or `"unlimited"`; of a queue also a multiple of the bandwidth-delay
/// product (`"1bdp"`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// A number of packets (of segments, for a window).
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
    /// A multiple of the bandwidth-delay product.
    Bdp {
        /// The multiple times 10⁶.
        millionths: u64,
    },
    /// Any.
    Unlimited,
}

/// A rate of an application: packets (`"200pps"`) or bits (`"1Mbps"`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PacketRate {
    /// Packets per second.
    Packets(f64),
    /// Payload bits per second.
    Bits(Rate),
}

/// How often a series is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Every {
    /// At this distance.
    Span(Span),
    /// At each change.
    Change,
}

/// How much later than its `start` a flow starts, at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartJitter {
    /// This time.
    Span(Span),
    /// The base RTT of the flow.
    BaseRtt,
}

impl FromStr for Amount {
    type Err = String;
    fn from_str(text: &str) -> Result<Amount, String> {
        if text == "unlimited" {
            return Ok(Amount::Unlimited);
        }
        if text.trim_end().to_lowercase().ends_with("bdp") {
            return match BDP.parse(text) {
                Ok(times) if (1e-6..=1e6).contains(&times) => {
                    Ok(Amount::Bdp { millionths: libm::round(times * 1e6) as u64 })
                }
                Ok(_) => Err(format!("{text:?} is not from 0.000001bdp to 1000000bdp")),
                Err(error) => Err(error.to_string()),
            };
        }
        if text.trim_end().ends_with('p') {
            return PACKETS.parse_whole(text).map(Amount::Packets).map_err(|e| e.to_string());
        }
        text.parse()
            .map(Amount::Bytes)
            .map_err(|e| format!("{e}, packets such as \"33p\", for a queue \"1bdp\", or \"unlimited\""))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Packets(n) => write!(f, "{n}p"),
            Amount::Bytes(bytes) => write!(f, "{bytes}"),
            Amount::Bdp { millionths } => write!(f, "{}bdp", *millionths as f64 / 1e6),
            Amount::Unlimited => f.write_str("unlimited"),
        }
    }
}

impl FromStr for PacketRate {
    type Err = String;
    fn from_str(text: &str) -> Result<PacketRate, String> {
        if !text.trim_end().ends_with("pps") {
            let with_packets = |e: ParseQuantityError| format!("{e}, or packets per second such as \"200pps\"");
            return text.parse().map(PacketRate::Bits).map_err(with_packets);
        }
        match PACKET_RATE.parse(text) {
            Ok(rate) if rate <= 1e9 => Ok(PacketRate::Packets(rate)),
            Ok(_) => Err(format!("{text:?} is not a packet rate: the largest is 1e9pps")),
            Err(e) => Err(e.to_string()),
        }
    }
}

impl fmt::Display for PacketRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketRate::Packets(rate) => write!(f, "{rate}pps"),
            PacketRate::Bits(rate) => write!(f, "{rate}"),
        }
    }
}

impl FromStr for Every {
    type Err = String;
    fn from_str(text: &str) -> Result<Every, String> {
        if text == "change" {
            return Ok(Every::Change);
        }
        match text.parse::<Span>() {
            Ok(span) if span > Span::ZERO => Ok(Every::Span(span)),
            Ok(_) => Err("a sampling distance must be above zero".into()),
            Err(e) => Err(format!("{e}, or \"change\"")),
        }
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Every::Span(span) => write!(f, "{span}"),
            Every::Change => f.write_str("change"),
        }
    }
}

impl FromStr for StartJitter {
    type Err = String;
    fn from_str(text: &str) -> Result<StartJitter, String> {
        if text == "rtt" {
            return Ok(StartJitter::BaseRtt);
        }
        text.parse().map(StartJitter::Span).map_err(|e: ParseQuantityError| format!("{e}, or \"rtt\", the base RTT"))
    }
}

impl fmt::Display for StartJitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartJitter::Span(span) => write!(f, "{span}"),
            StartJitter::BaseRtt => f.write_str("rtt"),
        }
    }
}

text_quantity! {
    Amount, "Amount", PACKETS.example, "packets such as \"33p\", a size such as \"64kB\", of a queue a multiple of the BDP such as \"1bdp\", or \"unlimited\"";
    PacketRate, "PacketRate", PACKET_RATE.example,
        "packets per second such as \"200pps\", or payload bits such as \"1Mbps\"";
    Every, "Every", DURATION.example, "a time such as \"10ms\", or \"change\"";
    StartJitter, "StartJitter", DURATION.example, "a time such as \"10ms\", or \"rtt\", the base RTT of the flow";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_printed_back() {
        for text in ["33p", "64kB", "unlimited", "1bdp", "0.25bdp"] {
            assert_eq!(text.parse::<Amount>().unwrap().to_string(), text);
        }
        for text in ["200pps", "2.5pps", "1Mbps"] {
            assert_eq!(text.parse::<PacketRate>().unwrap().to_string(), text);
        }
        for text in ["10ms", "change"] {
            assert_eq!(text.parse::<Every>().unwrap().to_string(), text);
        }
        for text in ["0s", "10ms", "rtt"] {
            assert_eq!(text.parse::<StartJitter>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn wrong_texts_are_refused() {
        assert!("-3p".parse::<Amount>().unwrap_err().contains("33p"));
        assert!("1BDP".parse::<Amount>().unwrap_err().contains("1bdp"));
        assert!("0bdp".parse::<Amount>().unwrap_err().contains("above zero"));
        assert!("many".parse::<Amount>().unwrap_err().contains("unlimited"));
        assert!("0pps".parse::<PacketRate>().unwrap_err().contains("above zero"));
        assert!("0ms".parse::<Every>().unwrap_err().contains("above zero"));
        assert!("1rtt".parse::<StartJitter>().unwrap_err().contains("\"rtt\""));
    }
}
