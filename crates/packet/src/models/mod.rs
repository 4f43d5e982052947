//! Whose model of routers and endpoints: what each takes for granted and how its packets find
//! their paths, a file each, and one for all networks and tables.

mod dally;
mod dfplus;
mod groups;
mod guided;
mod kind;
mod order;
mod slim_fly;
mod table;

pub use guided::Guided;
pub(crate) use kind::{PathRequest, RATE};
pub use table::{Dialect, Route};
