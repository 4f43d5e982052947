//! The networks and routing functions of `BookSim` 2, by the names that they have there.

pub mod freedom;
pub mod networks;
pub mod routing;

use base::Refusal;
use paths::wiring::RouterWiring;

/// The network of a configuration, by its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookSimNetwork {
    /// See [`networks::mesh`].
    Mesh {
        /// Number of routers in each dimension.
        k: u32,
        /// Number of dimensions.
        n: u32,
    },
    /// See [`networks::torus`].
    Torus {
        /// Number of routers in each dimension.
        k: u32,
        /// Number of dimensions.
        n: u32,
        /// Whether links have the latencies of `BookSim`'s placement, instead of 1.
        wires: bool,
    },
    /// See [`networks::flatfly`].
    FlatFly {
        /// Number of routers in each dimension.
        k: u32,
        /// Number of dimensions.
        n: u32,
        /// Number of routers in a row of the placement.
        x: u32,
        /// Number of endpoints of a router in a row of the placement.
        xr: u32,
        /// Whether links have the latencies of `BookSim`'s placement, instead of 1.
        wires: bool,
    },
    /// See [`networks::fattree`].
    FatTree {
        /// Number of links up, and of links down, of a router.
        k: u32,
        /// Number of levels.
        n: u32,
    },
    /// See [`networks::dragonfly`].
    Dragonfly {
        /// Number of endpoints of a router.
        p: u32,
    },
    /// See [`networks::anynet`].
    Anynet {
        /// For each router, its neighbours with the latency of the channel to them.
        neighbours: Vec<Vec<(u32, u32)>>,
        /// For each router, the numbers of its endpoints.
        endpoints: Vec<Vec<u32>>,
    },
}

impl BookSimNetwork {
    /// Its routers, ports and wires.
    ///
    /// # Errors
    /// When a router would have more than 65536 ports.
    ///
    /// # Panics
    /// As [`networks::anynet`].
    pub fn wiring(&self) -> Result<RouterWiring, Refusal> {
        match self {
            Self::Mesh { k, n } => networks::mesh(*k, *n),
            Self::Torus { k, n, wires } => networks::torus(*k, *n, *wires),
            Self::FlatFly { k, n, x, xr, wires } => networks::flatfly(*k, *n, *x, *xr, *wires),
            Self::FatTree { k, n } => networks::fattree(*k, *n),
            Self::Dragonfly { p } => networks::dragonfly(*p),
            Self::Anynet { neighbours, endpoints } => networks::anynet(neighbours, endpoints),
        }
    }
}
