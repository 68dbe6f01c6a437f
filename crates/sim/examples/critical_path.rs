//! What a run in several parts could gain: `critical_path SCENARIO.json PARTS…`.
//!
//! The parts are simulated one after the other. Of each window the busiest part counts: the sum over all windows is what a run with a
//! core for each part and free meetings would take. Prints it in events and in seconds, beside the same for one part.

use std::time::{Duration, Instant};

use sim::parallel::{Mail, Part};
use sim::{Scenario, Simulation};
use tcp::units::Time;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("usage: critical_path SCENARIO.json PARTS…");
    let text = std::fs::read_to_string(&path).expect("the scenario is read");
    let scenario = Scenario::from_json(&text).expect("a scenario");
    let made = || Simulation::new(&scenario, 1).expect("a world");
    let begin = Instant::now();
    let events = made().run().summary.events;
    println!("one part: {events} events, {:.2} s", begin.elapsed().as_secs_f64());
    for wanted in arguments.map(|parts| parts.parse().expect("a number of parts")) {
        measure(&made, wanted, events);
    }
}

fn measure(made: &impl Fn() -> Simulation, wanted: usize, events: u64) {
    let division = match made().divide(wanted, || true) {
        Ok(division) => division,
        Err(reason) => return println!("{wanted} parts: {reason}"),
    };
    let mut parts: Vec<Part> = (0..division.parts()).map(|index| Part::new(made(), &division, index)).collect();
    let (mut windows, mut longest, mut all) = (0_u64, Duration::ZERO, Duration::ZERO);
    let (mut critical, mut next, mut mail) = (0, Some(Time::ZERO), Mail::default());
    // By part: what it has done in the present window, its mail included.
    let mut busy = vec![Duration::ZERO; parts.len()];
    while let Some(from) = next {
        let before: Vec<u64> = parts.iter().map(Part::events).collect();
        next = None;
        for (part, busy) in parts.iter_mut().zip(&mut busy) {
            let begin = Instant::now();
            next = [next, part.advance(from + division.lookahead())].into_iter().flatten().min();
            *busy += begin.elapsed();
        }
        critical += parts.iter().zip(before).map(|(part, before)| part.events() - before).max().unwrap_or_default();
        (windows, longest) = (windows + 1, longest + busy.iter().copied().max().unwrap_or_default());
        all += busy.iter().sum::<Duration>();
        for to in 0..parts.len() {
            let begin = Instant::now();
            for from in 0..parts.len() {
                parts[from].send(to, &mut mail);
                parts[to].receive(&mut mail);
            }
            busy[to] = begin.elapsed();
        }
    }
    println!(
        "{} parts: {windows} windows of {}, {critical} events on the critical path ({:.2} times fewer); {:.2} s of {:.2} s",
        division.parts(),
        division.lookahead(),
        events as f64 / critical as f64,
        longest.as_secs_f64(),
        all.as_secs_f64(),
    );
}
