//! `shift:K`: rank i sends to rank i + K, around the end.

use super::kind::{Entry, Form, Message};
use base::seed::Stream;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "shift",
    doc: "i to i + K, around the end; K is 1, in a simulator half of the ranks",
    orcs: "shift",
    wanted: "K",
    make: |a| Ok(Box::new(Shift(a.whole(1, a.ranks - 1, Some(1))?))),
    placed: false,
};

/// How far a rank's receiver is from it.
#[derive(Debug)]
pub(super) struct Shift(pub(super) u32);

impl Form for Shift {
    fn messages(&self, _: u32, ranks: u32, _: &mut Stream) -> Vec<Message> {
        around(ranks, u64::from(self.0))
    }
}

/// Everybody to the rank `step` further.
pub(super) fn around(ranks: u32, step: u64) -> Vec<Message> {
    let to = |i: u32| ((u64::from(i) + step) % u64::from(ranks)) as u32;
    (0..ranks).map(|i| (i, to(i))).collect()
}
