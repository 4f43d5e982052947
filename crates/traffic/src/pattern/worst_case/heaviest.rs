//! The permutation that loads one channel most, for any network and any tables.
//!
//! Source: Towles, Dally, "Worst-case traffic for oblivious routing functions", SPAA 2002: for each
//! channel, an assignment of sources to destinations by the load that a pair puts on it.

use super::path_loads::{ChannelUser, PathChannelLoads};
use crate::assignment::{assign, assign_greedily};
use base::{ComputationError, Interrupted, ProgressWatch, Refusal};
use fabric::network::Topology;
use fabric::tables::Routing;
use std::cmp::Ordering::{Equal, Greater, Less};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

/// Most channels for which an assignment is solved.
const MOST_CHANNELS: usize = 256;
/// Limit of the work on assignments, as the sum of the cubes of their rows; no further channel is
/// tried beyond it.
const MOST_WORK: u64 = 1 << 30;
/// Most rows of an assignment that is solved exactly.
const MOST_EXACT: usize = 1 << 10;

/// The receiver of every rank, and the load of the busiest channel in units of an endpoint's full
/// rate: over the routes of `tables`, or evenly over all shortest paths. At most 256 channels are
/// tried, those with the largest upper bounds. The load is the maximum over all permutations if no
/// other channel has a larger bound. O(places * endpoints * hops + assignments).
pub(super) fn sought(
    t: &Topology,
    tables: Option<&Routing>,
    ranks: u32,
    watch: &dyn ProgressWatch,
) -> Result<(Vec<Option<u32>>, f64), ComputationError> {
    let paths = PathChannelLoads::new(t, tables)?;
    let mut bounds: Vec<(usize, f64)> = paths.bounds(watch)?.into_iter().enumerate().collect();
    bounds.retain(|(_, bound)| *bound > 0.0);
    if bounds.is_empty() {
        let help = "a network of several switches with endpoints";
        return Err(Refusal::new("pattern", "no pair of endpoints meets a link", help).into());
    }
    bounds.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    bounds.truncate(MOST_CHANNELS);
    let wanted: BTreeMap<usize, usize> = bounds.iter().map(|b| b.0).zip(0..).collect();
    let crossing = paths.crossing(&wanted, watch)?;
    let (mut best, mut pairs, mut work) = (0.0, Vec::new(), 0_u64);
    for (&(_, bound), across) in bounds.iter().zip(&crossing) {
        if bound <= best * (1.0 + 1e-9) || work > MOST_WORK {
            break;
        }
        let (load, found, cost) = assigned(&paths, across, watch)?;
        work += cost;
        if load > best {
            (best, pairs) = (load, found);
        }
    }
    Ok((completed(ranks, &pairs), best))
}

/// A permutation that contains these pairs. The remaining ranks send to the remaining receivers,
/// shifted by half their number; a rank that would send to itself is idle.
fn completed(ranks: u32, pairs: &[(u32, u32)]) -> Vec<Option<u32>> {
    let mut to = vec![None; ranks as usize];
    let mut taken = vec![false; ranks as usize];
    for &(from, there) in pairs {
        to[from as usize] = Some(there);
        taken[there as usize] = true;
    }
    let senders: Vec<usize> = (0..to.len()).filter(|&i| to[i].is_none()).collect();
    let free: Vec<u32> = (0..ranks).filter(|&i| !taken[i as usize]).collect();
    for (i, &from) in senders.iter().enumerate() {
        let there = free[(i + free.len() / 2) % free.len()];
        to[from] = (there as usize != from).then_some(there);
    }
    to
}

/// The heaviest assignment for a channel: its load, the pairs that make it, and the work of the
/// search.
type HeaviestAssignment = (f64, Vec<(u32, u32)>, u64);

