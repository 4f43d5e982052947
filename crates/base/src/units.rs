//! Number types that carry their unit.

/// A span of time, in whole picoseconds: sums are exact, whatever their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Picoseconds(pub u64);

impl Picoseconds {
    /// The span in nanoseconds.
    pub fn ns(self) -> f64 {
        self.0 as f64 / 1000.0
    }
}
