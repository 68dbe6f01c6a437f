//! How bytes come in and go out, for WebAssembly: a worker makes room, writes a request there, and reads the answer.

use std::panic;

use crate::algorithm::Page;
use crate::lab::Lab;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Hears the message of a broken invariant; the module is not to be used any more.
    fn broken(message: *const u8, length: usize);
    /// Makes an object of a class; -1 if its constructor throws.
    fn create(
        class: u32,
        setup: *const f64,
        setup_length: usize,
        parameters: *const f64,
        parameters_length: usize,
    ) -> i32;
    /// Calls a method of an object; 0 if it throws.
    fn event(
        object: u32,
        kind: usize,
        signal: *const f64,
        signal_length: usize,
        view: *const f64,
        view_length: usize,
        answers: *mut f64,
    ) -> u32;
    /// An object is used no more.
    fn end(object: u32);
}

/// The worker, which has the classes in JavaScript.
pub(crate) struct Worker;

impl Page for Worker {
    fn create(class: u32, setup: &[f64], parameters: &[f64]) -> Option<u32> {
        // SAFETY: the page reads both before the call returns.
        let made = unsafe { create(class, setup.as_ptr(), setup.len(), parameters.as_ptr(), parameters.len()) };
        u32::try_from(made).ok()
    }

    fn event(object: u32, kind: usize, signal: &[f64], view: &[f64], answers: &mut [f64; 4]) -> bool {
        let ((signal, of_signal), (view, of_view)) = ((signal.as_ptr(), signal.len()), (view.as_ptr(), view.len()));
        // SAFETY: before the call returns the page reads signal and view, and writes four answers.
        unsafe { event(object, kind, signal, of_signal, view, of_view, answers.as_mut_ptr()) != 0 }
    }

    fn end(object: u32) {
        // SAFETY: a number.
        unsafe { end(object) }
    }
}

/// The lab of a page, with its last request and answer.
pub struct Desk {
    lab: Lab,
    request: Vec<u8>,
    answer: Vec<u8>,
}

/// A lab. There is no end of it but that of the module.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> *mut Desk {
    panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        // SAFETY: the page reads the bytes before the call returns.
        unsafe { broken(message.as_ptr(), message.len()) }
    }));
    Box::into_raw(Box::new(Desk { lab: Lab::default(), request: Vec::new(), answer: Vec::new() }))
}

/// Room for a request of so many bytes.
///
/// # Safety
///
/// `desk` is from [`open`], and no other call with it is under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn room(desk: *mut Desk, length: usize) -> *mut u8 {
    // SAFETY: the caller has it from `open`.
    let desk = unsafe { &mut *desk };
    desk.request = vec![0; length];
    desk.request.as_mut_ptr()
}

/// Answers the request; the length of the answer.
///
/// # Safety
///
/// As [`room`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(desk: *mut Desk) -> usize {
    // SAFETY: the caller has it from `open`.
    let desk = unsafe { &mut *desk };
    desk.answer = desk.lab.ask(&std::mem::take(&mut desk.request));
    desk.answer.len()
}

/// Where the answer is, until the next request.
///
/// # Safety
///
/// As [`room`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(desk: *const Desk) -> *const u8 {
    // SAFETY: the caller has it from `open`.
    unsafe { (*desk).answer.as_ptr() }
}
