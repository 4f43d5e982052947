//! What tables, or all paths, do to traffic: paths per channel and pair, congestion of patterns,
//! effective bisection bandwidth, and maximum achievable throughput under given demands.

mod assignment;
pub mod congestion;
pub mod demand;
pub mod diversity;
pub mod ebb;
pub mod edge_load;
mod flows;
pub mod metric;
pub mod pattern;
pub mod routes;
mod split;
pub mod throughput;
