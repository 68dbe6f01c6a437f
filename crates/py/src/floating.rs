//! The floating-point environment in which a thread computes: rounding to the nearest number, and no small number taken for zero.
//!
//! Code of others changes it for its whole thread, and so the last bits of every flow: a library that rounds otherwise, or one that
//! was built with `-ffast-math`, by no more than being loaded.

#[cfg(target_os = "linux")]
#[link(name = "m")]
unsafe extern "C" {
    fn fesetenv(environment: *const std::ffi::c_void) -> std::ffi::c_int;
}

/// Makes it the default one (C11, section 7.6.4.3).
#[cfg(target_os = "linux")]
pub(crate) fn set_default() {
    // SAFETY: FE_DFL_ENV of glibc and of musl, on every architecture: no address, so that nothing is read from it.
    unsafe { fesetenv(std::ptr::without_provenance(usize::MAX)) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn set_default() {}
