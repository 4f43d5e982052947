//! The places of ranks: each is on a switch, has an index among the ranks on it, and the switch may
//! have coordinates in a grid.

use super::asked::PatternRequest;
use super::fixed::FixedDestinations;
use super::kind::MessagePattern;
use crate::working::working;
use base::{ComputationError, EndpointId, Refusal, SwitchId};
use fabric::geometry::PlaneStructure;
use fabric::network::Topology;
use std::collections::BTreeMap;

/// The switches that ranks are on, and the ranks on each.
pub(super) struct RankSwitchPlaces {
    /// The switches, in the order of their numbers.
    pub(super) switches: Vec<SwitchId>,
    /// For each switch, its ranks in order.
    pub(super) ranks: Vec<Vec<u32>>,
}

impl RankSwitchPlaces {
    /// The places of the working endpoints of `t`, which are the ranks in their order; each is on
    /// the switch of its first working rail.
    pub(super) fn of(t: &Topology) -> Self {
        let mut home: BTreeMap<EndpointId, SwitchId> = BTreeMap::new();
        for (i, terminal) in t.terminals().iter().enumerate() {
            if t.terminal_is_up(i.into()) {
                home.entry(terminal.endpoint).or_insert(terminal.plug.switch);
            }
        }
        let mut on: BTreeMap<SwitchId, Vec<u32>> = BTreeMap::new();
        for (rank, e) in (0..).zip(working(t)) {
            if let Some(&switch) = home.get(&e) {
                on.entry(switch).or_default().push(rank);
            }
        }
        let (switches, ranks) = on.into_iter().unzip();
        Self { switches, ranks }
    }

    /// A pattern in which rank k of the i-th switch sends to rank k of the switch with index
    /// `to[i]`. The rank is idle if `to[i]` is `None` or that switch has too few ranks.
    pub(super) fn sent(&self, all: u32, to: &[Option<usize>]) -> FixedDestinations {
        let mut of = vec![None; all as usize];
        for (here, &there) in self.ranks.iter().zip(to) {
            let there = there.map_or(&[][..], |there| &self.ranks[there]);
            for (&from, &to) in here.iter().zip(there) {
                of[from as usize] = Some(to);
            }
        }
        FixedDestinations::Table(of)
    }
}

/// A pattern in which rank k of a switch sends to rank k of the switch `by(side)` further in every
/// dimension of the grid. Without a grid, switches count as one dimension by their numbers.
pub(super) fn moved(
    asked: &PatternRequest<'_>,
    by: fn(u32) -> u32,
) -> Result<Box<dyn MessagePattern>, ComputationError> {
    let nobody = |sides: &[u32]| -> Result<(), Refusal> {
        if sides.iter().any(|&side| !by(side).is_multiple_of(side)) {
            return Ok(());
        }
        let sides: Vec<String> = sides.iter().map(u32::to_string).collect();
        let why = format!("{} moves nobody on sides of {}", asked.name, sides.join(" and "));
        Err(Refusal::new("pattern", why, "neighbour, or a side of 3 or more"))
    };
    let Some(t) = asked.network else {
        let n = asked.ranks;
        nobody(&[n])?;
        return Ok(Box::new(FixedDestinations::Around(by(n))));
    };
    let places = RankSwitchPlaces::of(t);
    if let Some((sides, at)) = grid(t, &places) {
        nobody(&sides)?;
        let next = |place: &[u32]| -> Vec<u32> {
            place.iter().zip(&sides).map(|(&x, &side)| (x + by(side)) % side).collect()
        };
        let mut to = vec![None; places.switches.len()];
        for ((plane, place), &i) in &at {
            to[i] = at.get(&(plane.clone(), next(place))).copied();
        }
        return Ok(Box::new(places.sent(asked.ranks, &to)));
    }
    let count = places.switches.len();
    nobody(&[count as u32])?;
    let to: Vec<_> = (0..count).map(|i| Some((i + by(count as u32) as usize) % count)).collect();
    Ok(Box::new(places.sent(asked.ranks, &to)))
}

/// The plane and the coordinates of a switch.
type GridPosition = (Vec<u32>, Vec<u32>);

/// The sides of the network's grid, and for each position the index of its switch with endpoints;
/// none if the network is no grid.
fn grid(
    t: &Topology,
    places: &RankSwitchPlaces,
) -> Option<(Vec<u32>, BTreeMap<GridPosition, usize>)> {
    let PlaneStructure::Grid(_) = t.geometry().form else { return None };
    let planes = t.geometry().planes;
    let mut sides: Vec<u32> = Vec::new();
    for switch in t.switches() {
        let place = switch.coordinates.get(planes..)?;
        sides.resize(sides.len().max(place.len()), 1);
        for (side, &x) in sides.iter_mut().zip(place) {
            *side = (*side).max(x.checked_add(1)?);
        }
    }
    let spot = |s: &SwitchId| t.switches()[s.ix()].coordinates.clone();
    let of = |(i, s): (usize, &SwitchId)| {
        let mut plane = spot(s);
        let place = plane.split_off(planes.min(plane.len()));
        (place.len() == sides.len()).then_some(((plane, place), i))
    };
    let at: Option<BTreeMap<GridPosition, usize>> =
        places.switches.iter().enumerate().map(of).collect();
    at.filter(|at| at.len() == places.switches.len()).map(|at| (sides, at))
}
