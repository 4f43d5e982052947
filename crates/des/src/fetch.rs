//! Prefetching of cache lines before they are needed: the one file of this crate with unsafe code.
#![allow(unsafe_code)]

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Prefetches the cache lines of a value without waiting for them. On processors other than
/// `x86_64` this does nothing.
#[inline]
pub(crate) fn fetch<T>(at: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(at).cast::<i8>();
        for line in 0..size_of::<T>().div_ceil(LINE) {
            let line = first.wrapping_add(line * LINE);
            // SAFETY: all x86_64 processors have the instruction, and it accepts any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
