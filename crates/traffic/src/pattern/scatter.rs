//! `scatter`: rank 0 sends to everybody.

use super::kind::{Entry, Form, Message};
use base::part::Part;
use base::seed::Stream;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    part: Part::new("scatter", "rank 0 to all"),
    orcs: "scatter",
    make: |_| Ok(Box::new(Scatter)),
    placed: false,
};

/// All at once.
#[derive(Debug)]
struct Scatter;

impl Form for Scatter {
    fn messages(&self, _: u32, ranks: u32, _: &mut Stream) -> Vec<Message> {
        (1..ranks).map(|i| (0, i)).collect()
    }
}
