//! A request for a pattern: its parameters, the number of ranks, and where these are.

use base::part::PartDescription;
use base::{ProgressWatch, Refusal};
use fabric::network::Topology;
use fabric::tables::Routing;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A request for a pattern, with all that its constructor may use.
pub(super) struct PatternRequest<'a> {
    /// Its name, as typed.
    pub(super) name: &'a str,
    /// The text behind the name; none if there is none.
    pub(super) argument: Option<&'a str>,
    /// The parameters in that text.
    pub(super) given: Map<String, Value>,
    pub(super) part: &'static PartDescription,
    /// How many ranks there are, 2 or more.
    pub(super) ranks: u32,
    /// The network whose working endpoints are the ranks, in order; none without a network.
    pub(super) network: Option<&'a Topology>,
    /// Routing tables of that network, if there are any.
    pub(super) tables: Option<&'a Routing>,
    /// Receives the progress of long searches, and can stop them.
    pub(super) watch: &'a dyn ProgressWatch,
    /// Whether the pattern is for a simulator, which draws destinations from it.
    pub(super) drawn: bool,
}

impl PatternRequest<'_> {
    /// The refusal of the argument; `help` says what would be valid.
    pub(super) fn bad(&self, help: String) -> Refusal {
        refused(self.name, self.argument, help)
    }

    /// The parameters of the pattern.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let read = self.part.check(&self.given).and_then(|()| self.part.read(&self.given));
        read.map_err(|fault: Refusal| self.bad(fault.to_string()))
    }

    /// The value of the parameter `name`, refused if it is outside the range.
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

/// The refusal of the text behind a pattern's name.
pub(super) fn refused(name: &str, argument: Option<&str>, help: String) -> Refusal {
    let given = argument.map_or("none".to_owned(), |words| format!("'{words}'"));
    Refusal::new("pattern", format!("{given} for {name}"), help)
}
