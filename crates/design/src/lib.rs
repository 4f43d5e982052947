//! Networks for a wish: sizing, the search for graphs of small distance.

pub mod search;
pub mod sizing;
