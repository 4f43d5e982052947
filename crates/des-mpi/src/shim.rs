//! The functions of runtime/ranks/ranks.c, loaded from a library: the one file with unsafe code.
#![allow(unsafe_code)]

use base::Refusal;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;

/// The version of the interface, which `flyloom_ranks_interface` returns.
const INTERFACE: c_int = 1;
/// The longest text that is read from the library, in bytes.
const TEXT: usize = 4096;

/// A function of the library that writes a text into memory of the given length.
type TextFn = unsafe extern "C" fn(*mut c_char, usize) -> c_int;

/// The functions of the library, and the memory that `exchange` passes to it, with an entry for
/// each rank.
pub(crate) struct MpiLibrary {
    open: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    library: TextFn,
    error: unsafe extern "C" fn(c_int, *mut c_char, usize) -> c_int,
    exchange:
        unsafe extern "C" fn(*const *const u8, *const usize, *mut *const u8, *mut usize) -> c_int,
    abort: unsafe extern "C" fn(c_int),
    close: unsafe extern "C" fn() -> c_int,
    me: usize,
    out: Vec<*const u8>,
    out_bytes: Vec<usize>,
    given: Vec<*const u8>,
    given_bytes: Vec<usize>,
}

// SAFETY: the pointers are used only inside `exchange`. Any thread may call the library's
// functions, one thread at a time: MPI is initialised for that, and `&mut self` ensures it.
unsafe impl Send for MpiLibrary {}

