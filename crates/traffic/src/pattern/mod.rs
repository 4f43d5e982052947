//! Communication patterns: who sends to whom, level by level, among ranks 0 to n - 1.
//!
//! Source: Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing congestion simulator",
//! Indiana University, Technical Report 675, 2009, and the patterns of its program; Dally, Towles,
//! "Principles and practices of interconnection networks", 2004, section 3.2 (permutations).
//!
//! A pattern is one file beside this one with its row, `ENTRY`; `cargo xtask gen` puts it into the
//! table.

mod asked;
mod bits;
pub mod booksim;
mod fixed;
mod kind;
mod null;
// That of docs/adding-a-pattern.md, under a name that adding it leaves free.
#[cfg(test)]
#[path = "../../../../docs/parts/pairwise.rs"]
mod page_pairwise;
mod places;
mod text;

pub use kind::RankMessage;

use crate::destinations::PacketDestinations;
use asked::{PatternRequest, refused};
use base::part::Part;
use base::seed::Stream;
use base::taken::taken_by;
use base::words::did_you_mean;
use base::{Quiet, Refusal, Stop, Watch};
use fabric::network::Topology;
use fabric::tables::Routing;
use kind::{MessagePattern, PatternEntry};
use null::NullPattern;
use serde_json::Map;

// gen:begin
mod all_to_all;
mod binomial;
mod bisect;
mod bisect_symmetric;
mod bit_complement;
mod bit_reverse;
mod bruck;
mod gather;
mod hotspot;
mod neighbour;
mod neighbours;
mod permutation;
mod receivers;
mod receivers_one;
mod recursive_doubling;
mod ring;
mod scatter;
mod shift;
mod shuffle;
mod stencil;
mod token_ring;
mod tornado;
mod transpose;
mod tree;
mod uniform;
mod worst_case;

/// All patterns, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
const ENTRIES: &[PatternEntry] = &[
    all_to_all::ENTRY,
    binomial::ENTRY,
    bisect::ENTRY,
    bisect_symmetric::ENTRY,
    bit_complement::ENTRY,
    bit_reverse::ENTRY,
    bruck::ENTRY,
    gather::ENTRY,
    hotspot::ENTRY,
    neighbour::ENTRY,
    neighbours::ENTRY,
    permutation::ENTRY,
    receivers::ENTRY,
    receivers_one::ENTRY,
    recursive_doubling::ENTRY,
    ring::ENTRY,
    scatter::ENTRY,
    shift::ENTRY,
    shuffle::ENTRY,
    stencil::ENTRY,
    token_ring::ENTRY,
    tornado::ENTRY,
    transpose::ENTRY,
    tree::ENTRY,
    uniform::ENTRY,
    worst_case::ENTRY,
];
// gen:end

/// A communication pattern of ranks: who sends to whom.
#[derive(Debug)]
pub struct Pattern {
    name: &'static str,
    form: Box<dyn MessagePattern>,
}

