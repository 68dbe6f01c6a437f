//! Quantities of space and radio, their text forms, and the list of all kinds of quantities.

use std::fmt;
use std::str::FromStr;

use tcp::text_quantity;
use tcp::units::{DURATION, Domain, ParseQuantityError, QuantityKind, RATE, SIZE, Unit};

/// A distance in metres.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Metres(pub f64);

/// A speed in metres per second.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Speed(pub f64);

/// A power in watts, above zero.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Power(pub f64);

/// A power that a device consumes, in watts; 0 W is possible.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Consumption(pub f64);

/// An energy in joules.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Energy(pub f64);

/// A frequency in hertz.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Frequency(pub f64);

/// Events per second, above zero.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct EventRate(pub f64);

const LENGTH: QuantityKind = QuantityKind {
    name: "length",
    noun: "a distance",
    example: "250m",
    units: &[Unit::new("km", 1e3), Unit::new("m", 1.0)],
    domain: Domain::Real,
    base_per_si: 1.0,
};

const SPEED: QuantityKind = QuantityKind {
    name: "speed",
    noun: "a speed",
    example: "5m/s",
    units: &[Unit::new("m/s", 1.0), Unit::new("km/h", 1.0 / 3.6)],
    domain: Domain::NonNegative,
    base_per_si: 1.0,
};

const POWER: QuantityKind = QuantityKind {
    name: "power",
    noun: "a power",
    example: "16dBm",
    units: &[Unit::new("W", 1.0), Unit::new("mW", 1e-3), Unit::decibel("dBm", 1e-3)],
    domain: Domain::Positive,
    base_per_si: 1.0,
};

const CONSUMPTION: QuantityKind = QuantityKind {
    name: "consumption",
    noun: "a power",
    example: "0.66W",
    units: &[Unit::new("W", 1.0), Unit::new("mW", 1e-3), Unit::new("uW", 1e-6)],
    domain: Domain::NonNegative,
    base_per_si: 1.0,
};

const CURRENT: QuantityKind = QuantityKind {
    name: "current",
    noun: "a current",
    example: "17.4mA",
    units: &[Unit::new("A", 1.0), Unit::new("mA", 1e-3), Unit::new("uA", 1e-6)],
    domain: Domain::NonNegative,
    base_per_si: 1.0,
};

const VOLTAGE: QuantityKind = QuantityKind {
    name: "voltage",
    noun: "a voltage",
    example: "3V",
    units: &[Unit::new("V", 1.0)],
    domain: Domain::NonNegative,
    base_per_si: 1.0,
};

const ENERGY: QuantityKind = QuantityKind {
    name: "energy",
    noun: "an energy",
    example: "10J",
    units: &[
        Unit::new("Wh", 3600.0),
        Unit::new("kJ", 1e3),
        Unit::new("mWh", 3.6),
        Unit::new("J", 1.0),
        Unit::new("mJ", 1e-3),
    ],
    domain: Domain::NonNegative,
    base_per_si: 1.0,
};

const FREQUENCY: QuantityKind = QuantityKind {
    name: "frequency",
    noun: "a frequency",
    example: "2412MHz",
    units: &[Unit::new("GHz", 1e9), Unit::new("MHz", 1e6)],
    domain: Domain::Positive,
    base_per_si: 1.0,
};

/// Numbers of packets.
pub(super) const PACKETS: QuantityKind = QuantityKind {
    name: "packets",
    noun: "a number of packets",
    example: "33p",
    units: &[Unit::new("p", 1.0)],
    domain: Domain::Counted,
    base_per_si: 1.0,
};

/// Packets per second.
pub(super) const PACKET_RATE: QuantityKind = QuantityKind {
    name: "packet_rate",
    noun: "a packet rate",
    example: "200pps",
    units: &[Unit::new("pps", 1.0)],
    domain: Domain::Positive,
    base_per_si: 1.0,
};

