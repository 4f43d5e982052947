//! The rows of a table that differ.

use fabric::Topology;
use fabric::tables::{Bundles, Routing, Tree};

/// The rows of a table, one a layer and working terminal, each row of routes once: those to a
/// switch's terminals are often the same. A row is `layer * terminals + terminal`.
pub(super) struct Rows {
    /// Rows that differ from the last of these before them towards the same switch, in order.
    pub(super) distinct: Vec<usize>,
    /// All others, each with the distinct row that it equals.
    pub(super) alike: Vec<(usize, usize)>,
}

impl Rows {
    /// Those of `routing`. O(terminals * own entries).
    pub(super) fn of(routing: &Routing) -> Self {
        let on: &Topology = routing.topology();
        let (mut distinct, mut alike) = (Vec::new(), Vec::new());
        let mut bundles = Bundles::new(routing, routing.destinations());
        while let Some(bundle) = bundles.next_bundle() {
            let mut last: Option<(usize, Tree<'_>)> = None;
            for t in bundle.terminals {
                let row = bundle.layer as usize * on.terminals().len() + t.ix();
                let tree = routing.tree(bundle.layer, *t);
                let same =
                    |of: Tree<'_>| bundle.open.iter().all(|&v| of[v as usize] == tree[v as usize]);
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
