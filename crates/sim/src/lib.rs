//! What needs a clock: simulators of networks under load.

pub mod booksim;
pub mod flit;
pub mod message;
pub mod packet;
pub mod select;
mod side_by_side;
