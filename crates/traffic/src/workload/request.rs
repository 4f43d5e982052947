//! A request for a workload: the part, and the values of its parameters.

use base::part::PartDescription;
use base::{ProgressWatch, Refusal};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A request for a workload, with parameters whose names and ranges have been checked.
pub struct WorkloadRequest<'a> {
    part: PartDescription,
    given: &'a Map<String, Value>,
    /// Receives the progress of long preparations, and can stop them.
    pub watch: &'a dyn ProgressWatch,
}

impl<'a> WorkloadRequest<'a> {
    /// A request for `part` with the given parameters.
    ///
    /// # Errors
    /// When a name is unknown, a number is out of range, or a parameter without a default is
    /// missing.
    pub fn new(
        part: PartDescription,
        given: &'a Map<String, Value>,
        watch: &'a dyn ProgressWatch,
    ) -> Result<Self, Refusal> {
        part.check(given)?;
        Ok(Self::trusted(part, given, watch))
    }

    /// A request with parameters that need no check.
    pub(super) fn trusted(
        part: PartDescription,
        given: &'a Map<String, Value>,
        watch: &'a dyn ProgressWatch,
    ) -> Self {
        Self { part, given, watch }
    }

    /// The given values of the parameters in `T`, with defaults for the others.
    ///
    /// # Errors
    /// When a value is of the wrong type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        self.part.read(self.given)
    }
}
