//! The outcome of a check, with its evidence.

/// The outcome of a check: a witness, or a counterexample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict<W, C> {
    /// The property holds; the witness shows why.
    Holds(W),
    /// The property fails; the counterexample shows where.
    Fails(C),
}

impl<W, C> Verdict<W, C> {
    /// Whether the property holds.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds(_))
    }
}
