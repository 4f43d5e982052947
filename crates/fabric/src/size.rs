//! What work on a network will take, known before it begins: memory at most, and time roughly.
//!
//! The figures were measured: bytes an item from the peak of resident memory, rates from one
//! processor of 2023. Bytes are within a factor of two for networks of some size (`test_sizes.py`
//! measures again), seconds are no more than an order of magnitude.

use crate::Topology;
use crate::tables::Routing;
use base::ResourceNeed;

/// The sections of a structure beyond its first figures.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, missing_docs)]
pub struct StructureSections {
    pub paths: bool,
    /// Bounds on the hops of disjoint paths, 0 for none of this section, and pairs for each.
    pub disjoint: (u32, u64),
    pub load: bool,
    pub spectrum: bool,
    /// Starts of the search for a bisection, 0 for none.
    pub starts: u32,
}

/// The size of a network, and the number of threads that work on it. Floating point, so that no
/// number overflows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkSize {
    /// Switches.
    pub switches: f64,
    /// Switches that carry endpoints.
    pub edge: f64,
    /// Links between switches.
    pub links: f64,
    /// Rails of endpoints.
    pub terminals: f64,
    /// Most ports to other switches.
    pub radix: f64,
    /// Hops across it.
    pub depth: f64,
    /// Switches that a search of all pairs starts from, where one may stand for all.
    pub sources: f64,
    /// Processors.
    pub threads: f64,
}

impl NetworkSize {
    /// The size of a network as it is; its depth is that of one search. O(network).
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

    /// Channels between switches.
    pub fn arcs(&self) -> f64 {
        2.0 * self.links
    }

    /// Table entries towards terminals of `layers` layers.
    pub fn entries(&self, layers: u32) -> f64 {
        f64::from(layers) * self.terminals * self.switches
    }

    /// Building it.
    pub fn build(&self) -> ResourceNeed {
        let bytes = 320.0 * self.switches + 110.0 * self.links + 160.0 * self.terminals;
        ResourceNeed::new(bytes, 0.5e-6 * self.items())
    }

    /// Reading it from a file of this number of bytes and lines.
    pub fn read(bytes: usize, lines: usize) -> ResourceNeed {
        let (bytes, lines) = (bytes as f64, lines as f64);
        ResourceNeed::new(10.0 * bytes + 100.0 * lines, 0.1e-6 * bytes)
    }

    /// Distances between all pairs of `set` switches: [`base::distance`].
    fn distances(&self, set: f64) -> ResourceNeed {
        let sweeps = (set / 512.0).ceil();
        let steps = sweeps * self.depth * self.arcs();
        let at_once = self.threads.min(sweeps);
        ResourceNeed::new(
            self.switches * (192.0 * at_once + 190.0),
            10e-9 * steps / at_once.max(1.0),
        )
    }

