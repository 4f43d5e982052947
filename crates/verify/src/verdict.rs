//! The outcome of a check, with its evidence.

/// The outcome of a check: a witness, or a counterexample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict<W, C> {
    /// It holds, and this shows why.
    Holds(W),
    /// It fails, and this shows where.
    Fails(C),
}

impl<W, C> Verdict<W, C> {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds(_))
    }
}
