//! The sets of paths that selections choose among.

/// The paths that a selection chooses among, which decide what is proved free of deadlock and how
/// virtual channels are divided into classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidatePaths {
    /// Minimal paths.
    Minimal,
    /// Minimal paths, and detours over an intermediate switch; the packet chooses at its source.
    Detours,
    /// As `Detours`; a packet on a minimal path may choose again after its first hop.
    ProgressiveDetours,
    /// On trees: up to a common ancestor of source and destination, then down.
    UpDown,
}
