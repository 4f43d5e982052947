//! `token_ring`: one message goes around; in level i rank i sends to the next.

use super::kind::{Entry, Form, Message};
use base::part::Part;
use base::seed::Stream;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    part: Part::new("token_ring", "level i: i to i + 1, one after the other"),
    orcs: "token_ring",
    make: |_| Ok(Box::new(TokenRing)),
    placed: false,
};

/// One message a level.
#[derive(Debug)]
struct TokenRing;

impl Form for TokenRing {
    fn levels(&self, ranks: u32) -> u32 {
        ranks
    }

    fn most_messages(&self, _: u32) -> u64 {
        1
    }

    fn messages(&self, level: u32, ranks: u32, _: &mut Stream) -> Vec<Message> {
        vec![(level, (level + 1) % ranks)]
    }
}
