//! The trait of mapping methods, each of which makes an arrangement or improves one.

use crate::arrangement::ProcessArrangement;
use crate::metric::{DistanceTable, GridDistances, SiteMetric};
use crate::run::PreparedMappingProblem;
use base::ComputationError;
use base::part::PartDescription;

/// A method of mapping. Its code is compiled for every kind of distances, because its inner loops
/// look up distances all the time.
pub(crate) trait MappingMethod {
    /// The method's name and what it does.
    const PART: PartDescription;
    /// Whether the method improves a mapping rather than makes one.
    const IMPROVES: bool = false;

    /// Makes a new arrangement or improves `at`. `index` is the number of this step in the run,
    /// which its random numbers depend on.
    ///
    /// # Errors
    /// When it cannot map this problem, or `watch` says stop. Even then `at` is a complete
    /// arrangement, the best one so far.
    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        index: u64,
    ) -> Result<(), ComputationError>;
}

/// A function that does one step of a mapping.
type StepFn<M> = fn(
    &PreparedMappingProblem<'_, M>,
    &mut ProcessArrangement,
    u64,
) -> Result<(), ComputationError>;

/// A row of the table of methods: one method, compiled for each kind of distances.
#[derive(Debug)]
pub struct MappingMethodEntry {
    /// The method's name and what it does.
    pub part: PartDescription,
    /// Whether the method improves a mapping rather than makes one.
    pub improves: bool,
    bytes: StepFn<DistanceTable<u8>>,
    words: StepFn<DistanceTable<u16>>,
    grid: StepFn<GridDistances>,
}

impl MappingMethodEntry {
    /// The table row of method `T`.
    pub(crate) const fn of<T: MappingMethod>() -> Self {
        Self {
            part: T::PART,
            improves: T::IMPROVES,
            bytes: T::step::<DistanceTable<u8>>,
            words: T::step::<DistanceTable<u16>>,
            grid: T::step::<GridDistances>,
        }
    }
}

/// A kind of distances that methods are compiled for.
pub(crate) trait CompiledSiteMetric: SiteMetric + Sized {
    /// The step of a method, compiled for this kind.
    fn step(of: &MappingMethodEntry) -> StepFn<Self>;
}

impl CompiledSiteMetric for DistanceTable<u8> {
    fn step(of: &MappingMethodEntry) -> StepFn<Self> {
        of.bytes
    }
}

impl CompiledSiteMetric for DistanceTable<u16> {
    fn step(of: &MappingMethodEntry) -> StepFn<Self> {
        of.words
    }
}

impl CompiledSiteMetric for GridDistances {
    fn step(of: &MappingMethodEntry) -> StepFn<Self> {
        of.grid
    }
}