/// The permutation that loads a channel most: the load, the pairs of ranks that cause it, and the
/// work of the search.
fn assigned(
    paths: &PathChannelLoads<'_>,
    across: &[ChannelUser],
    watch: &dyn ProgressWatch,
) -> Result<HeaviestAssignment, Interrupted> {
    let (sources, receivers) = (&paths.sources, &paths.receivers);
    // places of equal size are assigned as a whole, others endpoint by endpoint
    let first = sources[0].ranks.len();
    let whole = sources.iter().chain(receivers).all(|place| place.ranks.len() == first);
    let room = |ranks: &[u32]| if whole { 1 } else { ranks.len() };
    let (mut rows, mut columns) = (AssignmentRowSlots::default(), AssignmentRowSlots::default());
    for &(s, r, _) in across {
        rows.add(s, room(&sources[s].ranks));
        columns.add(r, room(&receivers[r].ranks));
    }
    let (few, many) = (rows.all.len(), columns.all.len());
    let kept = match few.cmp(&many) {
        Less => best_of(across, few, |c| c.0, |c| room(&receivers[c.1].ranks)),
        Equal => across.to_vec(),
        Greater => best_of(across, many, |c| c.1, |c| room(&sources[c.0].ranks)),
    };
    (rows, columns) = (AssignmentRowSlots::default(), AssignmentRowSlots::default());
    for &(s, r, _) in &kept {
        rows.add(s, room(&sources[s].ranks));
        columns.add(r, room(&receivers[r].ranks));
    }
    let n = rows.all.len().max(columns.all.len());
    let mut weight = vec![0.0; n * n];
    for &(s, r, x) in &kept {
        for i in rows.of[&s].clone() {
            for j in columns.of[&r].clone() {
                let (from, there) = (&sources[s].ranks, &receivers[r].ranks);
                let one = |slot: (usize, usize), ranks: &[u32]| ranks[slot.1];
                let alone = !whole || first == 1;
                if !alone || one(rows.all[i], from) != one(columns.all[j], there) {
                    weight[i * n + j] = x; // nobody is his own receiver
                }
            }
        }
    }
    let of = |i: usize, j: usize| weight[i * n + j];
    let to = if n <= MOST_EXACT { assign(n, of, watch)? } else { assign_greedily(n, of, watch)? };
    let (mut load, mut pairs) = (0.0, Vec::<(u32, u32)>::new());
    for (i, &j) in to.iter().enumerate().filter(|&(i, &j)| of(i, j) > 0.0) {
        let ((s, k), (r, l)) = (rows.all[i], columns.all[j]);
        let (from, there) = (&sources[s].ranks, &receivers[r].ranks);
        if whole {
            let turned = usize::from(from == there); // nobody is his own receiver
            pairs.extend(from.iter().copied().zip(there.iter().copied().cycle().skip(turned)));
        } else {
            pairs.push((from[k], there[l]));
        }
        load += of(i, j) * if whole { first as f64 } else { 1.0 };
    }
    Ok((load, pairs, (n as u64).pow(if n <= MOST_EXACT { 3 } else { 2 })))
}

/// For each end of a pair, as `of` returns it, the pairs with the largest load: enough to fill more
/// than `wanted` slots. An assignment of `wanted` ends needs no other pairs, as at most one slot is
/// the end itself.
fn best_of(
    across: &[ChannelUser],
    wanted: usize,
    of: fn(&ChannelUser) -> usize,
    room: impl Fn(&ChannelUser) -> usize,
) -> Vec<ChannelUser> {
    let mut sorted = across.to_vec();
    sorted.sort_by(|a, b| of(a).cmp(&of(b)).then(b.2.total_cmp(&a.2)));
    let mut kept = Vec::new();
    for party in sorted.chunk_by(|a, b| of(a) == of(b)) {
        let mut filled = 0;
        for pair in party {
            if filled > wanted {
                break;
            }
            filled += room(pair);
            kept.push(*pair);
        }
    }
    kept
}

/// The rows or columns of an assignment: each place has as many as it has endpoints.
#[derive(Default)]
struct AssignmentRowSlots {
    /// For each slot, its place and the index of the endpoint there.
    all: Vec<(usize, usize)>,
    of: BTreeMap<usize, Range<usize>>,
}

impl AssignmentRowSlots {
    fn add(&mut self, place: usize, room: usize) {
        let from = self.all.len();
        if let Entry::Vacant(new) = self.of.entry(place) {
            self.all.extend((0..room).map(|i| (place, i)));
            new.insert(from..self.all.len());
        }
    }
}
