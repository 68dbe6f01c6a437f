//! The loop by the clock of the machine: waits until a packet comes or something is due, and writes what leaves.

use std::cell::Cell;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};
use tcp::units::{Span, Time};

use crate::capture::Capture;
use crate::emulator::Emulator;
use crate::lateness::Lateness;

/// Packets that are read from a device before what is due is looked at again.
const BATCH: usize = 64;
/// The largest packet, and what may stand before it.
const BUFFER: usize = (1 << 16) + 64;
/// With spinning, a wait up to a due time that is so near is none.
const SPIN_NANOS: u64 = 50_000;
/// The step of time.
const INSTANT: Span = Span::from_nanos(1);

/// The device of a host.
#[derive(Debug)]
pub struct Device {
    /// A TUN device, which does not block.
    pub fd: OwnedFd,
    /// What it carries is written there.
    pub capture: Option<Capture>,
}

/// How an emulation runs.
#[derive(Debug)]
pub struct Run {
    /// What becomes readable, or is closed at its other end, when it is to stop.
    pub stop: OwnedFd,
    /// The monotonic clock at time 0, in nanoseconds.
    pub start: u64,
    /// Do not sleep shortly before a due time.
    pub spin: bool,
    /// The clock stands while anything runs, as that of a kernel in virtual time does: it is read after each wait alone.
    pub standing: bool,
}

fn monotonic_nanos() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}

/// The settings of a run, and its clock.
struct Clock<'a> {
    run: &'a Run,
    /// What was read after the last wait.
    read: Cell<Time>,
}

impl Clock<'_> {
    /// Sleeps until the start, before which no time counts.
    fn await_start(&self) {
        let left = self.run.start.saturating_sub(monotonic_nanos());
        std::thread::sleep(Duration::from_nanos(left));
    }

    /// The time since the start.
    fn now(&self) -> Time {
        if !self.run.standing {
            self.set();
        }
        self.read.get()
    }

    fn set(&self) {
        self.read.set(Time::from_nanos(monotonic_nanos().saturating_sub(self.run.start)));
    }

    /// Waits until a device can be read, `until` has come, or it is to stop; which devices can be read, and true if it is to stop.
    fn wait(&self, devices: &[Device], until: Option<Time>, ready: &mut Vec<usize>) -> io::Result<bool> {
        let fds = devices.iter().map(|device| device.fd.as_fd()).chain([self.run.stop.as_fd()]);
        let mut polled: Vec<PollFd<'_>> = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        let now = self.now();
        let left = until.map(|until| until.max(now).since(now).as_nanos());
        let left = if self.run.spin { left.map(|left| left.saturating_sub(SPIN_NANOS)) } else { left };
        let timeout = left.map(|left| Timespec::try_from(Duration::from_nanos(left)).expect("a run is no age"));
        ready.clear();
        let waited = poll(&mut polled, timeout.as_ref());
        if self.run.standing {
            match (&waited, until) {
                // It has come to where it was to; what is due at an instant is handled after it.
                (Ok(0), Some(until)) => self.read.set(until.max(now) + INSTANT),
                _ => self.set(),
            }
        }
        match waited {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let readable = polled.iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty());
        ready.extend(readable.map(|(index, _)| index));
        Ok(ready.pop_if(|last| *last == devices.len()).is_some())
    }
}

/// Runs an emulation until it is to stop, or its duration is over. Returns how late packets were, and the time at its end.
///
/// # Errors
///
/// A device or a capture cannot be used any more.
pub fn run(emulator: &mut Emulator, devices: &mut [Device], run: &Run) -> io::Result<(Lateness, Time)> {
    // The kernel puts timers of ordinary threads off by 50 us, to join them.
    set_current_timer_slack(NonZeroU64::new(1)).map_err(io::Error::from)?;
    let (mut lateness, mut ready, mut buffer) = (Lateness::default(), Vec::new(), vec![0; BUFFER]);
    let header = emulator.settings().header;
    let clock = Clock { run, read: Cell::default() };
    clock.await_start();
    clock.set();
    let mut stop = false;
    while !stop {
        for &index in &ready {
            take_in(emulator, &mut devices[index], index, &clock, &mut buffer)?;
        }
        let is_over = emulator.advance(clock.now());
        while let Some(written) = emulator.leave(|outgoing, bytes| {
            let device = &mut devices[outgoing.host];
            let written = put_out(device, outgoing.due, bytes, header);
            lateness.add(clock.now().max(outgoing.due).since(outgoing.due).as_nanos());
            written
        }) {
            written?;
        }
        if is_over && emulator.ends_with_scenario() {
            break;
        }
        stop = clock.wait(devices, emulator.next_event(), &mut ready)?;
    }
    Ok((lateness, clock.now()))
}

/// Reads what a host has sent.
fn take_in(
    emulator: &mut Emulator,
    device: &mut Device,
    index: usize,
    clock: &Clock<'_>,
    buffer: &mut [u8],
) -> io::Result<()> {
    for _ in 0..BATCH {
        match read(&device.fd, &mut *buffer) {
            Ok(length) => {
                let (packet, at) = (&buffer[..length], clock.now());
                if let (Some(capture), Some(bytes)) = (&mut device.capture, packet.get(emulator.settings().header..)) {
                    capture.write(at, bytes)?;
                }
                emulator.enter(index, packet, at);
            }
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Gives a packet to its host. One that the host's own stack has no room for is lost there.
fn put_out(device: &mut Device, due: Time, bytes: &[u8], header: usize) -> io::Result<()> {
    if let (Some(capture), Some(packet)) = (&mut device.capture, bytes.get(header..)) {
        capture.write(due, packet)?;
    }
    match write(&device.fd, bytes) {
        Ok(_) | Err(Errno::AGAIN | Errno::NOBUFS | Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
