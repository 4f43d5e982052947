//! `bisect_symmetric`: rank i of each half sends to rank i of the other.

use super::bisect::halves;
use super::kind::{Entry, Form, Message};
use base::part::Part;
use base::seed::Stream;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    part: Part::new("bisect_symmetric", "i of the first half to i of the second, and back"),
    orcs: "bisect_fb_sym",
    make: |_| Ok(Box::new(Symmetric)),
    placed: false,
};

/// Both halves send.
#[derive(Debug)]
struct Symmetric;

impl Form for Symmetric {
    fn messages(&self, _: u32, ranks: u32, _: &mut Stream) -> Vec<Message> {
        halves(ranks).flat_map(|(a, b)| [(a, b), (b, a)]).collect()
    }
}
