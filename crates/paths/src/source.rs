//! The source of the paths of packets: a network, or its forwarding tables.

use fabric::Topology;
use fabric::tables::Routing;
use std::sync::Arc;

/// The paths that a simulator uses: those of a network, or those of forwarding tables over it.
#[derive(Debug, Clone)]
pub enum PathSource {
    /// A network: a selection chooses among its paths, or packets take its shortest ones.
    Network(Arc<Topology>),
    /// Forwarding tables.
    Tables(Box<Routing>),
}

impl PathSource {
    /// The tables `routing` where they are given, otherwise the network.
    pub fn of(topology: &Arc<Topology>, routing: Option<&Routing>) -> Self {
        match routing {
            Some(routing) => Self::Tables(Box::new(routing.clone())),
            None => Self::Network(topology.clone()),
        }
    }

    /// The network, or the network of the tables.
    pub fn topology(&self) -> &Arc<Topology> {
        match self {
            Self::Network(topology) => topology,
            Self::Tables(routing) => routing.topology(),
        }
    }
}
