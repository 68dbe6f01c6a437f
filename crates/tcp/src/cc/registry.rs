//! The list of algorithms, the only file that names them all. Command line, documentation and the tests over all
//! algorithms follow from it.

use super::algorithm::Algorithm;
use super::config::{CcConfig, CcConfigError};
use super::parameters::{Profile, Value};
use super::{
    bbr, bbr3, bic, cdg, compound, copa, cubic, dctcp, highspeed, htcp, hybla, illinois, ledbat, lp, nv, prague, reno,
    scalable, vegas, veno, vivace, westwood, yeah,
};
use crate::compat::cc as compat;

/// All algorithms.
pub const ALGORITHMS: &[&Algorithm] = &[
    &reno::TAHOE,
    &reno::RENO,
    &reno::NEWRENO,
    &cubic::CUBIC,
    &compat::HYSTART_REPORT,
    &compat::FR,
    &compat::ASRAN,
    &bic::BIC,
    &highspeed::HIGHSPEED,
    &scalable::SCALABLE,
    &htcp::HTCP,
    &hybla::HYBLA,
    &vegas::VEGAS,
    &compat::EWPHCC,
    &bbr::BBR,
    &bbr3::BBR3,
    &westwood::WESTWOOD,
    &lp::LP,
    &ledbat::LEDBAT,
    &nv::NV,
    &veno::VENO,
    &yeah::YEAH,
    &illinois::ILLINOIS,
    &cdg::CDG,
    &compound::COMPOUND,
    &copa::COPA,
    &dctcp::DCTCP,
    &prague::PRAGUE,
    &vivace::VIVACE,
];

/// Profiles that a stack of their name does not bring, since it is another branch of it that has them: they are asked for by name.
const OF_A_BRANCH: &[(&str, &str)] = &[("bbr3", "linux")];

impl Algorithm {
    /// Its form in a stack: the profile of that name, if the stack has the algorithm.
    pub fn of_stack(&self, stack: &str) -> Option<&'static Profile> {
        self.profile(stack).filter(|profile| !OF_A_BRANCH.contains(&(self.name, profile.name)))
    }
}

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.name == name).copied()
}

impl CcConfig {
    /// Resolves the registered algorithm `name` in `profile` (the first one if `None`) with `overrides` on top.
    ///
    /// # Errors
    ///
    /// As [`CcConfig::of`], and if no algorithm has that name.
    pub fn by_name(
        name: &str,
        profile: Option<&str>,
        overrides: &[(String, Value)],
    ) -> Result<CcConfig, CcConfigError> {
        let Some(algorithm) = find(name) else {
            let names: Vec<&str> = ALGORITHMS.iter().map(|a| a.name).collect();
            let message = format!("unknown algorithm {name:?}; known: {}", names.join(", "));
            return Err(CcConfigError { field: "name".to_owned(), message });
        };
        CcConfig::of(algorithm, profile, overrides)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_key_and_what_is_allowed() {
        let error = CcConfig::by_name("cubik", None, &[]).unwrap_err();
        assert!(error.field == "name" && error.message.contains("cubic"), "{error:?}");
        let error = CcConfig::by_name("cubic", Some("vms"), &[]).unwrap_err();
        assert!(error.field == "profile" && error.message.contains("linux"), "{error:?}");
        let error = CcConfig::by_name("cubic", None, &[("betta".into(), Value::Number(0.5))]).unwrap_err();
        assert!(error.field == "betta" && error.message.contains("beta"), "{error:?}");
        let error = CcConfig::by_name("cubic", None, &[("beta".into(), Value::Number(1.5))]).unwrap_err();
        assert!(error.field == "beta" && error.message.contains(" to "), "{error:?}");
    }

    #[test]
    fn every_algorithm_is_described_consistently() {
        for algorithm in ALGORITHMS {
            for profile in algorithm.profiles {
                for (name, value) in profile.set {
                    let param = algorithm.params.iter().find(|p| p.name == *name);
                    assert!(
                        param.is_some_and(|p| p.check(*value).is_ok()),
                        "{} {} {name}",
                        algorithm.name,
                        profile.name
                    );
                }
                assert!(CcConfig::by_name(algorithm.name, Some(profile.name), &[]).is_ok());
            }
            for param in algorithm.params {
                assert!(!param.doc.is_empty() && !param.source.is_empty(), "{} {}", algorithm.name, param.name);
                assert_eq!(param.check(param.default), Ok(()), "{} {}", algorithm.name, param.name);
            }
        }
    }
}
