//! Buffers of Linux hosts, as they come and as they are tuned.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::TcpConfig;
use tcp::settings::ProfileName;
use tcp::units::Bytes;

use super::error::ScenarioError;

/// Buffers of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Buffers {
    /// A host that nobody has tuned: `tcp_rmem` 4096 131072 6291456 and `tcp_wmem` 4096 16384 4194304 with auto-tuning, half of the
    /// receive memory being overhead (`tcp_adv_win_scale` 1): a window of 3 MiB at most, 436 Mb/s over 52 ms.
    Stock,
    /// A host tuned for long fat networks, as the recorded ones were: a window of 16 MiB that opens at once, no limit of the sender.
    Tuned,
}

impl Buffers {
    /// The window of a host that nobody has tuned.
    pub const STOCK_WINDOW: Bytes = Bytes(6_291_456 / 2);

    pub(super) fn set(self, config: &mut TcpConfig, profile: ProfileName, path: &str) -> Result<(), ScenarioError> {
        if profile != ProfileName::Linux {
            let message = "are those of Linux hosts, which another profile has not";
            return Err(
                ScenarioError::new(path, message).with_hint("`recv_buffer` and `send_buffer`, or profile = \"linux\"")
            );
        }
        if self == Buffers::Stock {
            config.recv_buffer = Buffers::STOCK_WINDOW;
            config.send_buffer = Bytes(4_194_304);
            config.initial_recv_window = Bytes(131_072 / 2);
            config.recv_autotune = true;
        }
        Ok(())
    }
}
