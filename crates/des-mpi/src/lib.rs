//! Peers over MPI: the ranks of an MPI program simulate parts of a run and exchange the events.
//!
//! MPI is not linked. A small library around it, which the user's mpicc builds from runtime/ranks,
//! is loaded when a run needs it; one file holds all unsafe code.

mod shim;

use base::{ComputationError, Refusal};
use des::PeerByteExchange;
use shim::MpiLibrary;
use std::path::Path;

/// The ranks of an MPI program, from the view of one of them.
pub struct MpiWorld {
    shim: MpiLibrary,
    me: usize,
    count: usize,
}

impl MpiWorld {
    /// Loads the library at a path and initialises MPI, unless MPI is initialised already. This
    /// works once in a process.
    ///
    /// # Errors
    /// When the library cannot be loaded or is not flyloom's, when MPI is finalised already, or
    /// when MPI does not allow calls from different threads, one at a time.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let mut shim = MpiLibrary::load(path)?;
        let (me, count) = shim.open().map_err(|code| shim.refusal(code))?;
        Ok(Self { shim, me, count })
    }

    /// The name and version of the MPI library, as it reports them.
    pub fn library(&self) -> String {
        self.shim.library()
    }

    /// Ends all ranks with an exit code.
    pub fn abort(&mut self, code: i32) {
        self.shim.abort(code);
    }

    /// Finalises MPI; all ranks call this at the same point.
    ///
    /// # Errors
    /// The errors of MPI.
    pub fn close(mut self) -> Result<(), Refusal> {
        self.shim.close().map_err(|code| self.shim.refusal(code))
    }
}

impl PeerByteExchange for MpiWorld {
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
    ) -> Result<(), ComputationError> {
        assert_eq!(out.len(), self.count, "an entry for every rank");
        self.shim.exchange(out, take).map_err(|code| self.shim.refusal(code).into())
    }
}
