//! Moving: switches go to other racks, or change places, where that makes the cables shorter.
//!
//! Source: Heider, "An N-step, 2-variable search algorithm for the component placement problem",
//! Naval Research Logistics Quarterly 1973: exchanges of pairs, each taken where it is an
//! improvement.

use super::packing::{RackLoad, RackSwitchGroups};
use super::placing::FloorSpot;
use super::rules::FloorRules;
use base::partition::WeightedGraph;
use base::{Interrupted, ProgressWatch};
use std::collections::BTreeMap;

/// Most passes over all pieces.
const ROUNDS: u64 = 12;
/// The most racks of a cell that change places as a whole.
const MOST_ARRANGED: usize = 32;

/// A position in a rack, with the coordinates of that rack on the floor in millimetres.
#[derive(Clone, Copy, Default)]
struct SwitchGroupPosition {
    at: [i32; 2],
    rack: u32,
    place: u32,
}

/// Racks of pieces on their spots, while pieces move.
pub(super) struct RackAssignmentOptimizer<'a> {
    pieces: &'a RackSwitchGroups<'a>,
    /// Whether servers are in the racks of their switches.
    counted: bool,
    racks: Vec<RackContents>,
    /// Length of a cable within a rack; then what a cable between racks has beside their distance.
    inside: i64,
    overhead: i64,
    /// The position of each piece.
    of: Vec<SwitchGroupPosition>,
    /// Length of the cables of each piece.
    length: Vec<i64>,
    /// Pieces that are to be looked at: those whose cables have changed.
    open: Vec<bool>,
}

/// A rack and what is in it.
struct RackContents {
    pieces: Vec<u32>,
    /// The number of its cell; a piece stays in the racks of one cell.
    cell: u32,
    /// The most units that a rack of its cell has had.
    most: u64,
    load: RackLoad,
    at: [i32; 2],
}

impl<'a> RackAssignmentOptimizer<'a> {
    /// All pieces in these racks of cells, which stand on `spots`.
    pub(super) fn new(
        pieces: &'a RackSwitchGroups<'a>,
        racks: Vec<(u32, Vec<u32>)>,
        spots: &[FloorSpot],
        rules: &FloorRules,
    ) -> Self {
        let mm = |metres: f64| (metres * 1000.0).round() as i64;
        let place = |i: u32, pitch: i64| i32::try_from(i64::from(i) * pitch).unwrap_or(i32::MAX);
        let long = 1.0 + rules.slack_fraction;
        let (along, across) = (mm(rules.pitch_m * long), mm(rules.row_pitch() * long));
        let counted = rules.counts_endpoints();
        let rack = |((cell, all), &(row, column)): ((u32, Vec<u32>), &FloorSpot)| {
            let load = pieces.load(&all, true);
            let at = [place(column, along), place(row, across)];
            RackContents { pieces: all, cell, most: 0, load, at }
        };
        let mut moving = Self {
            pieces,
            counted,
            racks: racks.into_iter().zip(spots).map(rack).collect(),
            inside: mm(rules.inside_m),
            overhead: 2 * mm(rules.overhead_m * long + rules.slack_m),
            of: vec![SwitchGroupPosition::default(); pieces.switches.len()],
            length: Vec::new(),
            open: vec![true; pieces.switches.len()],
        };
        let mut most: BTreeMap<u32, u64> = BTreeMap::new();
        for (rack, r) in (0..).zip(&moving.racks) {
            let of_cell = most.entry(r.cell).or_default();
            *of_cell = moving.units(r.load).max(*of_cell);
            for (place, &p) in (0..).zip(&r.pieces) {
                moving.of[p as usize] = SwitchGroupPosition { at: r.at, rack, place };
            }
        }
        for rack in &mut moving.racks {
            rack.most = most[&rack.cell];
        }
        let length = |p: usize| moving.length_at(p, moving.of[p].rack);
        moving.length = (0..moving.of.len()).map(length).collect();
        moving
    }

