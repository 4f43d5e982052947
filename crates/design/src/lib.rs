//! Networks for a wish: sizing, the search for graphs of small distance; and which network a fabric
//! is.

pub mod identify;
pub mod search;
pub mod sizing;