const EVENT_RATE: QuantityKind = QuantityKind {
    name: "event_rate",
    noun: "a number of events per second",
    example: "200/s",
    units: &[Unit::new("/s", 1.0)],
    domain: Domain::Positive,
    base_per_si: 1.0,
};

/// Multiples of the bandwidth-delay product.
pub(super) const BDP: QuantityKind = QuantityKind {
    name: "bdp",
    noun: "a multiple of the bandwidth-delay product",
    example: "1bdp",
    units: &[Unit::new("bdp", 1.0)],
    domain: Domain::Positive,
    base_per_si: 1.0,
};

/// All kinds of quantities that have a text form. No unit is in two of them, but for those of `consumption`, which come last.
pub const KINDS: [&QuantityKind; 15] = [
    &DURATION,
    &RATE,
    &SIZE,
    &PACKETS,
    &PACKET_RATE,
    &EVENT_RATE,
    &BDP,
    &LENGTH,
    &SPEED,
    &POWER,
    &ENERGY,
    &FREQUENCY,
    &CURRENT,
    &VOLTAGE,
    &CONSUMPTION,
];

/// A number with its unit, as written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Written {
    /// The number, in `unit`.
    pub number: f64,
    /// The unit.
    pub unit: &'static str,
    /// The kind of quantity that has this unit.
    pub kind: &'static str,
}

/// Number, unit and kind of a text such as `"20ms"`; `None` if it is not a number with a unit of some kind.
pub fn split_quantity(text: &str) -> Option<Written> {
    KINDS.iter().find_map(|kind| {
        let (number, unit) = kind.split(text).ok()?;
        number.is_finite().then_some(Written { number, unit: unit.name, kind: kind.name })
    })
}

/// Reads a text as a quantity of the kind with this name, in SI units.
///
/// # Errors
///
/// An unknown kind, or a text that is not a quantity of the kind; the message names the units.
pub fn parse_quantity(text: &str, kind: &str) -> Result<f64, ParseQuantityError> {
    if kind == CONSUMPTION.name {
        return text.parse().map(|Consumption(watts)| watts);
    }
    let Some(found) = KINDS.iter().find(|known| known.name == kind) else {
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        return Err(ParseQuantityError(format!("unknown kind {kind:?}; known: {}", known.join(", "))));
    };
    found.parse_si(text)
}

impl FromStr for Metres {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Metres, ParseQuantityError> {
        LENGTH.parse(text).map(Metres)
    }
}

impl FromStr for Speed {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Speed, ParseQuantityError> {
        SPEED.parse(text).map(Speed)
    }
}

impl FromStr for Power {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Power, ParseQuantityError> {
        POWER.parse(text).map(Power)
    }
}

impl FromStr for Consumption {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Consumption, ParseQuantityError> {
        // As data sheets have it: current times voltage.
        if let Some((current, voltage)) = text.split_once(" x ") {
            return Ok(Consumption(CURRENT.parse(current)? * VOLTAGE.parse(voltage)?));
        }
        let with_product = |error| ParseQuantityError(format!("{error}, or a product such as \"17.4mA x 3V\""));
        CONSUMPTION.parse(text).map(Consumption).map_err(with_product)
    }
}

impl FromStr for Energy {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Energy, ParseQuantityError> {
        ENERGY.parse(text).map(Energy)
    }
}

impl FromStr for Frequency {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Frequency, ParseQuantityError> {
        FREQUENCY.parse(text).map(Frequency)
    }
}

impl FromStr for EventRate {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<EventRate, ParseQuantityError> {
        EVENT_RATE.parse(text).map(EventRate)
    }
}

impl Power {
    /// P = 1 mW x 10^(level / 10).
    pub fn from_dbm(level: f64) -> Power {
        Power(1e-3 * libm::pow(10.0, level / 10.0))
    }