    /// The racks when no move makes cables shorter any more, or after some rounds; the pieces of
    /// each in order.
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` says so.
    pub(super) fn settled(
        mut self,
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<Vec<u32>>, Interrupted> {
        self.arrange();
        let mut scratch = Vec::new();
        for round in 0..ROUNDS {
            let mut better = false;
            for piece in 0..self.of.len() {
                if piece % 4096 == 0 {
                    watch.tick("moves", round, ROUNDS)?;
                }
                if std::mem::replace(&mut self.open[piece], false)
                    && let Some((rack, other)) = self.best(piece, &mut scratch)
                {
                    self.go(piece, rack, other);
                    better = true;
                }
            }
            if !better {
                break;
            }
        }
        let sorted = |mut rack: RackContents| {
            rack.pieces.sort_unstable();
            rack.pieces
        };
        Ok(self.racks.into_iter().map(sorted).collect())
    }

    /// Racks of one cell change places where they need as many racks beside them and that makes
    /// cables shorter; cells of many racks stay as they are.
    fn arrange(&mut self) {
        let mut start = 0;
        while start < self.racks.len() {
            let cell = self.racks[start].cell;
            let racks = self.racks[start..].iter().take_while(|r| r.cell == cell).count();
            let all = start..start + racks;
            start = all.end;
            if racks > MOST_ARRANGED {
                continue;
            }
            for a in all.clone() {
                for b in all.start..a {
                    let (mine, theirs) = (&self.racks[a], &self.racks[b]);
                    if self.beside(mine.load) == self.beside(theirs.load) && self.growth(a, b) < 0 {
                        self.exchange(a, b);
                    }
                }
            }
        }
        for p in 0..self.of.len() {
            self.length[p] = self.length_at(p, self.of[p].rack);
        }
    }

    /// By how much the cables get longer when all of two racks change places.
    fn growth(&self, a: usize, b: usize) -> i64 {
        let (mut growth, pair) = (0, [a as u32, b as u32]);
        for (from, to) in [(a, b), (b, a)] {
            let (here, there) = (self.racks[from].at, self.racks[to].at);
            for &p in &self.racks[from].pieces {
                for (q, w) in self.cables().edges(p as usize) {
                    let home = &self.of[q];
                    if !pair.contains(&home.rack) {
                        let far = |r: usize, at| self.distance(home.rack, home.at, r as u32, at);
                        growth += i64::from(w) * (far(to, there) - far(from, here));
                    }
                }
            }
        }
        growth
    }

    fn exchange(&mut self, a: usize, b: usize) {
        let [mine, theirs] = self.racks.get_disjoint_mut([a, b]).expect("two racks");
        std::mem::swap(&mut mine.pieces, &mut theirs.pieces);
        std::mem::swap(&mut mine.load, &mut theirs.load);
        for rack in [a, b] {
            let at = self.racks[rack].at;
            for (place, &p) in (0..).zip(&self.racks[rack].pieces) {
                self.of[p as usize] = SwitchGroupPosition { at, rack: rack as u32, place };
            }
        }
    }

    /// Number of racks that the servers of `load` need beside its rack.
    fn beside(&self, load: RackLoad) -> u64 {
        self.pieces.limits.racks_beside(load.switches, load.endpoints)
    }

    /// Units that the devices of `load` take in a rack of switches.
    fn units(&self, load: RackLoad) -> u64 {
        self.pieces
            .limits
            .units(RackLoad { endpoints: if self.counted { load.endpoints } else { 0 }, ..load })
    }

    /// Whether `rack` has room for what `comes` when `goes` is gone: it needs no more racks beside
    /// it, and gets no fuller than the fullest of its cell was.
    fn has_room(&self, rack: &RackContents, comes: RackLoad, goes: RackLoad) -> bool {
        if comes == goes {
            return true;
        }
        let limits = self.pieces.limits;
        let after = rack.load.and(comes).less(goes);
        let counted =
            RackLoad { endpoints: if self.counted { after.endpoints } else { 0 }, ..after };
        limits.hold(counted)
            && limits.units(counted) <= rack.most
            && self.beside(after) == self.beside(rack.load)
    }

    /// Length of a cable from rack `a` at `at` to rack `b` at `there`.
    fn distance(&self, a: u32, at: [i32; 2], b: u32, there: [i32; 2]) -> i64 {
        let apart = i64::from(at[0].abs_diff(there[0])) + i64::from(at[1].abs_diff(there[1]));
        if a == b { self.inside } else { self.overhead + apart }
    }

    /// Length of the cables of `piece` if it were in `rack`.
    fn length_at(&self, piece: usize, rack: u32) -> i64 {
        let at = self.racks[rack as usize].at;
        let edges = self.cables().edges(piece).map(|(q, w)| {
            let other = &self.of[q];
            i64::from(w) * self.distance(other.rack, other.at, rack, at)
        });
        edges.sum()
    }

    fn cables(&self) -> &'a WeightedGraph {
        &self.pieces.cables
    }

    /// The rack of a neighbour that `piece` had best go to, and the piece that it had best change
    /// places with, where that makes cables shorter.
    fn best(&self, piece: usize, racks: &mut Vec<u32>) -> Option<(u32, Option<u32>)> {
        let home = self.of[piece].rack;
        let from = &self.racks[home as usize];
        racks.clear();
        let near = self.cables().edges(piece).map(|(q, _)| self.of[q].rack);
        racks.extend(near.filter(|&r| r != home && self.racks[r as usize].cell == from.cell));
        racks.sort_unstable();
        racks.dedup();
        let load = self.pieces.loads[piece];
        let (mut best, mut most) = (None, 0);
        for &rack in racks.iter() {
            let shorter = self.length[piece] - self.length_at(piece, rack);
            if shorter <= 0 {
                continue;
            }
            let to = &self.racks[rack as usize];
            let alone = from.pieces.len() == 1;
            if shorter > most
                && !alone
                && self.has_room(to, load, RackLoad::default())
                && self.has_room(from, RackLoad::default(), load)
            {
                (best, most) = (Some((rack, None)), shorter);
            }
            // a cable between the two pieces keeps its length
            let apart = 2 * (self.distance(home, from.at, rack, to.at) - self.inside);
            for &other in &to.pieces {
                let (q, theirs) = (other as usize, self.pieces.loads[other as usize]);
                let gain = shorter + self.length[q] - self.length_at(q, home);
                if gain <= most {
                    continue;
                }
                let gain = gain - apart * self.between(piece, q);
                if gain > most
                    && self.has_room(to, load, theirs)
                    && self.has_room(from, theirs, load)
                {
                    (best, most) = (Some((rack, Some(other))), gain);
                }
            }
        }
        best
    }

    fn between(&self, a: usize, b: usize) -> i64 {
        self.cables().edges(a).filter(|&(q, _)| q == b).map(|(_, w)| i64::from(w)).sum()
    }

    /// `piece` goes to `rack`, and `other` to where it was.
    fn go(&mut self, piece: usize, rack: u32, other: Option<u32>) {
        let home = self.of[piece].rack;
        self.put(piece, rack);
        if let Some(other) = other {
            self.put(other as usize, home);
        }
        for p in [Some(piece), other.map(|p| p as usize)].into_iter().flatten() {
            self.renew(p);
            for (q, _) in self.cables().edges(p) {
                self.renew(q);
            }
        }
    }

    fn put(&mut self, piece: usize, rack: u32) {
        let load = self.pieces.loads[piece];
        let SwitchGroupPosition { rack: from, place, .. } = self.of[piece];
        let left = &mut self.racks[from as usize];
        left.load = left.load.less(load);
        left.pieces.swap_remove(place as usize);
        if let Some(&moved) = left.pieces.get(place as usize) {
            self.of[moved as usize].place = place;
        }
        let to = &mut self.racks[rack as usize];
        to.load = to.load.and(load);
        self.of[piece] = SwitchGroupPosition { at: to.at, rack, place: to.pieces.len() as u32 };
        to.pieces.push(piece as u32);
    }

    fn renew(&mut self, piece: usize) {
        self.length[piece] = self.length_at(piece, self.of[piece].rack);
        self.open[piece] = true;
    }
}
