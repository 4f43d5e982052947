//! What tables, or all paths, do to traffic: paths per channel, effective bisection bandwidth, and
//! maximum achievable throughput under given demands.

mod assignment;
pub mod demand;
pub mod ebb;
pub mod edge_load;
pub mod routes;
mod split;
pub mod throughput;
