//! Assigns lanes path by path: each path takes the first lane in which it closes no cycle.
//!
//! Source: Skeie, Lysne, Theiss, "Layered shortest path (LASH) routing in irregular system area
//! networks", IPDPS 2002.
//!
//! Every lane keeps an order of all channels in which each of its turns goes forward. Lane 0 starts
//! with the channels in the order of their numbers, every further lane with the reversed order of
//! the previous lane: a turn that was refused there goes forward here. So two lanes always suffice
//! when no path has more than two hops. The orders then never change, which also distributes the
//! paths evenly. Paths with the same turns get the same lane, because a lane that has accepted or
//! refused a turn does so again.

use super::method::{PathLanes, too_few};
use super::order::AcyclicTurnSet;
use super::rows::DistinctTableRows;
use base::{ComputationError, Interrupted, ProgressWatch, SwitchId, TerminalId};
use fabric::network::Topology;
use fabric::tables::{Routing, TerminalNextHops};
use fabric::turns::ChannelDependencyNumbering;

/// Assigns a lane to every path of `routing`, whose turns have a cycle on a single lane. `rows` are
/// the distinct rows of its table.
///
/// # Errors
/// When more than `max_lanes` lanes are needed, or `watch` asks to stop.
pub(super) fn lanes(
    routing: &Routing,
    rows: &DistinctTableRows,
    max_lanes: u8,
    watch: &dyn ProgressWatch,
) -> Result<PathLanes, ComputationError> {
    let mut lane_of = vec![0_u8; routing.entries()];
    let lanes = if by_number(routing, rows, &mut lane_of, watch)? {
        2
    } else {
        one_by_one(routing, rows, &mut lane_of, max_lanes, watch)?
    };
    if lanes > max_lanes {
        return Err(too_few(max_lanes).into());
    }
    let switches = routing.topology().switches().len();
    for &(row, of) in &rows.alike {
        lane_of.copy_within(of * switches..(of + 1) * switches, row * switches);
    }
    Ok(PathLanes { lane_of, lanes })
}

/// Assigns lane 0 to every path whose turn leads to a channel of higher number, and lane 1 to the
/// others. Returns false when a path has more than one turn.
fn by_number(
    routing: &Routing,
    rows: &DistinctTableRows,
    lane_of: &mut [u8],
    watch: &dyn ProgressWatch,
) -> Result<bool, Interrupted> {
    let mut short = true;
    each_row(routing, rows, watch, |row, sources, hops| {
        for &s in sources {
            if let Some((from, to, at)) = hops.turn(s.ix()) {
                lane_of[row + s.ix()] = u8::from(from > to);
                short &= hops.turn(at).is_none();
            }
        }
        short
    })?;
    Ok(short)
}

/// Assigns each path to the first lane that accepts all its turns. Returns the number of lanes in
/// use.
fn one_by_one(
    routing: &Routing,
    rows: &DistinctTableRows,
    lane_of: &mut [u8],
    max_lanes: u8,
    watch: &dyn ProgressWatch,
) -> Result<u8, ComputationError> {
    lane_of.fill(0);
    let on = routing.topology();
    let dependencies = ChannelDependencyNumbering::new(on);
    let mut order = AcyclicTurnSet::new(on, &dependencies);
    for lane in 0..max_lanes {
        let mut moved = false;
        each_row(routing, rows, watch, |row, sources, hops| {
            for &s in sources {
                let own = &mut lane_of[row + s.ix()];
                if *own == lane && !order.take(hops.turns(s.ix()).map(|(a, b)| ((a, 0), (b, 0)))) {
                    *own = lane + 1;
                    moved = true;
                }
            }
            true
        })?;
        if !moved {
            return Ok(lane + 1);
        }
        order.reverse();
    }
    Err(too_few(max_lanes).into())
}

