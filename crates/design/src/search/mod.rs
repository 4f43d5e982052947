//! Graph search: networks of given order and degree with least diameter and mean distance.
//!
//! The order/degree problem asks for a graph of `order` vertices, each of degree at most `degree`,
//! with the least diameter and, among those, the least mean distance. [`bounds`] computes lower
//! bounds, [`anneal`] searches for good graphs. Vertices are switches; [`host`] adds endpoints (the
//! order/radix problem).
//!
//! Source: "Graph Golf", the order/degree problem competition, National Institute of Informatics,
//! 2015 to 2021, problem statement.

pub mod anneal;
pub mod bounds;
pub mod host;
mod orbits;
mod reach;
mod starts;
mod walks;

pub use reach::GraphScore;

use base::Refusal;

/// Most vertices of a problem.
pub const MAX_ORDER: u32 = 1 << 16;
/// Most vertices times degree of a problem.
pub const MAX_ARCS: u64 = 1 << 24;

/// An instance of the order/degree problem that has a connected solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderDegreeProblem {
    order: u32,
    degree: u32,
}

impl OrderDegreeProblem {
    /// The problem of `order` vertices of degree at most `degree`.
    ///
    /// # Errors
    /// When `order` is not in `2..=MAX_ORDER`, `degree` is not in `1..order`, the two make more
    /// than [`MAX_ARCS`] arcs, or no graph of them is connected (degree 1, more than two vertices).
    pub fn new(order: u32, degree: u32) -> Result<Self, Refusal> {
        if !(2..=MAX_ORDER).contains(&order) {
            let why = format!("{order} vertices are out of range");
            return Err(Refusal::new("order", why, format!("2 to {MAX_ORDER}")));
        }
        let low = if order == 2 { 1 } else { 2 };
        let high = (order - 1).min((MAX_ARCS / u64::from(order)) as u32);
        if !(low..=high).contains(&degree) {
            let why = if degree < low {
                format!("{order} vertices of degree {degree} are never connected")
            } else {
                format!("{degree} is too high for {order} vertices")
            };
            return Err(Refusal::new("degree", why, format!("{low} to {high}")));
        }
        Ok(Self { order, degree })
    }

    /// Number of vertices.
    pub fn order(self) -> u32 {
        self.order
    }

    /// Most edges of a vertex.
    pub fn degree(self) -> u32 {
        self.degree
    }

    /// Whether some vertex must stay below the degree because degrees sum to an even number.
    pub fn is_odd(self) -> bool {
        self.order % 2 == 1 && self.degree % 2 == 1
    }
}
