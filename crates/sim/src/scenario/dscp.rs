//! Differentiated services code points, by their names.

use std::fmt;
use std::str::FromStr;

use tcp::text_quantity;

/// A DSCP (RFC 2474): six bits of the IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dscp(u8);

/// Those that have names (RFC 2474, 2597, 3246, 5865, 8622); TOS4 is the bit of RFC 1349 that asked for minimum delay.
const NAMES: [(&str, u8); 24] = [
    ("CS0", 0),
    ("LE", 1),
    ("TOS4", 4),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VA", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];

impl Dscp {
    /// Lower effort (RFC 8622).
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
}

impl FromStr for Dscp {
    type Err = String;
    fn from_str(text: &str) -> Result<Dscp, String> {
        let found = NAMES.iter().find(|(name, _)| *name == text);
        let known = || NAMES.map(|(name, _)| name).join(", ");
        found.map(|(_, bits)| Dscp(*bits)).ok_or_else(|| format!("{text:?} is not a DSCP; known: {}", known()))
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = NAMES.iter().find(|(_, bits)| *bits == self.0);
        f.write_str(named.expect("every DSCP was read from its name").0)
    }
}

text_quantity! {
    Dscp, "Dscp", "EF", "the name of a DSCP such as \"EF\", \"AF41\", \"CS1\" or \"LE\"";
}
