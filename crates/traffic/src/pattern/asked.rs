//! What is asked of a pattern: its parameters, how many ranks it is for, and where these are.

use base::part::Part;
use base::{Refusal, Watch};
use fabric::network::Topology;
use fabric::tables::Routing;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A pattern that somebody asks for.
pub(super) struct PatternRequest<'a> {
    /// Its name, as typed.
    pub(super) name: &'a str,
    /// What follows the name.
    pub(super) argument: Option<&'a str>,
    /// The parameters in that.
    pub(super) given: Map<String, Value>,
    pub(super) part: &'static Part,
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
        refused(self.name, self.argument, help)
    }

    /// Its parameters.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let read = self.part.check(&self.given).and_then(|()| self.part.read(&self.given));
        read.map_err(|fault: Refusal| self.bad(fault.to_string()))
    }

    /// The value of its parameter `name`, where it is between these two.
    pub(super) fn within(
        &self,
        name: &str,
        value: u32,
        least: u32,
        most: u32,
    ) -> Result<u32, Refusal> {
        let help = || self.bad(format!("{name}: {least} to {most}"));
        (least..=most).contains(&value).then_some(value).ok_or_else(help)
    }
}

/// The refusal of what follows a pattern's name.
pub(super) fn refused(name: &str, argument: Option<&str>, help: String) -> Refusal {
    let given = argument.map_or("none".to_owned(), |words| format!("'{words}'"));
    Refusal::new("pattern_argument", format!("{given} for {name}"), help)
}
