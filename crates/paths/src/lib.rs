//! How packets find their paths, as all simulators share it: wiring, guides, selections, proofs.
//!
//! A network as routers see it ([`wiring`]), what chooses the next hop of a packet ([`guide`],
//! [`select`]), the proof that the choice is free of deadlock ([`proved`]), the words that the
//! simulators have in common for loads, rails and lanes, and how runs differ by their seeds
//! ([`over_seeds`]). Nothing here has a clock.

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

pub use source::NetworkOrTables;

/// Time through a switch unless a run says another, ns: of packets and of messages.
///
/// Source: the `router_delay` of the Slim Fly and Fit Fly configurations of CODES, 90 ns.
pub const SWITCH_DELAY_NS: f64 = 90.0;