/// Calls `visit` for every distinct row, as long as it returns true: with the row's index in the
/// table, the sources of its paths and their hops.
fn each_row(
    routing: &Routing,
    rows: &DistinctTableRows,
    watch: &dyn ProgressWatch,
    mut visit: impl FnMut(usize, &[SwitchId], &TerminalNextHops) -> bool,
) -> Result<(), Interrupted> {
    let on: &Topology = routing.topology();
    let (sources, switches) = (routing.sources(), on.switches().len());
    let (mut hops, mut others) = (TerminalNextHops::default(), Vec::new());
    for (i, &row) in rows.distinct.iter().enumerate() {
        if i.is_multiple_of(64) {
            watch.tick("lanes", i as u64, rows.distinct.len() as u64)?;
        }
        let (place, t) = (row * switches, TerminalId::from(row % on.terminals().len()));
        let layer = (row / on.terminals().len()) as u32;
        hops.resolve(on, routing.tree(layer, t));
        let home = on.terminals()[t.ix()].plug.switch;
        others.clear();
        let all = sources.of_plane(on.plane_of(t)).iter().map(|(s, _)| *s);
        others.extend(all.filter(|s| *s != home));
        if !visit(place, &others, &hops) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::paths::each_path;
    use super::*;
    use crate::engine;
    use base::{ChannelId, QuietWatch};
    use fabric::network::parse_inline;
    use families::family;
    use std::sync::Arc;

    fn routing(inline: &str, name: &str, layers: u32) -> Routing {
        let recipe = parse_inline(inline).expect("an inline form");
        let family = family(&recipe.family).expect("a family");
        let on = Arc::new(family.build(&recipe.params).expect("a member"));
        let engine = engine(name).expect("an engine");
        engine.route(&serde_json::Map::new(), &on, layers, &QuietWatch).expect("routed")
    }

    /// Assigns lanes path by path over all rows; with `fixed` the order of a lane never changes.
    fn plainly(routing: &Routing, fixed: bool) -> (Vec<u8>, u8) {
        let on = routing.topology();
        let dependencies = ChannelDependencyNumbering::new(on);
        let mut order = AcyclicTurnSet::new(on, &dependencies);
        let mut lane_of = vec![0; routing.entries()];
        for lane in 0..15 {
            let forward = |(a, b): (ChannelId, ChannelId)| (a < b) == (lane % 2 == 0);
            let mut moved = false;
            each_path(routing, &mut lane_of, lane, &QuietWatch, |_, own, mut turns| {
                let taken = if fixed {
                    turns.all(forward)
                } else {
                    order.take(turns.map(|(a, b)| ((a, 0), (b, 0))))
                };
                if !taken {
                    (*own, moved) = (lane + 1, true);
                }
            })
            .expect("quiet");
            if !moved {
                return (lane_of, lane + 1);
            }
            order.reverse();
        }
        panic!("more than 15 lanes");
    }

    #[test]
    fn equal_rows_and_short_paths_get_the_lanes_that_each_path_would() {
        for (inline, layers, short) in [
            ("slim_fly:q=5,p=3", 1, true),
            ("slim_fly:q=7,p=2", 2, true),
            ("hyperx:shape=4x5,p=2", 2, true),
            ("torus:shape=5x4,p=2", 1, false),
            ("torus:shape=3x3x3,p=3", 2, false),
            ("jellyfish:n=30,k=3,p=2,seed=8", 1, false),
            ("dragonfly:a=4,h=2,p=2", 1, false),
        ] {
            for name in ["sssp", "lash"] {
                let routing = routing(inline, name, layers);
                let rows = DistinctTableRows::of(&routing);
                let count = routing.destinations().count();
                assert_eq!(rows.distinct.len() + rows.alike.len(), count, "{inline}");
                assert!(name == "sssp" || !rows.alike.is_empty(), "{inline}: lash knows switches");
                let found = lanes(&routing, &rows, 15, &QuietWatch);
                let found = found.unwrap_or_else(|_| panic!("{inline}"));
                assert_eq!((found.lane_of, found.lanes), plainly(&routing, short), "{inline}");
            }
        }
    }

    #[test]
    fn one_lane_is_too_few_where_two_are_needed() {
        let routing = routing("slim_fly:q=5,p=1", "sssp", 1);
        let rows = DistinctTableRows::of(&routing);
        assert!(lanes(&routing, &rows, 1, &QuietWatch).is_err());
        assert!(lanes(&routing, &rows, 2, &QuietWatch).is_ok());
    }
}
