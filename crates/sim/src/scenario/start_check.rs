//! What is refused of starts and of rules for windows that are not used.

use tcp::TcpConfig;
use tcp::cc::{Algorithm, Begin, CcConfig, Exit, Growth, Value as Setting};
use tcp::settings::CwndValidation;

use super::error::{ScenarioError, join};
use super::start::SWITCHES;

/// Refuses a rule for windows that are not used where the algorithm sets its window itself.
fn check_validation(config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    let algorithm = config.cc.algorithm;
    let own =
        algorithm.requirements.owns_window || (tcp::cc::find(algorithm.name).is_none() && algorithm.starts.is_none());
    let bounded = matches!(config.cwnd_validation, CwndValidation::RateLimited | CwndValidation::Rfc7661);
    if !bounded || (!own && config.agent.is_none()) {
        return Ok(());
    }
    let error = ScenarioError::new(join(path, "cwnd_validation"), format!("{} sets its window itself", algorithm.name));
    Err(error.with_hint(if algorithm.name.contains(':') {
        "linux or none; `starts = True` in the class admits the others"
    } else {
        "linux or none; the others are for window-based algorithms: reno, cubic, …"
    }))
}

/// Of an algorithm with a start of its own that takes a window that was saved: nothing else is taken.
fn check_resumes(config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    let (name, Some(start)) = (config.cc.algorithm.name, &config.start) else { return Ok(()) };
    let Begin::Resume(resume) = start.begin else {
        let error = ScenarioError::new(join(path, "start"), format!("{name} has a start of its own"));
        return Err(error.with_hint(
            "leave `start` out, or use a window-based algorithm: reno, cubic, …; of starts it takes resume alone",
        ));
    };
    if (start.growth, start.exit) != (Growth::default(), Exit::default()) {
        let key = if start.growth == Growth::default() { "start.exit" } else { "start.growth" };
        let error = ScenarioError::new(join(path, key), format!("{name} has a start of its own"));
        return Err(error.with_hint("resume alone"));
    }
    if resume.beta.is_some() {
        let error =
            ScenarioError::new(join(path, "start.resume.beta"), format!("{name} has no ssthresh to go back to"));
        return Err(error.with_hint("leave it out"));
    }
    Ok(())
}

/// Refuses a start where it would have no effect, and parameters of the algorithm that have none beside it; `path` is that of
/// the endpoint's settings.
pub(super) fn check(config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    check_validation(config, path)?;
    if config.start.is_none() {
        return Ok(());
    }
    let algorithm = config.cc.algorithm;
    let rapid = config.start.as_ref().is_some_and(|start| start.growth == Growth::Rapid);
    if rapid && !config.recovery.uses_sack() {
        let error = ScenarioError::new(join(path, "start.growth"), "rapid needs loss reports by SACK");
        return Err(error.with_hint("recovery = \"sack\" or \"rack\""));
    }
    if config.agent.is_none() && algorithm.starts == Some(Algorithm::RESUMES) {
        return check_resumes(config, path);
    }
    if config.agent.is_some() || algorithm.starts.is_none() {
        let name = if config.agent.is_some() { "an agent of another simulator" } else { algorithm.name };
        let error = ScenarioError::new(join(path, "start"), format!("{name} has a start of its own"));
        let hint = if algorithm.name.contains(':') {
            "leave `start` out, or write `starts = True` in the class"
        } else {
            "leave `start` out, or use a window-based algorithm: reno, cubic, …"
        };
        return Err(error.with_hint(hint));
    }
    let plain = CcConfig::of(algorithm, Some(config.cc.profile), &[]).map(|plain| plain.values).unwrap_or_default();
    let changed = |(name, value): &(&'static str, Setting)| {
        name.starts_with("hystart_")
            && !SWITCHES.contains(name)
            && !plain.iter().any(|(own, of)| own == *name && of == *value)
    };
    match config.cc.values.iter().find(changed) {
        Some((name, _)) => {
            let error = ScenarioError::new(join(path, &format!("cc.{name}")), "has no effect beside `start`");
            Err(error.with_hint("leave one of the two out"))
        }
        None => Ok(()),
    }
}
