//! What tables, or all paths, do to traffic: paths per channel and pair, congestion of patterns,
//! effective bisection bandwidth, and maximum achievable throughput under given demands.

pub mod congestion;
pub mod diversity;
pub mod ebb;
pub mod edge_load;
mod flows;
pub mod metric;
pub mod routes;
pub mod simulated;
mod split;
pub mod throughput;
