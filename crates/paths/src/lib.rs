//! How packets find their paths, as all simulators share it: wiring, guides, selections, proofs.
//!
//! The crate has a network as routers see it ([`wiring`]), the functions that choose the next hop
//! of a packet ([`guide`], [`select`]), the proof that the choice is free of deadlock ([`proved`]),
//! the parameters for loads, rails and lanes that the simulators share, and statistics over runs
//! with different seeds ([`over_seeds`]). Nothing here has a clock.

pub mod guide;
pub mod lengths;
pub mod loads;
pub mod over_seeds;
pub mod proved;
pub mod saturation;
pub mod select;
pub mod side_by_side;
mod source;
pub mod wiring;
pub mod word;

pub use source::PathSource;

/// The delay of a switch unless the parameters of a run give another, in ns, for packets and
/// messages.
///
/// Source: the `router_delay` of the Slim Fly and Fit Fly configurations of CODES, 90 ns.
pub const SWITCH_DELAY_NS: f64 = 90.0;
