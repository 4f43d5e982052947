//! What is asked of a pattern: its argument, how many ranks it is for, and where these are.

use base::{Refusal, Watch};
use fabric::network::Topology;
use fabric::tables::Routing;

/// A pattern that somebody asks for.
pub(super) struct PatternRequest<'a> {
    /// Its name, as typed.
    pub(super) name: &'a str,
    /// What may follow the colon.
    pub(super) wanted: &'static str,
    /// What did follow it.
    pub(super) argument: Option<&'a str>,
    /// How many ranks there are, 2 or more.
    pub(super) ranks: u32,
    /// Whose working endpoints they are, in order.
    pub(super) network: Option<&'a Topology>,
    /// Tables of routes over that network.
    pub(super) tables: Option<&'a Routing>,
    /// What long searches report their progress to; it can stop them.
    pub(super) watch: &'a dyn Watch,
    /// Whether a simulator will draw from it.
    pub(super) drawn: bool,
}

impl PatternRequest<'_> {
    /// The refusal of the argument; `help` says what would be valid.
    pub(super) fn bad(&self, help: String) -> Refusal {
        let given = self.argument.map_or("none".to_owned(), |a| format!("'{a}'"));
        Refusal::new("pattern_argument", format!("{given} for {}", self.name), help)
    }

    /// The argument as a whole number between these two, `unless` where there is none.
    pub(super) fn whole(&self, least: u32, most: u32, unless: Option<u32>) -> Result<u32, Refusal> {
        let number = self.argument.map_or(unless, |a| a.parse().ok());
        number
            .filter(|n| (least..=most).contains(n))
            .ok_or_else(|| self.bad(format!("{}: {least} to {most}", self.wanted)))
    }
}
