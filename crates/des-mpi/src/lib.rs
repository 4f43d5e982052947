//! Processes that a real MPI library joins: they carry the events of a run between its parts.
//!
//! MPI is not linked. A small library around it, built from runtime/ranks by the user's mpicc, is
//! loaded when a run asks for it; all that is unsafe about that is in one file.

mod shim;

use base::{Refusal, Stop};
use des::Peers;
use shim::Shim;
use std::path::Path;

/// The ranks of an MPI program, seen by one of them.
pub struct World {
    shim: Shim,
    me: usize,
    count: usize,
}

impl World {
    /// Loads the library at a path and begins MPI, unless it has begun. Once in a process.
    ///
    /// # Errors
    /// When the library cannot be loaded or is none of ours, and when MPI cannot be used any more,
    /// or not by threads in turn.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let mut shim = Shim::load(path)?;
        let (me, count) = shim.open().map_err(|code| shim.refusal(code))?;
        Ok(Self { shim, me, count })
    }

    /// The name and version of the MPI library, by its own words.
    pub fn library(&self) -> String {
        self.shim.library()
    }

    /// Ends all ranks with an exit code.
    pub fn abort(&mut self, code: i32) {
        self.shim.abort(code);
    }

    /// The end of MPI, for all ranks at the same place.
    ///
    /// # Errors
    /// MPI's.
    pub fn close(mut self) -> Result<(), Refusal> {
        self.shim.close().map_err(|code| self.shim.refusal(code))
    }
}

impl Peers for World {
    fn me(&self) -> usize {
        self.me
    }

    fn count(&self) -> usize {
        self.count
    }

    fn exchange(
        &mut self,
        out: &[Vec<u8>],
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), Stop> {
        assert_eq!(out.len(), self.count, "an entry for every rank");
        self.shim.exchange(out, take).map_err(|code| self.shim.refusal(code).into())
    }
}
