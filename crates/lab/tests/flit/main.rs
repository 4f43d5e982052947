//! Tests of the flit simulator against `BookSim`'s curves, the closed form, and itself.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod curves;
mod deadlock;
mod drawn;
mod experiment;
mod files;
mod invariants;
mod random;
mod reference;
mod sampling;
mod slow;
mod zero_load;
