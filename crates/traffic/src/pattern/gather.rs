//! `gather`: everybody sends to rank 0.

use super::kind::{Entry, Form, Message};
use base::part::Part;
use base::seed::Stream;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    part: Part::new("gather", "all to rank 0"),
    orcs: "gather",
    make: |_| Ok(Box::new(Gather)),
    placed: false,
};

/// All at once.
#[derive(Debug)]
struct Gather;

impl Form for Gather {
    fn messages(&self, _: u32, ranks: u32, _: &mut Stream) -> Vec<Message> {
        (1..ranks).map(|i| (i, 0)).collect()
    }
}
