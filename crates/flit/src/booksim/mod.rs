//! What `BookSim` 2 calls by name: its networks and its routing functions, as they are there.

pub mod freedom;
pub mod networks;
pub mod routing;

use base::Refusal;
use paths::wiring::Wiring;

/// The network of a configuration, by its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// See [`networks::mesh`].
    Mesh {
        /// Routers in a dimension.
        k: u32,
        /// Dimensions.
        n: u32,
    },
    /// See [`networks::torus`].
    Torus {
        /// Routers in a dimension.
        k: u32,
        /// Dimensions.
        n: u32,
        /// Wires as long as the placement makes them.
        wires: bool,
    },
    /// See [`networks::flatfly`].
    FlatFly {
        /// Routers in a dimension.
        k: u32,
        /// Dimensions.
        n: u32,
        /// Routers in a row of the placement.
        x: u32,
        /// Endpoints of a router in a row of the placement.
        xr: u32,
        /// Wires as long as the placement makes them.
        wires: bool,
    },
    /// See [`networks::fattree`].
    FatTree {
        /// Links up, and links down, of a router.
        k: u32,
        /// Levels.
        n: u32,
    },
    /// See [`networks::dragonfly`].
    Dragonfly {
        /// Endpoints of a router.
        p: u32,
    },
    /// See [`networks::anynet`].
    Anynet {
        /// The neighbours of each router with the latency to them.
        neighbours: Vec<Vec<(u32, u32)>>,
        /// The endpoints of each router.
        endpoints: Vec<Vec<u32>>,
    },
}

impl Network {
    /// Its routers, ports and wires.
    ///
    /// # Errors
    /// When a router would have more than 65536 ports.
    ///
    /// # Panics
    /// As [`networks::anynet`].
    pub fn wiring(&self) -> Result<Wiring, Refusal> {
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
