//! A line for each link between switches: the two that it joins.
//!
//! Source: `networkx`, "Edge List": nodes between blanks, remarks after `#`.

use super::kind::{ExportFormatEntry, ExportInput, asked};
use super::working::{RailSupport, WorkingPlane};
use base::Refusal;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt::Write;

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new("edge-list", "a line for each link, as networkx reads it")
        .takes::<Options>(),
    "any; without endpoints",
    write,
);

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Options {
    /// which plane to write, from 0; of a network of several
    plane: Option<u16>,
}

/// Working switches are numbered from 0 in their order. O(network).
fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: Options = asked(options)?;
    let working = WorkingPlane::of(source.network, options.plane, RailSupport::Any)?;
    let mut text = working.remarks("# ");
    for &link in &working.links {
        let (a, b) = working.pair(link);
        let _ = writeln!(text, "{a} {b}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_a_line_for_each_neighbour() {
        let recipe = fabric::network::parse_inline("ring:n=4").expect("a recipe");
        let family = families::family(&recipe.family).expect("there is one");
        let network = family.build(&recipe.params).expect("a network");
        let source = ExportInput { network: &network, routing: None, places: None };
        let text = ENTRY.write(&source, &Map::new()).expect("it can be written");
        let links: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(links, ["0 1", "1 2", "2 3", "3 0"]);
    }
}