    /// Measuring its structure.
    pub fn structure(&self, which: &StructureSections) -> ResourceNeed {
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

    /// Removing links or switches (`items` of them) at random, `samples` times; `distances` where
    /// more is asked than whether it is still connected.
    pub fn resilience(&self, items: usize, samples: u32, distances: bool) -> ResourceNeed {
        let each = self.distances(self.edge);
        let tries = if distances { (items as f64).max(2.0).log2().ceil() } else { 0.0 };
        let one = 30e-9 * self.links + tries * each.seconds;
        let bytes = self.threads * (60.0 * self.links + 400.0 * self.switches);
        ResourceNeed::new(bytes, one * f64::from(samples) / self.threads)
    }

    /// Laying it out in racks, with the list of cables as text where `listed`.
    pub fn plan(&self, listed: bool) -> ResourceNeed {
        if !listed {
            return ResourceNeed::new(150.0 * self.items(), 1e-6 * self.items());
        }
        let bytes = 600.0 * self.switches + 420.0 * self.links + 1100.0 * self.terminals;
        ResourceNeed::new(bytes, 5e-6 * self.items())
    }

    /// The network as text.
    pub fn text(&self) -> ResourceNeed {
        ResourceNeed::new(350.0 * self.items(), 1e-6 * self.items())
    }

    /// Tables read from a file.
    pub fn tables(&self, layers: u32) -> ResourceNeed {
        let (entries, pairs) = (self.entries(layers), self.switches * self.switches);
        let searches = self.switches * self.arcs() * f64::from(layers);
        ResourceNeed::new(4.4 * entries + 19.0 * pairs, 1e-9 * (5.0 * searches + 25.0 * entries))
    }

    /// Work along all routes of `routing`.
    pub fn along(&self, routing: &Routing, work: RouteWork) -> ResourceNeed {
        self.of_rows(routing.layers(), routing.kept_entries() as f64, work)
    }

    /// Work along all routes of tables of `layers` layers that do not exist yet.
    pub fn along_any(&self, layers: u32, work: RouteWork) -> ResourceNeed {
        self.of_rows(layers, self.entries(layers), work)
    }

    /// Work along all routes of tables that keep this number of entries.
    fn of_rows(&self, layers: u32, kept: f64, work: RouteWork) -> ResourceNeed {
        let (entries, arcs) = (self.entries(layers), self.arcs());
        // what terminals share is walked once
        let shared = matches!(
            work,
            RouteWork::Proof | RouteWork::Certificate | RouteWork::Hops | RouteWork::Load
        );
        let walked = if shared { kept } else { entries };
        // two bytes for every turn from one channel to the next, taken or not
        let turns = 2.0 * arcs * self.radix;
        // a walk along all routes; in rings and tori the mean is half of the longest
        let all = walked * (1.0 + self.depth / 2.0);
        let (bytes, walks) = match work {
            RouteWork::Proof => (0.1 * walked + 80.0 * arcs + turns, 1.0),
            RouteWork::Certificate => (0.1 * walked + 170.0 * arcs + turns, 1.5),
            RouteWork::Lanes => (4.0 * all + 12.0 * arcs + turns, 20.0),
            RouteWork::Hops => {
                (if self.depth > 2.0 { 2.0 * entries } else { 0.0 } + 12.0 * arcs + turns, 1.0)
            }
            RouteWork::Repair => (6.0 * entries + turns, 0.4),
            RouteWork::Load => (0.1 * walked + 8.0 * arcs, 0.3),
            RouteWork::Patterns(n, messages) => {
                // what a run notes of its messages and of the channels that they take
                let routes = messages as f64 * f64::from(layers);
                let runs = self.threads.min(f64::from(n));
                let each = runs * (32.0 * messages as f64 + routes * (16.0 + 8.0 * self.depth));
                let shares = messages as f64 / self.terminals.max(1.0);
                let times = f64::from(n) * shares.max(1.0) / self.switches.max(1.0);
                (520.0 * arcs + each, times)
            }
            RouteWork::Paths => (0.2 * entries, 1.0),
            RouteWork::Listing => (170.0 * entries, 2.0),
            RouteWork::Table => (9.0 * entries, 0.3),
            RouteWork::Digraph => (14.0 * entries, 1.0),
            RouteWork::Whole => (2.1 * entries, 0.1),
        };
        ResourceNeed::new(bytes, 60e-9 * walks * all / self.threads)
    }
}

/// Work along all routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteWork {
    /// The proof of the tables.
    Proof,
    /// The certificate of a proof, as text.
    Certificate,
    /// Giving the routes lanes, by every method.
    Lanes,
    /// Giving the routes lanes by hops.
    Hops,
    /// A repair.
    Repair,
    /// Routes over every channel.
    Load,
    /// Patterns of traffic: how many, and the messages that each sends at once.
    Patterns(u32, u64),
    /// Disjoint paths.
    Paths,
    /// The tables as a subnet manager lists them.
    Listing,
    /// The tables as the plug-in reads them.
    Table,
    /// The tables as a digraph.
    Digraph,
    /// A whole row for each terminal.
    Whole,
}