impl Pattern {
    /// The names of all patterns, ours.
    pub fn names() -> Vec<&'static str> {
        Self::all().map(|part| part.name).collect()
    }

    /// All patterns, ours: their names, who sends to whom, and their parameters.
    pub fn all() -> impl Iterator<Item = &'static Part> {
        ENTRIES.iter().map(|entry| &entry.part)
    }

    /// The name in a text that asks for a pattern, whatever follows it.
    pub fn name_in(text: &str) -> &str {
        text::split(text).0
    }

    /// The pattern `NAME`, `NAME:WORD,...` or `NAME WORD ...` for `ranks` ranks, where a word is
    /// `KEY=VALUE` or the value of its next parameter. One that goes by places, such as `tornado`,
    /// takes each rank for a switch of its own.
    ///
    /// # Errors
    /// When there is no such pattern, its argument does not fit it or the number of ranks, or there
    /// are fewer than two ranks.
    pub fn parse(text: &str, ranks: u32) -> Result<Self, Refusal> {
        // without a network there is nothing to search, so nobody stops it
        Self::asked(text, ranks, (None, None), false, &Quiet).map_err(|stop| match stop {
            Stop::Refused(refusal) => refusal,
            Stop::Interrupted(_) => unreachable!("nobody could stop it"),
        })
    }

    /// The same for the working endpoints of `t` in their order, `ranks` of them, which patterns
    /// that go by places look at; `worst_case` looks at `tables` too, where there are some.
    ///
    /// # Errors
    /// As [`Pattern::parse`], or `watch` says stop.
    pub fn on(
        t: &Topology,
        tables: Option<&Routing>,
        text: &str,
        ranks: u32,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        Self::asked(text, ranks, (Some(t), tables), false, watch)
    }

    /// The same for a simulator, which draws from it and holds no list of messages.
    ///
    /// # Errors
    /// As [`Pattern::on`].
    pub(crate) fn drawn(
        t: &Topology,
        tables: Option<&Routing>,
        text: &str,
        ranks: u32,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        Self::asked(text, ranks, (Some(t), tables), true, watch)
    }

    fn asked(
        text: &str,
        ranks: u32,
        (network, tables): (Option<&Topology>, Option<&Routing>),
        drawn: bool,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        let (name, argument) = text::split(text);
        let argument = argument.as_deref();
        if name == "null" && argument.is_none() {
            return Ok(Self { name: "null", form: Box::new(NullPattern) });
        }
        let known = |entry: &&PatternEntry| name == entry.part.name || name == entry.orcs;
        let Some(entry) = ENTRIES.iter().find(known).filter(|_| !name.is_empty()) else {
            let why = format!("there is no '{name}'");
            let help = did_you_mean(name, Self::names()) + &Self::names().join(", ");
            return Err(Refusal::new("pattern", why, help + ", null, two_jobs").into());
        };
        if ranks < 2 {
            let why = format!("{name} among {ranks} endpoints");
            return Err(Refusal::new("endpoints", why, "a pattern needs at least 2").into());
        }
        let part = &entry.part;
        let given = match argument {
            None => Map::new(),
            Some(_) if part.schema()["properties"].is_null() => {
                return Err(refused(name, argument, format!("{name} takes none")).into());
            }
            Some(words) => text::parameters(part, words).map_err(|word| {
                let help = format!("'{word}': {}", taken_by(&part.schema(), name, ""));
                refused(name, argument, help)
            })?,
        };
        let asked =
            PatternRequest { name, argument, given, part, ranks, network, tables, watch, drawn };
        Ok(Self { name: part.name, form: (entry.make)(&asked)? })
    }

    /// Whether the pattern of this text, on all endpoints of a network, goes by where they are.
    pub fn goes_by_places(text: &str) -> bool {
        let name = Self::name_in(text);
        ENTRIES.iter().any(|entry| entry.placed && entry.part.name == name)
    }

    /// Its name, without the argument.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How many levels it has among `ranks` ranks: messages of one level are sent at once.
    pub fn levels(&self, ranks: u32) -> u32 {
        self.form.levels(ranks)
    }

    /// No fewer than the messages of any level among `ranks` ranks.
    pub fn most_messages(&self, ranks: u32) -> u64 {
        self.form.most_messages(ranks)
    }

    /// The messages of `level`, below [`Self::levels`]; a rank never sends to itself. `draw` gives
    /// the random choices. O(messages).
    pub fn messages(&self, level: u32, ranks: u32, draw: &mut Stream) -> Vec<RankMessage> {
        self.form.messages(level, ranks, draw)
    }

    /// How much each rank sends to whom, in an endpoint's full rates, where this is not 1 for each
    /// of the messages: what patterns that draw their destinations amount to.
    pub fn amounts(&self, ranks: u32) -> Option<Vec<(u32, u32, f64)>> {
        self.form.amounts(ranks)
    }

    /// What a simulator of `ranks` endpoints draws from; what is left to chance once is drawn by
    /// `seed`.
    ///
    /// # Errors
    /// When nothing is sent, or too much to list.
    pub fn destinations(&self, ranks: u32, seed: u64) -> Result<PacketDestinations, Refusal> {
        self.form.destinations(ranks, seed)
    }
}