impl MpiLibrary {
    /// Loads the library. It stays until the process ends, because MPI leaves threads and handlers
    /// behind.
    pub(crate) fn load(path: &Path) -> Result<Self, Refusal> {
        let refuse = |why: &dyn std::fmt::Display| {
            let why = format!("{}: {why}", path.display());
            Refusal::new("", why, "`flyloom doctor` says what MPI there is, and builds it anew")
        };
        // SAFETY: loading runs the initialisers of the MPI library, as in every program that is
        // linked with it. Some MPI libraries find their parts by names that must be global.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
        let library: &'static Library = Box::leak(Box::new(library.map_err(|why| refuse(&why))?));
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type is that of the function in ranks.c, whose interface is checked.
                *unsafe { library.get($name) }.map_err(|why| refuse(&why))?
            };
        }
        let interface: unsafe extern "C" fn() -> c_int = function!(b"flyloom_ranks_interface\0");
        // SAFETY: the function takes nothing and returns a number.
        let found = unsafe { interface() };
        if found != INTERFACE {
            return Err(refuse(&format!("has interface {found}, this flyloom needs {INTERFACE}")));
        }
        Ok(Self {
            open: function!(b"flyloom_ranks_open\0"),
            library: function!(b"flyloom_ranks_library\0"),
            error: function!(b"flyloom_ranks_error\0"),
            exchange: function!(b"flyloom_ranks_exchange\0"),
            abort: function!(b"flyloom_ranks_abort\0"),
            close: function!(b"flyloom_ranks_close\0"),
            me: 0,
            out: Vec::new(),
            out_bytes: Vec::new(),
            given: Vec::new(),
            given_bytes: Vec::new(),
        })
    }

    /// Initialises MPI; returns this rank and the number of ranks, or an error code.
    pub(crate) fn open(&mut self) -> Result<(usize, usize), c_int> {
        let (mut me, mut count) = (0, 0);
        // SAFETY: both arguments point to numbers, which the function sets.
        match unsafe { (self.open)(&raw mut me, &raw mut count) } {
            0 => {
                let (me, count) = (me as usize, count as usize);
                self.me = me;
                self.out = vec![std::ptr::null(); count];
                self.out_bytes = vec![0; count];
                self.given = vec![std::ptr::null(); count];
                self.given_bytes = vec![0; count];
                Ok((me, count))
            }
            code => Err(code),
        }
    }

    /// Sends `out[p]` to every other rank p, and passes what each rank has sent to `take`. `out`
    /// must have an entry for each rank.
    pub(crate) fn exchange(
        &mut self,
        out: &[Vec<u8>],
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), c_int> {
        let count = self.out.len();
        assert_eq!(out.len(), count, "an entry for every rank");
        for ((bytes, to), length) in out.iter().zip(&mut self.out).zip(&mut self.out_bytes) {
            (*to, *length) = (bytes.as_ptr(), bytes.len());
        }
        let (to, lengths) = (self.out.as_ptr(), self.out_bytes.as_ptr());
        let (from, came) = (self.given.as_mut_ptr(), self.given_bytes.as_mut_ptr());
        // SAFETY: all four arrays have an entry for each rank. The memory that `out` points to
        // stays valid until the call returns, and by then it is sent.
        match unsafe { (self.exchange)(to, lengths, from, came) } {
            0 => {}
            code => return Err(code),
        }
        for from in (0..count).filter(|from| *from != self.me) {
            let (bytes, length) = (self.given[from], self.given_bytes[from]);
            let given = if length == 0 || bytes.is_null() {
                &[]
            } else {
                // SAFETY: the library keeps `length` bytes at `bytes` until its next call, which
                // cannot come before this borrow of `self` ends.
                unsafe { std::slice::from_raw_parts(bytes, length) }
            };
            take(from, given);
        }
        Ok(())
    }

    /// The name and version of the MPI library: the start of what it reports, up to the first comma
    /// or line end.
    pub(crate) fn library(&self) -> String {
        // SAFETY: see `text`.
        let whole = text(|at, room| unsafe { (self.library)(at, room) });
        let first = whole.split(['\n', ',']).next().unwrap_or_default();
        first.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Ends all ranks with an exit code.
    pub(crate) fn abort(&mut self, code: c_int) {
        // SAFETY: the function takes a number, and does not return.
        unsafe { (self.abort)(code) }
    }

    /// Finalises MPI.
    pub(crate) fn close(&mut self) -> Result<(), c_int> {
        // SAFETY: the function takes nothing. The rows are cleared below, so a later `exchange` has
        // no ranks.
        let code = unsafe { (self.close)() };
        for row in [&mut self.out, &mut self.given] {
            row.clear();
        }
        if code == 0 { Ok(()) } else { Err(code) }
    }

    /// The refusal that explains an error code.
    pub(crate) fn refusal(&self, code: c_int) -> Refusal {
        let why = match code {
            -1 => "MPI was ended before in this process, and cannot begin again".to_owned(),
            -2 => "MPI does not let threads take turns (MPI_THREAD_SERIALIZED)".to_owned(),
            -3 => "MPI: no memory for what ranks send".to_owned(),
            // SAFETY: see `text`.
            code => text(|at, room| unsafe { (self.error)(code, at, room) }),
        };
        let why = if code > 0 { format!("MPI: {why} (code {code})") } else { why };
        Refusal::new("", why, "")
    }
}

/// The text that a function writes into a buffer of limited size, ended by a zero.
fn text(write: impl FnOnce(*mut c_char, usize) -> c_int) -> String {
    let mut room = [0 as c_char; TEXT];
    if write(room.as_mut_ptr(), TEXT - 1) != 0 {
        return "without words".to_owned();
    }
    // SAFETY: the last byte is zero whatever was written, because the buffer was said to be one
    // byte shorter.
    unsafe { CStr::from_ptr(room.as_ptr()) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_library_of_ours_is_refused() {
        for (name, why) in [
            ("/nowhere/ranks.so", "/nowhere/ranks.so"),
            (concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "Cargo.toml"),
            ("libm.so.6", "flyloom_ranks_interface"),
        ] {
            let found = MpiLibrary::load(Path::new(name)).err().expect("it is none").to_string();
            assert!(found.contains(why), "{found}");
        }
    }
}
