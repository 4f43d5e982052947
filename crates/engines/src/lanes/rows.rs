//! Finds the rows of a routing table that differ.

use fabric::Topology;
use fabric::tables::{DestinationBundles, ForwardingTree, Routing};

/// The distinct rows of a routing table: rows towards the terminals of one switch are often equal.
/// There is one row per layer and working terminal, with number `layer * terminals + terminal`.
pub(super) struct DistinctTableRows {
    /// The rows that differ from the previous distinct row towards the same switch, in order.
    pub(super) distinct: Vec<usize>,
    /// All other rows, each with the distinct row that it equals.
    pub(super) alike: Vec<(usize, usize)>,
}

impl DistinctTableRows {
    /// Compares the rows of `routing`. O(terminals * entries that can differ).
    pub(super) fn of(routing: &Routing) -> Self {
        let on: &Topology = routing.topology();
        let (mut distinct, mut alike) = (Vec::new(), Vec::new());
        let mut bundles = DestinationBundles::new(routing, routing.destinations());
        while let Some(bundle) = bundles.next_bundle() {
            let mut last: Option<(usize, ForwardingTree<'_>)> = None;
            for t in bundle.terminals {
                let row = bundle.layer as usize * on.terminals().len() + t.ix();
                let tree = routing.tree(bundle.layer, *t);
                let same = |of: ForwardingTree<'_>| {
                    bundle.open.iter().all(|&v| of[v as usize] == tree[v as usize])
                };
                match last {
                    Some((first, of)) if same(of) => alike.push((row, first)),
                    _ => {
                        last = Some((row, tree));
                        distinct.push(row);
                    }
                }
            }
        }
        Self { distinct, alike }
    }
}
