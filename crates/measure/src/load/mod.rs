//! Traffic over routing tables or over all paths: paths per channel and pair, congestion of
//! patterns, effective bisection bandwidth, and maximum achievable throughput under given demands.

pub mod busiest;
pub mod congestion;
mod flows;
pub mod metric;
mod rounding;
pub mod routes;
pub mod sent;
mod split;
pub mod throughput;

// gen:begin
pub mod diversity;
pub mod ebb;
pub mod edge_load;
pub mod simulated;
// gen:end
