//! A workload that somebody asks for: its part, and the parameters that are given.

use base::part::Part;
use base::{Refusal, Watch};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A workload that somebody asks for, with parameters whose names and ranges are checked.
pub struct WorkloadRequest<'a> {
    part: Part,
    given: &'a Map<String, Value>,
    /// What long preparations report to.
    pub watch: &'a dyn Watch,
}

impl<'a> WorkloadRequest<'a> {
    /// A request of `part` with the parameters that are given.
    ///
    /// # Errors
    /// When a name is unknown, a number out of range, or a parameter missing that has no default.
    pub fn new(
        part: Part,
        given: &'a Map<String, Value>,
        watch: &'a dyn Watch,
    ) -> Result<Self, Refusal> {
        part.check(given)?;
        Ok(Self::trusted(part, given, watch))
    }

    /// The same with parameters that need no check.
    pub(super) fn trusted(part: Part, given: &'a Map<String, Value>, watch: &'a dyn Watch) -> Self {
        Self { part, given, watch }
    }

    /// What is given of the parameters in `T`, with the defaults of the others.
    ///
    /// # Errors
    /// When one is of the wrong type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        self.part.read(self.given)
    }
}
