//! Estimates of the memory (an upper bound) and the time (rough) that work on a network will take.
//!
//! The factors were measured: bytes per item from the peak of resident memory, rates on one
//! processor of 2023. Estimated bytes are within a factor of two for networks that are not tiny
//! (`test_sizes.py` measures again), estimated seconds within an order of magnitude.

use crate::Topology;
use crate::tables::Routing;
use base::ResourceNeed;

/// The optional sections of a structure's record: which of them are to be computed.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, missing_docs)]
pub struct RequestedStructureSections {
    pub paths: bool,
    /// The number of hop bounds for disjoint paths (0: no such section), and the pairs of switches
    /// for each bound.
    pub disjoint: (u32, u64),
    pub load: bool,
    pub spectrum: bool,
    /// The number of starts of the search for a bisection; 0 for no such section.
    pub starts: u32,
}

/// The size of a network, and the number of threads that work on it. Floating point, so that no
/// number overflows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkSize {
    /// The number of switches.
    pub switches: f64,
    /// The number of switches that carry endpoints.
    pub edge: f64,
    /// The number of links between switches.
    pub links: f64,
    /// The number of rails of endpoints.
    pub terminals: f64,
    /// The most ports to other switches that a switch has.
    pub radix: f64,
    /// The number of hops across the network.
    pub depth: f64,
    /// The number of switches from which a search of all pairs starts: 1 where one stands for all.
    pub sources: f64,
    /// The number of threads.
    pub threads: f64,
}

impl NetworkSize {
    /// The size of the network `t`; its depth is the greatest distance from one switch. O(network).
    pub fn of(t: &Topology, threads: usize) -> Self {
        let edge = t.edge_switches();
        let from = edge.first().map(|&v| t.graph().distances_from(v as usize));
        let depth = from.iter().flatten().filter(|&&d| d < u32::MAX).max().copied().unwrap_or(0);
        let one = t.is_vertex_transitive();
        Self {
            switches: t.switches().len() as f64,
            edge: edge.len() as f64,
            links: t.links().len() as f64,
            terminals: t.terminals().len() as f64,
            radix: f64::from(t.network_radix()),
            depth: f64::from(depth),
            sources: if one { 1.0 } else { edge.len() as f64 },
            threads: threads as f64,
        }
    }

    fn items(&self) -> f64 {
        self.switches + self.links + self.terminals
    }

    /// The number of channels between switches.
    pub fn arcs(&self) -> f64 {
        2.0 * self.links
    }

    /// The number of table entries towards terminals in `layers` layers.
    pub fn entries(&self, layers: u32) -> f64 {
        f64::from(layers) * self.terminals * self.switches
    }

    /// The need of building the network.
    pub fn build(&self) -> ResourceNeed {
        let bytes = 320.0 * self.switches + 110.0 * self.links + 160.0 * self.terminals;
        ResourceNeed::new(bytes, 0.5e-6 * self.items())
    }

    /// The need of reading the network from a file of this number of bytes and lines.
    pub fn read(bytes: usize, lines: usize) -> ResourceNeed {
        let (bytes, lines) = (bytes as f64, lines as f64);
        ResourceNeed::new(10.0 * bytes + 100.0 * lines, 0.1e-6 * bytes)
    }

    /// The need of the distances between all pairs of `set` switches: [`base::distance`].
    fn distances(&self, set: f64) -> ResourceNeed {
        let sweeps = (set / 512.0).ceil();
        let steps = sweeps * self.depth * self.arcs();
        let at_once = self.threads.min(sweeps);
        ResourceNeed::new(
            self.switches * (192.0 * at_once + 190.0),
            10e-9 * steps / at_once.max(1.0),
        )
    }

    /// The need of measuring the network's structure.
    pub fn structure(&self, which: &RequestedStructureSections) -> ResourceNeed {
        let mut need = self.distances(self.edge);
        if self.edge < self.switches {
            need = need.then(self.distances(self.switches));
        }
        let (arcs, threads) = (self.arcs(), self.threads);
        let search = self.sources * arcs / threads;
        if which.paths {
            let bytes = 32.0 * self.switches * threads;
            need = need.then(ResourceNeed::new(bytes, 8e-9 * search));
        }
        if let (bounds @ 1.., pairs) = which.disjoint {
            let flows = ResourceNeed::new(
                threads * (5.0 * self.links + 48.0 * self.switches),
                20e-9 * self.edge * arcs / threads,
            );
            let pairs = (pairs as f64).min(self.sources * self.edge) * f64::from(bounds);
            let bounded = 15e-9 * pairs * self.radix * self.radix / threads;
            need = need.then(flows).then(ResourceNeed::new(0.0, bounded));
        }
        if which.load {
            need = need.then(ResourceNeed::new(520.0 * self.links, 30e-9 * search));
        }
        if which.spectrum {
            let bytes = 12.0 * arcs + 1600.0 * self.switches;
            need =
                need.then(ResourceNeed::new(bytes, 10e-9 * 1500.0 * (arcs + 20.0 * self.switches)));
        }
        if which.starts > 0 {
            let bytes = 500.0 * self.links + 1000.0 * self.switches;
            let cuts = 1e-6 * f64::from(which.starts) * self.links / threads;
            need = need.then(ResourceNeed::new(bytes, cuts + 30e-9 * search));
        }
        need
    }

