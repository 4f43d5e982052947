//! Experiments: the file that a user writes, the points that it describes, and the schema of both.

pub mod best;
pub mod booksim;
pub mod expand;
pub mod fits;
pub mod joint;
pub mod kinds;
pub mod need;
pub mod over_seeds;
mod place;
pub mod plugins;
pub mod records;
pub mod registry;
pub mod sampling;
pub mod spec;
pub mod stages;
mod sweep;
mod tables;

pub use expand::expand;
pub use place::placed;
pub use spec::{Experiment, ExperimentPoint};
