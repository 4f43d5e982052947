//! The memory and the time that routing will need, estimated before it begins.

use crate::engine;
use crate::tree_cache::{MOST_BYTES, open_share};
use base::ResourceNeed;
use fabric::Topology;
use fabric::size::NetworkSize;

/// The need of engine `name` for tables with `layers` routes per terminal on a network of this
/// size. `on` is the network itself, where it is already built.
///
/// The factors were measured, like those of [`fabric::size`].
pub fn need(size: &NetworkSize, on: Option<&Topology>, name: &str, layers: u32) -> ResourceNeed {
    let pairs = size.switches * size.switches;
    let searches = size.switches * size.arcs() * f64::from(layers);
    let entries = size.entries(layers);
    if engine(name).is_ok_and(super::EngineEntry::is_by_rows) {
        let own = 1.0 + on.map_or(1.0, open_share) * size.switches;
        let rows = f64::from(layers) * (size.edge * size.switches + size.terminals * own);
        let kept = rows.min(entries + pairs);
        let trees = (17.5 * pairs).min(MOST_BYTES as f64);
        // sssp stores its choices beside the tables, and two copies of them while it chooses again
        let (entry, arc) = if name == "sssp" { (6.6, 5.0) } else { (2.2, 3.0) };
        let seconds = 1e-9 * (arc * searches + 25.0 * kept);
        return ResourceNeed::new(entry * kept + 2.0 * pairs + trees, seconds);
    }
    // bytes per entry, bytes per pair of switches, and nanoseconds per arc that a search from one
    // switch visits
    let (entry, pair, arc) = match name {
        "dor" | "ecmp" => (3.0, 3.0, 3.0),
        "rues" | "fatpaths" => (2.7, 20.5, 6.0),
        "nue" => (6.0, 41.0, 45.0),
        "up_down" => (4.0, 31.0, 10.0),
        "layered" | "lash" => (3.8, 26.0, 5.0),
        "valiant_static" => (4.0, 22.0, 130.0),
        _ => (4.4, 19.0, 5.0),
    };
    ResourceNeed::new(entry * entries + pair * pairs, 1e-9 * (arc * searches + 25.0 * entries))
}
