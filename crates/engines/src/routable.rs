//! Checks whether a network can be routed at all: connected within each plane, and small enough.

use crate::tree_cache;
use base::Refusal;
use fabric::Topology;

/// The largest number of table entries (switches * terminals * layers) that engines compute.
const MAX_ENTRIES: u64 = 1 << 31;

/// Checks what every engine needs: tables of a possible size, and working switches that are
/// connected within each plane.
pub(crate) fn check_routable(on: &Topology, layers: u32, by_rows: bool) -> Result<(), Refusal> {
    if !(1..=128).contains(&layers) {
        let why = format!("{layers} routes a terminal");
        return Err(Refusal::new("layers", why, "1 to 128 (LMC 0 to 7)"));
    }
    let (switches, terminals) = (on.switches().len() as u64, on.terminals().len() as u64);
    let whole = switches * (terminals * u64::from(layers) + switches);
    let entries = if by_rows { rows_entries(on, layers) as u64 } else { whole };
    if entries > MAX_ENTRIES {
        let why = format!("the tables would have {entries} entries");
        return Err(Refusal::new(
            "",
            why,
            format!("at most {MAX_ENTRIES}: fewer endpoints or layers"),
        ));
    }
    check_connected(on)
}

/// Estimate of the number of stored entries where terminals of a switch share rows, with the table
/// between switches.
fn rows_entries(on: &Topology, layers: u32) -> f64 {
    let (switches, edge) = (on.switches().len() as f64, on.edge_switches().len() as f64);
    let own = on.terminals().len() as f64 * (1.0 + tree_cache::open_share(on) * switches);
    f64::from(layers) * (switches * edge + own) + switches * switches
}

/// Refuses a network in which two working switches of one plane cannot reach each other.
///
/// # Errors
/// The refusal names one switch of each of the two parts.
pub fn check_connected(on: &Topology) -> Result<(), Refusal> {
    let (component, _) = on.graph().components();
    let mut first_of_plane: Vec<Option<usize>> = vec![None; usize::from(on.planes())];
    for (s, switch) in on.switches().iter().enumerate().filter(|(_, s)| s.up) {
        let first = *first_of_plane[usize::from(switch.plane)].get_or_insert(s);
        if component[first] != component[s] {
            let (a, b) = (&on.switches()[first].name, &switch.name);
            let why = format!("the network is disconnected: no path from switch {a} to switch {b}");
            return Err(Refusal::new("", why, "connect them, or remove the part that is cut off"));
        }
    }
    Ok(())
}
