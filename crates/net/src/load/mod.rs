//! What given tables do to traffic: paths per channel and pair, effective bisection bandwidth.

pub mod diversity;
pub mod ebb;
pub mod edge_load;
