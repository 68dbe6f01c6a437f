//! One run on several threads: each has a part of the world, and all meet after every window of simulated time.

use std::iter::once;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sim::parallel::{Division, Mail, Part, Undivided};
use sim::{Limits, Outcome, Scenario, ScenarioError, Simulation, size};
use tcp::units::{Span, Time};

use crate::failure::{Failure, guarded};
use crate::running::{self, Running, STEP, Stopper};

/// Turns in which a thread waits for the others before it lets another have its core: some microseconds.
const SPINS: u32 = 2_000;

/// The time of a part that has nothing more to do.
const NEVER: u64 = u64::MAX;

/// Events of a run before it is divided unasked: a shorter one ends as soon on one thread.
const TRIAL: u64 = 1 << 19;

/// Events of a window from which a run is divided unasked. The threads meet after it, which takes as long as some dozen events.
const WORTH_MEETING: f64 = 100.0;

/// Runs a scenario on at most so many threads. Where it is not divided, it runs on one, and the second value says why. So it does
/// where the parts exceed a limit: whether the run does, one thread alone decides.
pub(crate) fn run(
    scenario: &Scenario,
    seed: u64,
    threads: usize,
    limits: Limits,
    stopper: Stopper<'_>,
) -> Result<(Outcome, Option<String>), Failure> {
    let running = Running::new(Simulation::new(scenario, seed)?, limits, stopper);
    if threads == 1 {
        return Ok((running.finish()?, None));
    }
    match divide(running.simulation(), threads, limits, stopper)? {
        Ok(division) => run_divided(scenario, seed, &division, limits, stopper),
        Err(Undivided(reason)) => Ok((running.finish()?, Some(reason))),
    }
}

/// Runs a scenario on at most so many threads if it is likely to end sooner than on one.
pub(crate) fn run_soonest(
    scenario: &Scenario,
    seed: u64,
    threads: usize,
    limits: Limits,
    stopper: Stopper<'_>,
) -> Result<Outcome, Failure> {
    let mut trial = Running::new(Simulation::new(scenario, seed)?, limits, stopper);
    let division = if threads > 1 { divide(trial.simulation(), threads, limits, stopper)?.ok() } else { None };
    let Some(division) = division else { return trial.finish() };
    if !trial.advance_to(TRIAL)? {
        let (events, now) = (trial.simulation().events(), trial.simulation().now());
        let per_window = events as f64 * division.lookahead().as_secs_f64() / now.as_secs_f64();
        if per_window >= WORTH_MEETING {
            drop(trial);
            return Ok(run_divided(scenario, seed, &division, limits, stopper)?.0);
        }
    }
    trial.finish()
}

fn run_divided(
    scenario: &Scenario,
    seed: u64,
    division: &Division,
    limits: Limits,
    stopper: Stopper<'_>,
) -> Result<(Outcome, Option<String>), Failure> {
    let meeting = Meeting::new(division);
    let made = || Simulation::new(scenario, seed);
    let first = made()?;
    let world_bytes = limits.memory_bytes.map_or(0, |_| first.world_bytes());
    let watch = || {
        stopper.check()?;
        meeting.check(limits, world_bytes)
    };
    let undivided = match meeting.simulate_all(first, made, division, watch).map(Part::finish) {
        Ok(Ok(outcome)) => match limits.events.filter(|most| outcome.summary.events > *most) {
            None => return Ok((outcome, None)),
            Some(most) => format!("{most} events are its limit"),
        },
        Ok(Err(Undivided(reason))) | Err(Failure::Limit(reason)) => reason,
        Err(failure) => return Err(failure),
    };
    Ok((running::run(made()?, limits, stopper)?, Some(undivided)))
}

/// Divides a run, unless it is stopped meanwhile.
fn divide(
    first: &Simulation,
    threads: usize,
    limits: Limits,
    stopper: Stopper<'_>,
) -> Result<Result<Division, Undivided>, Failure> {
    let mut stopped = Ok(());
    let found = first.divide(threads, || {
        stopped = stopper.check();
        stopped.is_ok()
    });
    stopped.map(|()| found.and_then(|division| admitted(first, division, limits)))
}

/// A division whose parts fit into memory together.
fn admitted(first: &Simulation, division: Division, limits: Limits) -> Result<Division, Undivided> {
    let needed = first.world_bytes() * division.parts() as u64;
    match limits.memory_bytes.filter(|most| needed > *most) {
        Some(most) => {
            let (needed, most) = (size(needed), size(most));
            Err(Undivided(format!("every part has the whole world: together they need {needed}, the limit is {most}")))
        }
        None => Ok(division),
    }
}

/// Where the threads of a run meet.
struct Meeting {
    parts: usize,
    lookahead: Span,
    /// A thread will not come any more.
    is_broken: AtomicBool,
    /// By part.
    arrived: Vec<Arrived>,
    /// Used in turn: who is fast writes to one while who is slow still reads the other.
    desks: [Desk; 2],
    /// By part: events handled, memory held, and the simulated time, as of some thousand events ago.
    progress: Vec<[AtomicU64; 3]>,
}

/// How many meetings a part has come to, in cache lines of its own: the others look at it all the time.
#[derive(Default)]
#[repr(align(128))]
struct Arrived(AtomicU64);

/// What the parts leave for each other at a meeting, by part.
struct Desk(Vec<Place>);

