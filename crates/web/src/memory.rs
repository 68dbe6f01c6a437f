//! How bytes come in and go out, for WebAssembly: a worker makes room, writes a request there, and reads the answer.

use std::panic;

use crate::lab::Lab;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Hears the message of a broken invariant; the module is not to be used any more.
    fn broken(message: *const u8, length: usize);
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
