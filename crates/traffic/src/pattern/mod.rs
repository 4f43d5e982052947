//! Communication patterns: who sends to whom, level by level, among ranks 0 to n - 1.
//!
//! Source: Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing congestion simulator",
//! Indiana University, Technical Report 675, 2009, and the patterns of its program; Dally, Towles,
//! "Principles and practices of interconnection networks", 2004, section 3.2 (permutations).
//!
//! A pattern is one file with its row of [`ENTRIES`].

mod all_to_all;
mod asked;
mod binomial;
mod bisect;
mod bisect_symmetric;
mod bit_complement;
mod bit_reverse;
mod bits;
pub mod booksim;
mod bruck;
mod fixed;
mod gather;
mod hotspot;
mod neighbour;
mod neighbours;
mod permutation;
mod places;
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

use crate::destinations::Destinations;
use asked::Asked;
use base::seed::Stream;
use base::words::did_you_mean;
use base::{EndpointId, Quiet, Refusal, Stop, Watch};
use fabric::network::Topology;
use fabric::tables::Routing;
use std::fmt;

/// One message: the rank that sends, and the rank that receives.
pub type Message = (u32, u32);

/// Most messages that a pattern may send at once.
const MAX_MESSAGES: u64 = 1 << 24;

/// What is sent by so many ranks: what a pattern must say, and what it may.
trait Form: fmt::Debug + Send + Sync {
    /// How many levels it has: messages of one level are sent at once.
    fn levels(&self, _ranks: u32) -> u32 {
        1
    }

    /// No fewer than the messages of any level.
    fn most_messages(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    /// The messages of a level; a rank never sends to itself.
    fn messages(&self, level: u32, ranks: u32, draw: &mut Stream) -> Vec<Message>;

    /// How much each sends to whom, where that is not one of each message; at most one a pair.
    fn amounts(&self, _ranks: u32) -> Option<Vec<(u32, u32, f64)>> {
        None
    }

    /// What a simulator draws from. Unless a pattern says otherwise, a rank sends to each of its
    /// receivers as often, and as much as it has messages in all levels.
    fn destinations(&self, ranks: u32, seed: u64) -> Result<Destinations, Refusal> {
        let mut draw = Stream::new(seed, "pattern", 0);
        let mut all = Vec::new();
        for level in 0..self.levels(ranks) {
            all.extend(self.messages(level, ranks, &mut draw));
            if all.len() as u64 > MAX_MESSAGES {
                let why = format!("more than {MAX_MESSAGES} messages");
                return Err(Refusal::new("traffic", why, "fewer endpoints, or another pattern"));
            }
        }
        let weighted: Vec<_> =
            all.iter().map(|&(a, b)| (EndpointId(a), EndpointId(b), 1.0)).collect();
        Destinations::of_messages(ranks, &weighted)
    }
}

/// How a pattern is asked for.
struct Entry {
    name: &'static str,
    /// Who sends to whom, in a line.
    doc: &'static str,
    /// The name that ORCS has for it; empty where it has none.
    orcs: &'static str,
    /// What may follow the colon; empty where nothing may.
    wanted: &'static str,
    make: fn(&Asked<'_>) -> Result<Box<dyn Form>, Stop>,
    /// Whether it goes by where ranks are on their network.
    placed: bool,
}

/// All patterns in the order in which they are listed.
const ENTRIES: [Entry; 26] = [
    bisect::ENTRY,
    bisect_symmetric::ENTRY,
    permutation::ENTRY,
    shift::ENTRY,
    ring::ENTRY,
    token_ring::ENTRY,
    tree::ENTRY,
    binomial::ENTRY,
    bruck::ENTRY,
    recursive_doubling::ENTRY,
    all_to_all::ENTRY,
    gather::ENTRY,
    scatter::ENTRY,
    stencil::ENTRY,
    neighbours::ENTRY,
    receivers::ENTRY,
    receivers_one::ENTRY,
    uniform::ENTRY,
    bit_reverse::ENTRY,
    bit_complement::ENTRY,
    shuffle::ENTRY,
    transpose::ENTRY,
    tornado::ENTRY,
    neighbour::ENTRY,
    hotspot::ENTRY,
    worst_case::ENTRY,
];

/// Who sends to whom.
#[derive(Debug)]
pub struct Pattern {
    name: &'static str,
    form: Box<dyn Form>,
}

/// Nobody sends; a partner for another job.
#[derive(Debug)]
struct Null;

impl Form for Null {
    fn levels(&self, _: u32) -> u32 {
        0
    }

    fn messages(&self, _: u32, _: u32, _: &mut Stream) -> Vec<Message> {
        Vec::new()
    }
}

impl Pattern {
    /// The names of all patterns, ours.
    pub fn names() -> Vec<&'static str> {
        ENTRIES.iter().map(|entry| entry.name).collect()
    }

    /// All patterns, ours: name, what may follow its colon (empty where nothing may), and who sends
    /// to whom.
    pub fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        ENTRIES.iter().map(|entry| (entry.name, entry.wanted, entry.doc))
    }

    /// The pattern `NAME` or `NAME:ARGUMENT` for `ranks` ranks. One that goes by places, such as
    /// `tornado`, takes each rank for a switch of its own.
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
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        if name == "null" && argument.is_none() {
            return Ok(Self { name: "null", form: Box::new(Null) });
        }
        let known = |entry: &&Entry| name == entry.name || name == entry.orcs;
        let Some(entry) = ENTRIES.iter().find(known).filter(|_| !name.is_empty()) else {
            let why = format!("there is no '{name}'");
            let help = did_you_mean(name, Self::names()) + &Self::names().join(", ");
            return Err(Refusal::new("pattern", why, help + ", null, two_jobs").into());
        };
        if ranks < 2 {
            let why = format!("{name} among {ranks} endpoints");
            return Err(Refusal::new("endpoints", why, "a pattern needs at least 2").into());
        }
        if let (Some(given), "") = (argument, entry.wanted) {
            let why = format!("'{given}' for {name}");
            return Err(Refusal::new("pattern_argument", why, format!("{name} takes none")).into());
        }
        let wanted = entry.wanted;
        let asked = Asked { name, wanted, argument, ranks, network, tables, watch, drawn };
        Ok(Self { name: entry.name, form: (entry.make)(&asked)? })
    }

    /// Whether the pattern of this text, on all endpoints of a network, goes by where they are.
    pub fn goes_by_places(text: &str) -> bool {
        let name = text.split_once(':').map_or(text, |(name, _)| name);
        ENTRIES.iter().any(|entry| entry.placed && entry.name == name)
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
    pub fn messages(&self, level: u32, ranks: u32, draw: &mut Stream) -> Vec<Message> {
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
    pub fn destinations(&self, ranks: u32, seed: u64) -> Result<Destinations, Refusal> {
        self.form.destinations(ranks, seed)
    }
}

/// The least number of factors `base` whose product is at least `ranks`.
fn powers(base: u64, ranks: u32) -> u32 {
    let (mut levels, mut reach) = (0, 1_u64);
    while reach < u64::from(ranks) {
        (levels, reach) = (levels + 1, reach * base);
    }
    levels
}