/// What a part leaves, in cache lines of its own.
#[repr(align(128))]
struct Place {
    /// The earliest instant at which something may happen because of it.
    next: AtomicU64,
    /// By receiver, and whether there is any: most windows of a microsecond have none.
    mail: Vec<(AtomicBool, Mutex<Mail>)>,
}

impl Desk {
    fn new(parts: usize) -> Desk {
        let place = |_| Place { next: AtomicU64::new(0), mail: (0..parts).map(|_| Default::default()).collect() };
        Desk((0..parts).map(place).collect())
    }
}

impl Meeting {
    fn new(division: &Division) -> Meeting {
        let parts = division.parts();
        Meeting {
            parts,
            lookahead: division.lookahead(),
            is_broken: AtomicBool::new(false),
            arrived: (0..parts).map(|_| Arrived::default()).collect(),
            desks: [Desk::new(parts), Desk::new(parts)],
            progress: (0..parts).map(|_| Default::default()).collect(),
        }
    }

    /// Simulates all parts, each on a thread: that of `first` is this one, which calls `watch` now and then.
    fn simulate_all(
        &self,
        first: Simulation,
        other: impl Fn() -> Result<Simulation, ScenarioError> + Sync,
        division: &Division,
        watch: impl Fn() -> Result<(), Failure>,
    ) -> Result<Vec<Part>, Failure> {
        let of_thread =
            &|index| self.leaving_on_failure(|| self.simulate(Part::new(other()?, division, index), index, || Ok(())));
        let parts: Vec<Result<Part, Failure>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..self.parts).map(|index| scope.spawn(move || of_thread(index))).collect();
            let own = self.leaving_on_failure(|| self.simulate(Part::new(first, division, 0), 0, watch));
            once(own).chain(others.into_iter().map(|other| other.join().expect("a part fails as a value"))).collect()
        });
        // Of several failures the one that made the others leave is no `GivenUp`.
        let (ended, mut failed): (Vec<_>, Vec<_>) = parts.into_iter().partition(Result::is_ok);
        failed.sort_by_key(|part| matches!(part, Err(Failure::GivenUp)));
        failed.into_iter().chain(ended).collect()
    }

    /// Does the work of a thread; if it fails, the others need not wait for it.
    fn leaving_on_failure(&self, work: impl FnOnce() -> Result<Part, Failure>) -> Result<Part, Failure> {
        let result = guarded(work);
        self.is_broken.fetch_or(result.is_err(), Ordering::Release);
        result
    }

    /// Simulates a part to the end of the run; `watch` is called now and then.
    fn simulate(&self, mut part: Part, index: usize, watch: impl Fn() -> Result<(), Failure>) -> Result<Part, Failure> {
        let (mut until, mut told) = (Time::ZERO + self.lookahead, 0);
        for meeting in 1_u64.. {
            let Desk(places) = &self.desks[meeting as usize % 2];
            let next = part.advance(until);
            places[index].next.store(next.map_or(NEVER, Time::as_nanos), Ordering::Relaxed);
            for (to, (has_any, mail)) in places[index].mail.iter().enumerate() {
                if part.has_mail(to) {
                    part.send(to, &mut mail.lock().expect("nobody panics with mail in hand"));
                    has_any.store(true, Ordering::Relaxed);
                }
            }
            if part.events() >= told + STEP {
                told = part.events();
                self.tell(&part, index);
                watch()?;
            }
            self.meet(index, meeting)?;
            for (has_any, mail) in places.iter().map(|from| &from.mail[index]) {
                if has_any.load(Ordering::Relaxed) {
                    part.receive(&mut mail.lock().expect("nobody panics with mail in hand"));
                    has_any.store(false, Ordering::Relaxed);
                }
            }
            let next = places.iter().map(|of| of.next.load(Ordering::Relaxed)).min();
            let Some(next) = next.filter(|next| *next != NEVER) else { break };
            until = Time::from_nanos(next) + self.lookahead;
        }
        Ok(part)
    }

    /// Waits until all threads have come to this meeting. What a thread has left on the desk before is there then.
    fn meet(&self, index: usize, meeting: u64) -> Result<(), Failure> {
        self.arrived[index].0.store(meeting, Ordering::Release);
        for Arrived(other) in &self.arrived {
            let mut spins = 0;
            while other.load(Ordering::Acquire) < meeting {
                if self.is_broken.load(Ordering::Acquire) {
                    return Err(Failure::GivenUp);
                }
                spins += 1;
                if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
        }
        Ok(())
    }

    fn tell(&self, part: &Part, index: usize) {
        let now = [part.events(), part.simulation().held_bytes(), part.simulation().now().as_nanos()];
        self.progress[index].iter().zip(now).for_each(|(told, now)| told.store(now, Ordering::Relaxed));
    }

    /// Holds what all parts have told against the limits.
    fn check(&self, limits: Limits, world_bytes: u64) -> Result<(), Failure> {
        let told = |what: usize| self.progress.iter().map(move |of| of[what].load(Ordering::Relaxed));
        let now = Time::from_nanos(told(2).max().unwrap_or_default());
        let held = || world_bytes * self.parts as u64 + told(1).sum::<u64>();
        limits.exceeded_at(now, told(0).sum(), held).map_or(Ok(()), |message| Err(Failure::Limit(message)))
    }
}
