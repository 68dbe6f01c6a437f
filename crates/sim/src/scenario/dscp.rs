//! Differentiated services code points: the class of service that a packet asks for (RFC 2474).

use std::fmt;
use std::str::FromStr;

use tcp::text_quantity;

use super::near::did_you_mean;

/// A code point, 0 to 63.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Dscp(u8);

/// The names: RFC 2474 (DF, CS), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VA), RFC 8622 (LE); TOS4 is the bit of RFC 1349 for minimum delay.
const NAMES: [(&str, u8); 25] = [
    ("DF", 0),
    ("LE", 1),
    ("TOS4", 4),
    ("CS0", 0),
    ("CS1", 8),
    ("CS2", 16),
    ("CS3", 24),
    ("CS4", 32),
    ("CS5", 40),
    ("CS6", 48),
    ("CS7", 56),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("VA", 44),
    ("EF", 46),
];

impl Dscp {
    /// Lower effort: below everything else (RFC 8622).
    pub const LE: Dscp = Dscp(1);
    /// Minimum delay (RFC 1349).
    pub const TOS4: Dscp = Dscp(4);
    /// Class selector 1 (RFC 2474).
    pub const CS1: Dscp = Dscp(8);
    /// Class selector 4.
    pub const CS4: Dscp = Dscp(32);
    /// Class selector 5.
    pub const CS5: Dscp = Dscp(40);
    /// Voice-admit (RFC 5865).
    pub const VA: Dscp = Dscp(44);
    /// Expedited forwarding (RFC 3246).
    pub const EF: Dscp = Dscp(46);
    /// Class selector 6.
    pub const CS6: Dscp = Dscp(48);
    /// Class selector 7.
    pub const CS7: Dscp = Dscp(56);

    /// Class selectors 2 and 3, assured forwarding 2 to 4 (RFC 2597), minimum delay: what CAKE takes for video.
    pub fn is_video(self) -> bool {
        matches!(self.0, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38)
    }

    /// That of a header.
    pub(crate) fn of(value: u8) -> Dscp {
        Dscp(value & 63)
    }

    /// The number in the header.
    pub fn value(self) -> u8 {
        self.0
    }
}

impl FromStr for Dscp {
    type Err = String;
    fn from_str(text: &str) -> Result<Dscp, String> {
        let named = NAMES.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        let value = named.or_else(|| text.parse().ok().filter(|value| *value < 64));
        value.map(Dscp).ok_or_else(|| {
            let near = did_you_mean(text, NAMES.iter().map(|(name, _)| *name));
            let near = near.map_or(String::new(), |near| format!("; {near}"));
            format!(
                "{text:?} is not a DSCP: a name such as \"EF\", \"CS1\", \"AF41\" or \"LE\", or \"0\" to \"63\"{near}"
            )
        })
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, value)| *value == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

text_quantity! {
    Dscp, "Dscp", "EF", "a differentiated services code point: a name such as \"EF\", \"CS1\", \"AF41\" or \"LE\", or \"0\" to \"63\"";
}

/// The ECN-capable packets that a threshold marks; without a selector all (tc-fq_codel(8), `ce_threshold_selector`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CeSelector {
    /// Those with ECT(1) (`0x1/0x3` of tc).
    Ect1,
    /// Those with a code point.
    Dscp(Dscp),
}

impl FromStr for CeSelector {
    type Err = String;
    fn from_str(text: &str) -> Result<CeSelector, String> {
        match text {
            "ect1" => Ok(CeSelector::Ect1),
            _ => text.parse().map(CeSelector::Dscp).map_err(|why: String| format!("{why}; or \"ect1\"")),
        }
    }
}

impl fmt::Display for CeSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CeSelector::Ect1 => f.write_str("ect1"),
            CeSelector::Dscp(dscp) => dscp.fmt(f),
        }
    }
}

text_quantity! {
    CeSelector, "CeSelector", "ect1", "\"ect1\", or a differentiated services code point such as \"EF\" or \"46\"";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_read_and_printed_back() {
        for (text, value) in [("EF", 46), ("AF41", 34), ("CS1", 8), ("LE", 1), ("DF", 0), ("VA", 44), ("5", 5)] {
            let dscp: Dscp = text.parse().unwrap();
            assert_eq!((dscp.value(), dscp.to_string()), (value, text.to_owned()));
        }
        assert_eq!("46".parse::<Dscp>().unwrap().to_string(), "EF");
    }

    #[test]
    fn anything_else_is_refused_with_what_is_meant() {
        for (text, hint) in [("64", "\"0\" to \"63\""), ("EG", "did you mean EF"), ("", "\"CS1\""), ("-1", "63")] {
            assert!(text.parse::<Dscp>().unwrap_err().contains(hint), "{text}");
        }
    }
}
