//! What tables, or all paths, do to traffic: paths per channel and pair, effective bisection
//! bandwidth, and maximum achievable throughput under given demands.

mod assignment;
pub mod demand;
pub mod diversity;
pub mod ebb;
pub mod edge_load;
pub mod routes;
mod split;
pub mod throughput;
