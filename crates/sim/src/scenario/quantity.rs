//! Quantities of space and radio, and their text forms.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::{from_text, text_schema};

/// A distance in metres.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Metres(pub f64);

/// A speed in metres per second.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Speed(pub f64);

/// A power in watts.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Power(pub f64);

/// A power that something consumes, in watts; 0 W is possible.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Draw(pub f64);

/// An energy in joules.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Energy(pub f64);

/// A frequency in hertz.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Frequency(pub f64);

/// Reads a number with one of these units; the factor turns it into the base unit.
fn scaled(text: &str, what: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let known = || units.iter().map(|(unit, _)| format!("\"1{unit}\"")).collect::<Vec<_>>().join(", ");
    let read = units.iter().find_map(|(unit, factor)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * factor).filter(|value| value.is_finite())
    });
    read.ok_or_else(|| format!("{text:?} is not {what}; write a number with its unit: {}", known()))
}

impl FromStr for Metres {
    type Err = String;
    fn from_str(text: &str) -> Result<Metres, String> {
        scaled(text, "a distance", &[("km", 1e3), ("m", 1.0)]).map(Metres)
    }
}

impl FromStr for Speed {
    type Err = String;
    fn from_str(text: &str) -> Result<Speed, String> {
        let speed = scaled(text, "a speed", &[("km/h", 1.0 / 3.6), ("m/s", 1.0)])?;
        if speed < 0.0 { Err(format!("{text:?} is below 0; a speed has no direction")) } else { Ok(Speed(speed)) }
    }
}

impl FromStr for Power {
    type Err = String;
    fn from_str(text: &str) -> Result<Power, String> {
        if let Some(level) = text.strip_suffix("dBm").and_then(|number| number.trim().parse::<f64>().ok()) {
            return Ok(Power::from_dbm(level));
        }
        let watts = scaled(text, "a power", &[("mW", 1e-3), ("W", 1.0), ("dBm", f64::NAN)])?;
        if watts > 0.0 { Ok(Power(watts)) } else { Err(format!("{text:?} is not a power above 0")) }
    }
}

impl FromStr for Draw {
    type Err = String;
    fn from_str(text: &str) -> Result<Draw, String> {
        // As data sheets have it: current times voltage.
        let product = text.split_once(" x ").and_then(|(current, voltage)| {
            let amperes = scaled(current, "a current", &[("uA", 1e-6), ("mA", 1e-3), ("A", 1.0)]).ok()?;
            Some(amperes * scaled(voltage, "a voltage", &[("V", 1.0)]).ok()?)
        });
        let units = [("uW", 1e-6), ("mW", 1e-3), ("W", 1.0), ("mA x 3V", f64::NAN)];
        let watts = product.map_or_else(|| scaled(text, "a power", &units), Ok)?;
        if watts >= 0.0 { Ok(Draw(watts)) } else { Err(format!("{text:?} is below 0W")) }
    }
}

impl FromStr for Energy {
    type Err = String;
    fn from_str(text: &str) -> Result<Energy, String> {
        let units = [("mJ", 1e-3), ("kJ", 1e3), ("J", 1.0), ("mWh", 3.6), ("Wh", 3600.0)];
        let joules = scaled(text, "an energy", &units)?;
        if joules >= 0.0 { Ok(Energy(joules)) } else { Err(format!("{text:?} is below 0J")) }
    }
}

impl FromStr for Frequency {
    type Err = String;
    fn from_str(text: &str) -> Result<Frequency, String> {
        let hertz = scaled(text, "a frequency", &[("GHz", 1e9), ("MHz", 1e6)])?;
        if hertz > 0.0 { Ok(Frequency(hertz)) } else { Err(format!("{text:?} is not a frequency above 0")) }
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

impl fmt::Display for Draw {
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

/// Text in files, with an example for whoever got it wrong.
macro_rules! written_as_text {
    ($($name:ident $example:literal $description:literal;)*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<$name, D::Error> {
                from_text(d, $example)
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                text_schema($description, $example)
            }
        }
    )*};
}

written_as_text! {
    Metres "250m" "a distance such as \"250m\" or \"1.5km\"";
    Speed "5m/s" "a speed such as \"5m/s\" or \"18km/h\"";
    Power "16dBm" "a power such as \"16dBm\", \"40mW\" or \"0.28W\"";
    Draw "0.66W" "a power such as \"0.66W\", \"395mW\" or \"17.4mA x 3V\"";
    Energy "10J" "an energy such as \"10J\", \"500mJ\" or \"2Wh\"";
    Frequency "2412MHz" "a frequency such as \"914MHz\" or \"5.15GHz\"";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!("1.5km".parse(), Ok(Metres(1500.0)));
        assert_eq!("18km/h".parse(), Ok(Speed(5.0)));
        assert_eq!("40mW".parse(), Ok(Power(0.04)));
        assert!(("16.0206dBm".parse::<Power>().unwrap().0 - 0.04).abs() < 1e-7);
        assert_eq!("914MHz".parse(), Ok(Frequency(914e6)));
        assert!(("0.38A x 3V".parse::<Draw>().unwrap().0 - 1.14).abs() < 1e-12);
        assert_eq!("0W".parse(), Ok(Draw(0.0)));
        assert_eq!("2Wh".parse(), Ok(Energy(7200.0)));
    }

    #[test]
    fn what_is_wrong_is_refused_with_the_units() {
        assert!("250".parse::<Metres>().unwrap_err().contains("\"1km\", \"1m\""));
        assert!("-5m/s".parse::<Speed>().unwrap_err().contains("below 0"));
        assert!("0W".parse::<Power>().unwrap_err().contains("above 0"));
        assert!("17mA".parse::<Draw>().unwrap_err().contains("\"1mA x 3V\""));
        assert!("-1J".parse::<Energy>().unwrap_err().contains("below 0J"));
        assert!("nanm".parse::<Metres>().is_err());
    }
}
