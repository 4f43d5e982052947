//! Distributes paths over spare lanes. A lane whose dependencies have no cycle still has none when
//! some of its paths move to another lane.
//!
//! Source: Domke, Hoefler, Nagel, "Deadlock-free oblivious routing for arbitrary topologies", IPDPS
//! 2011: the fullest lanes are split until all lanes carry paths.

use super::method::PathLanes;
use super::paths::each_path;
use base::{Interrupted, ProgressWatch};
use fabric::tables::Routing;

/// Distributes the paths of `found` over `max_lanes` lanes: the lanes with the most paths are split
/// into the most parts, and their paths take the parts in turn. O(paths).
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub(super) fn over(
    routing: &Routing,
    found: PathLanes,
    max_lanes: u8,
    watch: &dyn ProgressWatch,
) -> Result<PathLanes, Interrupted> {
    let PathLanes { mut lane_of, lanes } = found;
    let mut paths = vec![0_u64; usize::from(lanes)];
    for lane in 0..lanes {
        each_path(routing, &mut lane_of, lane, watch, |_, _, _| paths[usize::from(lane)] += 1)?;
    }
    let mut parts = vec![1_u64; usize::from(lanes)];
    for _ in lanes..max_lanes {
        let fullest = (0..parts.len())
            .rev()
            .max_by(|&a, &b| (paths[a] * parts[b]).cmp(&(paths[b] * parts[a])));
        parts[fullest.expect("at least one lane")] += 1;
    }
    // from the last lane down, so that no path is moved twice
    let mut first = parts.iter().sum::<u64>();
    for lane in (0..lanes).rev() {
        let split = parts[usize::from(lane)];
        first -= split;
        let mut turn = 0;
        each_path(routing, &mut lane_of, lane, watch, |_, own, _| {
            *own = (first + turn % split) as u8;
            turn += 1;
        })?;
    }
    Ok(PathLanes { lane_of, lanes: lanes.max(max_lanes) })
}