    /// The need of removing `items` links or switches at random, `samples` times. `distances` says
    /// whether distances are measured, too, and not only whether the network is still connected.
    pub fn resilience(&self, items: usize, samples: u32, distances: bool) -> ResourceNeed {
        let each = self.distances(self.edge);
        let tries = if distances { (items as f64).max(2.0).log2().ceil() } else { 0.0 };
        let one = 30e-9 * self.links + tries * each.seconds;
        let bytes = self.threads * (60.0 * self.links + 400.0 * self.switches);
        ResourceNeed::new(bytes, one * f64::from(samples) / self.threads)
    }

    /// The need of laying the network out in racks, with the list of cables as text where `listed`.
    pub fn plan(&self, listed: bool) -> ResourceNeed {
        if !listed {
            return ResourceNeed::new(150.0 * self.items(), 1e-6 * self.items());
        }
        let bytes = 600.0 * self.switches + 420.0 * self.links + 1100.0 * self.terminals;
        ResourceNeed::new(bytes, 5e-6 * self.items())
    }

    /// The need of writing the network as text.
    pub fn text(&self) -> ResourceNeed {
        ResourceNeed::new(350.0 * self.items(), 1e-6 * self.items())
    }

    /// The need of reading tables from a file.
    pub fn tables(&self, layers: u32) -> ResourceNeed {
        let (entries, pairs) = (self.entries(layers), self.switches * self.switches);
        let searches = self.switches * self.arcs() * f64::from(layers);
        ResourceNeed::new(4.4 * entries + 19.0 * pairs, 1e-9 * (5.0 * searches + 25.0 * entries))
    }

    /// The need of `work` along all routes of `routing`.
    pub fn along(&self, routing: &Routing, work: RouteWorkKind) -> ResourceNeed {
        self.of_rows(routing.layers(), routing.kept_entries() as f64, work)
    }

    /// The need of `work` along all routes of tables of `layers` layers that do not exist yet.
    pub fn along_any(&self, layers: u32, work: RouteWorkKind) -> ResourceNeed {
        self.of_rows(layers, self.entries(layers), work)
    }

    /// The need of `work` along all routes of tables that store `kept` entries.
    fn of_rows(&self, layers: u32, kept: f64, work: RouteWorkKind) -> ResourceNeed {
        let (entries, arcs) = (self.entries(layers), self.arcs());
        // hops that the terminals of a switch share are walked once
        let shared = matches!(
            work,
            RouteWorkKind::Proof
                | RouteWorkKind::Certificate
                | RouteWorkKind::Hops
                | RouteWorkKind::Load
        );
        let walked = if shared { kept } else { entries };
        // two bytes for every possible turn from one channel to the next
        let turns = 2.0 * arcs * self.radix;
        // the entries on all routes; in rings and tori the mean length is half of the longest
        let all = walked * (1.0 + self.depth / 2.0);
        let (bytes, walks) = match work {
            RouteWorkKind::Proof => (0.1 * walked + 80.0 * arcs + turns, 1.0),
            RouteWorkKind::Certificate => (0.1 * walked + 170.0 * arcs + turns, 1.5),
            RouteWorkKind::Lanes => (4.0 * all + 12.0 * arcs + turns, 20.0),
            RouteWorkKind::Hops => {
                (if self.depth > 2.0 { 2.0 * entries } else { 0.0 } + 12.0 * arcs + turns, 1.0)
            }
            RouteWorkKind::Repair => (6.0 * entries + turns, 0.4),
            RouteWorkKind::Load => (0.1 * walked + 8.0 * arcs, 0.3),
            RouteWorkKind::Patterns(n, messages) => {
                // what each run stores about its messages and about the channels that they take
                let routes = messages as f64 * f64::from(layers);
                let runs = self.threads.min(f64::from(n));
                let each = runs * (32.0 * messages as f64 + routes * (16.0 + 8.0 * self.depth));
                let shares = messages as f64 / self.terminals.max(1.0);
                let times = f64::from(n) * shares.max(1.0) / self.switches.max(1.0);
                (520.0 * arcs + each, times)
            }
            RouteWorkKind::Paths => (0.2 * entries, 1.0),
            RouteWorkKind::Listing => (170.0 * entries, 2.0),
            RouteWorkKind::Table => (9.0 * entries, 0.3),
            RouteWorkKind::Digraph => (14.0 * entries, 1.0),
            RouteWorkKind::Whole => (2.1 * entries, 0.1),
        };
        ResourceNeed::new(bytes, 60e-9 * walks * all / self.threads)
    }
}

/// A kind of work along all routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteWorkKind {
    /// Proving the tables.
    Proof,
    /// Writing the certificate of a proof as text.
    Certificate,
    /// Assigning lanes to the routes, by every method.
    Lanes,
    /// Assigning lanes to the routes by hops.
    Hops,
    /// Repairing the tables.
    Repair,
    /// Counting the routes over every channel.
    Load,
    /// Routing traffic patterns: the number of patterns, and the messages that each sends at once.
    Patterns(u32, u64),
    /// Finding disjoint paths.
    Paths,
    /// Writing the tables as a subnet manager lists them.
    Listing,
    /// Writing the tables as the plug-in reads them.
    Table,
    /// Writing the tables as a digraph.
    Digraph,
    /// Storing a whole row for each terminal.
    Whole,
}
