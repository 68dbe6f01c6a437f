//! `set key words`: what one endpoint is like.

use tcp::TcpConfig;
use tcp::cc::{CcConfig, Value, find};
use tcp::compat::Agent;
use tcp::settings::{ProfileName, initial_window};
use tcp::units::{Bytes, Span};

use crate::text::{Outcome, named, number, seconds, window};

/// The settings, and the profile they started from.
pub(crate) struct Settings {
    profile: ProfileName,
    pub(crate) config: TcpConfig,
}

impl Settings {
    /// Profile `rfc` with NewReno.
    pub(crate) fn new() -> Outcome<Settings> {
        let profile = ProfileName::Rfc;
        Ok(Settings { profile, config: TcpConfig::of_profile(profile, cc_config(profile, &["newreno"])?) })
    }

    /// Applies `set key words`.
    pub(crate) fn set(&mut self, key: &str, words: &[&str]) -> Outcome {
        let word = *words.first().ok_or("a value is missing")?;
        let config = &mut self.config;
        if let Some(setting) = flag(config, key) {
            *setting = number(word)?;
        } else if let Some(setting) = count(config, key) {
            *setting = number(word)?;
        } else if let Some(setting) = time(config, key) {
            *setting = seconds(word)?;
        } else if let Some(setting) = size(config, key) {
            *setting = Bytes(number(word)?);
        } else {
            return self.set_other(key, word, words);
        }
        Ok(())
    }

    fn set_other(&mut self, key: &str, word: &str, words: &[&str]) -> Outcome {
        let (profile, config) = (self.profile, &mut self.config);
        match key {
            "profile" => {
                self.profile = named(word)?;
                self.config = TcpConfig::of_profile(self.profile, cc_config(self.profile, &words[1..])?);
            }
            "cc" => {
                config.cc = cc_config(profile, words)?;
                config.recovery = TcpConfig::of_profile(profile, config.cc.clone()).recovery;
            }
            "recovery" => {
                config.recovery = named(word)?;
                config.sack = config.recovery.uses_sack();
            }
            "mss" => {
                config.mss = Bytes(number(word)?);
                config.initial_window = initial_window(profile, config.mss);
            }
            "initial_window" => config.initial_window = window(word, config.mss)?,
            "cwnd_clamp" => config.cwnd_clamp = window(word, config.mss)?,
            "initial_ssthresh" => config.initial_ssthresh = window(word, config.mss)?,
            "initial_recv_window" => config.initial_recv_window = window(word, config.mss)?,
            "cwnd_validation" => config.cwnd_validation = named(word)?,
            "ecn" => config.ecn = named(word)?,
            "ecn_option" => config.ecn_option = named(word)?,
            "cwnd_reduction" => config.cwnd_reduction = named(word)?,
            "rtt_estimator" => config.rtt_estimator = named(word)?,
            "agent" => config.agent = Some(Agent::of(named(word)?)),
            _ => return Err(format!("unknown setting {key:?}")),
        }
        Ok(())
    }
}

fn flag<'a>(config: &'a mut TcpConfig, key: &str) -> Option<&'a mut bool> {
    Some(match key {
        "recv_autotune" => &mut config.recv_autotune,
        "auto_read" => &mut config.auto_read,
        "ack_push" => &mut config.delayed_ack.push,
        "ack_interactive" => &mut config.delayed_ack.interactive,
        "sack" => &mut config.sack,
        "timestamps" => &mut config.timestamps,
        "handshake" => &mut config.handshake,
        "window_scale" => &mut config.window_scale,
        "limited_transmit" => &mut config.limited_transmit,
        "impatient" => &mut config.impatient,
        "tlp" => &mut config.tlp,
        "frto" => &mut config.frto,
        "undo" => &mut config.undo,
        "nagle" => &mut config.nagle,
        "pacing" => &mut config.pacing,
        "tso_psh" => &mut config.tso_psh,
        "tso_defer" => &mut config.tso_defer,
        "tso_fill" => &mut config.tso_fill,
        "slow_start_after_idle" => &mut config.slow_start_after_idle,
        _ => return None,
    })
}

fn count<'a>(config: &'a mut TcpConfig, key: &str) -> Option<&'a mut u32> {
    Some(match key {
        "delayed_ack" => &mut config.delayed_ack.segments,
        "quick_acks" => &mut config.delayed_ack.quick,
        "dup_thresh" => &mut config.dup_thresh,
        "retries2" => &mut config.retries2,
        "syn_retries" => &mut config.syn_retries,
        "syn_linear_timeouts" => &mut config.syn_linear_timeouts,
        _ => return None,
    })
}

fn time<'a>(config: &'a mut TcpConfig, key: &str) -> Option<&'a mut Span> {
    Some(match key {
        "delayed_ack_timeout" => &mut config.delayed_ack.timeout,
        "ack_compression" => &mut config.delayed_ack.compression,
        "rto_initial" => &mut config.rto.initial,
        "rto_min" => &mut config.rto.min,
        "rto_max" => &mut config.rto.max,
        "rto_granularity" => &mut config.rto.granularity,
        "user_timeout" => &mut config.user_timeout,
        "time_wait" => &mut config.time_wait,
        "read_interval" => &mut config.read_interval,
        _ => return None,
    })
}

fn size<'a>(config: &'a mut TcpConfig, key: &str) -> Option<&'a mut Bytes> {
    Some(match key {
        "recv_buffer" => &mut config.recv_buffer,
        "send_buffer" => &mut config.send_buffer,
        _ => return None,
    })
}

/// `name key=value …`, in the algorithm's form for the profile if it has one.
fn cc_config(profile: ProfileName, words: &[&str]) -> Outcome<CcConfig> {
    let [name, parameters @ ..] = words else { return Err("the name of an algorithm is missing".into()) };
    let value = |text: &str| text.parse().map(Value::Number).or_else(|_| number(text).map(Value::Flag));
    let pair = |word: &&str| {
        let (key, text) = word.split_once('=').ok_or(format!("{word:?} is not key=value"))?;
        Ok((key.to_owned(), value(text)?))
    };
    let overrides = parameters.iter().map(pair).collect::<Outcome<Vec<_>>>()?;
    let form = find(name).and_then(|algorithm| algorithm.profile(profile.name())).map(|form| form.name);
    CcConfig::by_name(name, form, &overrides).map_err(|error| error.message)
}
