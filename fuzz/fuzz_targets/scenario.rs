//! The reader of scenarios against any text, and the engine against whatever it accepts: every text is refused with a message
//! or gives a world that runs for a while. No panic, no hang, bounded memory. `fuzz/seeds/scenario` has texts to begin with.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sim::{Scenario, Simulation};

/// Events of an accepted world that are tried.
const EVENTS: u64 = 5_000;
/// What a run may hold.
const MEMORY: u64 = 500_000_000;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let built = Scenario::from_json(text).and_then(|scenario| {
        let resolved = sim::resolve(&scenario)?;
        let again = serde_json::to_string(&resolved).expect("a scenario is plain data");
        assert_eq!(Scenario::from_json(&again).as_ref(), Ok(&resolved), "what is resolved is read as it was written");
        Simulation::new(&scenario, 1)
    });
    match built {
        Ok(mut run) => {
            for _ in 0..EVENTS / 500 {
                if run.advance(500) || run.held_bytes() > MEMORY {
                    break;
                }
            }
        }
        Err(error) => assert!(!error.message.is_empty()),
    }
});
