//! Communication patterns: who sends to whom, level by level, among ranks 0 to n - 1.
//!
//! Source: Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing congestion simulator",
//! Indiana University, Technical Report 675, 2009, and the patterns of its program; Dally, Towles,
//! "Principles and practices of interconnection networks", 2004, section 3.2 (permutations).
//!
//! To add a pattern, put a file with its `ENTRY` beside this one; `cargo xtask gen` adds it to the
//! table.

mod asked;
mod bits;
pub mod booksim;
mod fixed;
mod kind;
mod null;
// The pattern of docs/adding-a-pattern.md, under a name that does not collide with it once added.
#[cfg(test)]
#[path = "../../../../docs/parts/pairwise.rs"]
mod page_pairwise;
mod places;
mod text;

pub use kind::RankMessage;

use crate::destinations::PacketDestinations;
use asked::{PatternRequest, refused};
use base::part::PartDescription;
use base::seed::RandomStream;
use base::taken::taken_by;
use base::words::did_you_mean;
use base::{ComputationError, ProgressWatch, QuietWatch, Refusal};
use fabric::network::Topology;
use fabric::tables::Routing;
use kind::{MessagePattern, PatternKindEntry};
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
const ENTRIES: &[PatternKindEntry] = &[
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
pub struct CommunicationPattern {
    name: &'static str,
    form: Box<dyn MessagePattern>,
}

impl CommunicationPattern {
    /// The names of all of flyloom's patterns.
    pub fn names() -> Vec<&'static str> {
        Self::all().map(|part| part.name).collect()
    }

    /// All of flyloom's patterns: their names, descriptions and parameters.
    pub fn all() -> impl Iterator<Item = &'static PartDescription> {
        ENTRIES.iter().map(|entry| &entry.part)
    }

    /// The pattern's name in a text, without its argument.
    pub fn name_in(text: &str) -> &str {
        text::split(text).0
    }

    /// The pattern `NAME`, `NAME:WORD,...` or `NAME WORD ...` for `ranks` ranks; a word is
    /// `KEY=VALUE`, or the value of the next parameter. A pattern that depends on switches, such as
    /// `tornado`, takes each rank for a switch of its own.
    ///
    /// # Errors
    /// When there is no such pattern, its argument is invalid or does not fit the number of ranks,
    /// or there are fewer than two ranks.
    pub fn parse(text: &str, ranks: u32) -> Result<Self, Refusal> {
        // without a network no search is needed that could be stopped
        Self::asked(text, ranks, (None, None), false, &QuietWatch).map_err(|stop| match stop {
            ComputationError::Refused(refusal) => refusal,
            ComputationError::Interrupted(_) => unreachable!("nobody could stop it"),
        })
    }

    /// As [`CommunicationPattern::parse`], for ranks that are the first `ranks` working endpoints
    /// of `t`. Patterns that depend on switches use `t`; `worst_case` also uses `tables` if there
    /// are any.
    ///
    /// # Errors
    /// As [`CommunicationPattern::parse`], or `watch` says stop.
    pub fn on(
        t: &Topology,
        tables: Option<&Routing>,
        text: &str,
        ranks: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        Self::asked(text, ranks, (Some(t), tables), false, watch)
    }

    /// As [`CommunicationPattern::on`], for a simulator, which draws destinations and never lists
    /// messages.
    ///
    /// # Errors
    /// As [`CommunicationPattern::on`].
    pub(crate) fn drawn(
        t: &Topology,
        tables: Option<&Routing>,
        text: &str,
        ranks: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        Self::asked(text, ranks, (Some(t), tables), true, watch)
    }

    fn asked(
        text: &str,
        ranks: u32,
        (network, tables): (Option<&Topology>, Option<&Routing>),
        drawn: bool,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let (name, argument) = text::split(text);
        let argument = argument.as_deref();
        if name == "null" && argument.is_none() {
            return Ok(Self { name: "null", form: Box::new(NullPattern) });
        }
        let known = |entry: &&PatternKindEntry| name == entry.part.name || name == entry.orcs;
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

    /// The published worst case of the family of `t` under minimal routes, for the first `ranks`
    /// working endpoints; `None` where none is published.
    pub fn known_worst_case(t: &Topology, ranks: u32) -> Option<Self> {
        Some(Self { name: "worst_case", form: worst_case::published(t, ranks)? })
    }

    /// Whether the pattern of this text depends on the switches that the endpoints are on, rather
    /// than on the numbers of the endpoints alone.
    pub fn goes_by_places(text: &str) -> bool {
        let name = Self::name_in(text);
        ENTRIES.iter().any(|entry| entry.placed && entry.part.name == name)
    }

    /// Its name, without the argument.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The number of levels with `ranks` ranks: messages of one level are sent at once.
    pub fn levels(&self, ranks: u32) -> u32 {
        self.form.levels(ranks)
    }

    /// An upper bound of the number of messages in any level with `ranks` ranks.
    pub fn most_messages(&self, ranks: u32) -> u64 {
        self.form.most_messages(ranks)
    }

    /// The messages of `level`, which is below [`Self::levels`]; a rank never sends to itself.
    /// `draw` makes the random choices. O(messages).
    pub fn messages(&self, level: u32, ranks: u32, draw: &mut RandomStream) -> Vec<RankMessage> {
        self.form.messages(level, ranks, draw)
    }

    /// The amounts that ranks send: sender, receiver, and the amount in units of an endpoint's full
    /// rate; the mean amounts if the pattern draws destinations. `None` if every message has the
    /// amount 1.
    pub fn amounts(&self, ranks: u32) -> Option<Vec<(u32, u32, f64)>> {
        self.form.amounts(ranks)
    }

    /// The distribution of destinations for a simulator of `ranks` endpoints. Choices that are made
    /// once for the whole run are drawn from `seed`.
    ///
    /// # Errors
    /// When nothing is sent, or there are too many messages to list.
    pub fn destinations(&self, ranks: u32, seed: u64) -> Result<PacketDestinations, Refusal> {
        self.form.destinations(ranks, seed)
    }
}
