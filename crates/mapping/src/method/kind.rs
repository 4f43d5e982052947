//! What a step of a mapping is: a method that makes an arrangement or improves one.

use crate::arrangement::Arrangement;
use crate::metric::{Grid, Metric, Table};
use crate::run::Run;
use base::Stop;
use base::part::Part;

/// A method of mapping. Its code is compiled for every kind of distances, as its loops ask for them
/// all the time.
pub(crate) trait Method {
    /// Its name and what it does.
    const PART: Part;
    /// Whether it improves a mapping rather than makes one.
    const IMPROVES: bool = false;

    /// Makes `at` anew or better. `index` is the number of this step of the run, for what it draws.
    ///
    /// # Errors
    /// When it cannot map this problem, or the watch says stop: `at` is a whole arrangement also
    /// then, the best so far.
    fn step<M: Metric>(run: &Run<'_, M>, at: &mut Arrangement, index: u64) -> Result<(), Stop>;
}

type Step<M> = fn(&Run<'_, M>, &mut Arrangement, u64) -> Result<(), Stop>;

/// A row of the table of methods: one method, compiled for each kind of distances.
#[derive(Debug)]
pub struct Entry {
    /// Its name and what it does.
    pub part: Part,
    /// Whether it improves a mapping rather than makes one.
    pub improves: bool,
    bytes: Step<Table<u8>>,
    words: Step<Table<u16>>,
    grid: Step<Grid>,
}

impl Entry {
    /// The row of method `T`.
    pub(crate) const fn of<T: Method>() -> Self {
        Self {
            part: T::PART,
            improves: T::IMPROVES,
            bytes: T::step::<Table<u8>>,
            words: T::step::<Table<u16>>,
            grid: T::step::<Grid>,
        }
    }
}

/// Distances that methods are compiled for.
pub(crate) trait Compiled: Metric + Sized {
    /// A method's step for these.
    fn step(of: &Entry) -> Step<Self>;
}

impl Compiled for Table<u8> {
    fn step(of: &Entry) -> Step<Self> {
        of.bytes
    }
}

impl Compiled for Table<u16> {
    fn step(of: &Entry) -> Step<Self> {
        of.words
    }
}

impl Compiled for Grid {
    fn step(of: &Entry) -> Step<Self> {
        of.grid
    }
}
