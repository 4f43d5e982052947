//! What given tables do to traffic: paths per channel, and effective bisection bandwidth.

pub mod ebb;
pub mod edge_load;
