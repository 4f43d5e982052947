//! `tree:ARITY`: who has the message sends it to ARITY - 1 more in each level.

use super::kind::{Entry, Form, Message, powers};
use base::seed::Stream;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "tree",
    doc: "level l: each of the first A^l ranks i to i + j A^l, j = 1 to A - 1; A is 2",
    orcs: "ntree",
    wanted: "ARITY",
    make: |a| Ok(Box::new(Tree(a.whole(2, a.ranks, Some(2))?))),
    placed: false,
};

/// Of this arity.
#[derive(Debug)]
pub(super) struct Tree(pub(super) u32);

impl Form for Tree {
    fn levels(&self, ranks: u32) -> u32 {
        powers(u64::from(self.0), ranks)
    }

    fn messages(&self, level: u32, ranks: u32, _: &mut Stream) -> Vec<Message> {
        tree(u64::from(self.0), level, ranks)
    }
}

fn tree(arity: u64, level: u32, ranks: u32) -> Vec<Message> {
    let reach = arity.pow(level);
    let children = |i: u64| (1..arity).map(move |j| (i, i + j * reach));
    let within = |(_, to): &(u64, u64)| *to < u64::from(ranks);
    (0..reach.min(u64::from(ranks)))
        .flat_map(|i| children(i).take_while(within))
        .map(|(from, to)| (from as u32, to as u32))
        .collect()
}