    /// In dBm.
    pub fn dbm(self) -> f64 {
        10.0 * libm::log10(self.0 / 1e-3)
    }
}

impl fmt::Display for Metres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}m", self.0)
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}m/s", self.0)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}W", self.0)
    }
}

impl fmt::Display for Consumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}W", self.0)
    }
}

impl fmt::Display for Energy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}J", self.0)
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}MHz", self.0 / 1e6)
    }
}

impl fmt::Display for EventRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

text_quantity! {
    Metres, "Metres", LENGTH.example, LENGTH.description();
    Speed, "Speed", SPEED.example, SPEED.description();
    Power, "Power", POWER.example, POWER.description();
    Consumption, "Consumption", CONSUMPTION.example,
        format!("{}, or a current times a voltage such as \"17.4mA x 3V\"", CONSUMPTION.description());
    Energy, "Energy", ENERGY.example, ENERGY.description();
    Frequency, "Frequency", FREQUENCY.example, FREQUENCY.description();
    EventRate, "EventRate", EVENT_RATE.example, EVENT_RATE.description();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!("1.5km".parse(), Ok(Metres(1500.0)));
        assert_eq!("18km/h".parse(), Ok(Speed(5.0)));
        assert_eq!("40mW".parse(), Ok(Power(0.04)));
        assert_eq!("16dBm".parse(), Ok(Power::from_dbm(16.0)));
        assert!(("16.0206dBm".parse::<Power>().unwrap().0 - 0.04).abs() < 1e-7);
        assert_eq!("914MHz".parse(), Ok(Frequency(914e6)));
        assert!(("0.38A x 3V".parse::<Consumption>().unwrap().0 - 1.14).abs() < 1e-12);
        assert_eq!("0W".parse(), Ok(Consumption(0.0)));
        assert_eq!("2Wh".parse(), Ok(Energy(7200.0)));
    }

    #[test]
    fn what_is_wrong_is_refused_with_the_units() {
        let wrong = |result: Result<(), ParseQuantityError>| result.unwrap_err().0;
        assert!(wrong("250".parse::<Metres>().map(drop)).contains("(units: km, m)"));
        assert!(wrong("-5m/s".parse::<Speed>().map(drop)).contains("below zero"));
        assert!(wrong("0W".parse::<Power>().map(drop)).contains("above zero"));
        assert!(wrong("17mA".parse::<Consumption>().map(drop)).contains("\"17.4mA x 3V\""));
        assert!(wrong("17mA x 3".parse::<Consumption>().map(drop)).contains("(units: V)"));
        assert!(wrong("-1J".parse::<Energy>().map(drop)).contains("below zero"));
        assert!("nanm".parse::<Metres>().is_err());
    }

    #[test]
    fn every_kind_reads_its_example_and_each_of_its_units() {
        for kind in KINDS {
            assert!(parse_quantity(kind.example, kind.name).is_ok(), "{}", kind.name);
            for unit in kind.units {
                let written = split_quantity(&format!("1{}", unit.name)).expect("a unit that is known");
                assert_eq!((written.number, written.unit), (1.0, unit.name));
                assert!(written.kind == kind.name || kind.name == CONSUMPTION.name, "{}", unit.name);
            }
        }
    }

    #[test]
    fn quantities_by_the_name_of_their_kind_are_in_si_units() {
        for (text, kind, value) in [
            ("20ms", "duration", 0.02),
            ("1min", "duration", 60.0),
            ("1KB", "size", 1000.0),
            ("18km/h", "speed", 5.0),
            ("33p", "packets", 33.0),
            ("2mA x 3V", "consumption", 0.006),
        ] {
            assert_eq!(parse_quantity(text, kind), Ok(value), "{text}");
        }
        assert!(parse_quantity("1s", "age").unwrap_err().0.contains("known: duration, rate"));
        assert_eq!(split_quantity("20"), None);
        assert_eq!(split_quantity("wifi"), None);
    }
}
