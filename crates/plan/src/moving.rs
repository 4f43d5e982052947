//! Moving: switches go to other racks, or change places, where that makes the cables shorter.
//!
//! Source: Heider, "An N-step, 2-variable search algorithm for the component placement problem",
//! Naval Research Logistics Quarterly 1973: exchanges of pairs, each taken where it is an
//! improvement.

use super::hop_sums::{CableHopSums, FloorArea, FloorSpot};
use super::packing::{RackLoad, RackSwitchGroups};
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
    /// What a cable gets longer by a column, and by a row.
    pitch: (i64, i64),
    /// The position of each piece.
    of: Vec<SwitchGroupPosition>,
    /// Length of the cables of each piece.
    length: Vec<i64>,
    /// Number of cables of each piece.
    count: Vec<i64>,
    /// Cables times hops for each piece in the area of its cell, while pieces move; `None` where
    /// lengths are added up each time.
    sums: Option<CableHopSums<'a>>,
    /// Pieces that are to be looked at: those whose cables have changed.
    open: Vec<bool>,
}

/// What is reused from one search for a better rack to the next.
#[derive(Default)]
struct RackSearchScratch {
    /// The racks that the neighbours of a piece are in, with the number of cables to each.
    near: Vec<(u32, i64)>,
    /// By piece, the number of its cables to the pieces of one rack.
    to_home: Vec<i64>,
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
    spot: FloorSpot,
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
        let rack = |((cell, all), &spot): ((u32, Vec<u32>), &FloorSpot)| {
            let load = pieces.load(&all, true);
            let at = [place(spot.1, along), place(spot.0, across)];
            RackContents { pieces: all, cell, most: 0, load, at, spot }
        };
        let mut moving = Self {
            pieces,
            counted,
            racks: racks.into_iter().zip(spots).map(rack).collect(),
            inside: mm(rules.inside_m),
            overhead: 2 * mm(rules.overhead_m * long + rules.slack_m),
            pitch: (along, across),
            of: vec![SwitchGroupPosition::default(); pieces.switches.len()],
            length: Vec::new(),
            count: Vec::new(),
            sums: None,
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
        self.keep_sums();
        let to_home = vec![0; self.of.len()];
        let mut scratch = RackSearchScratch { near: Vec::new(), to_home };
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

    /// Begins to keep sums for each piece in the area of its cell, where that can be.
    fn keep_sums(&mut self) {
        let cables = self.cables();
        let count = |p| cables.edges(p).map(|(_, w)| i64::from(w)).sum();
        self.count = (0..self.of.len()).map(count).collect();
        if self.racks.iter().any(|rack| rack.at.contains(&i32::MAX)) {
            return;
        }
        let mut areas: Vec<FloorArea> = Vec::new();
        // by rack, the area of its cell; the racks of a cell follow one another
        let mut area_of: Vec<u32> = Vec::with_capacity(self.racks.len());
        for racks in self.racks.chunk_by(|x, y| x.cell == y.cell) {
            area_of.resize(area_of.len() + racks.len(), areas.len() as u32);
            areas.push(FloorArea::around(racks.iter().map(|rack| rack.spot)));
        }
        let spot = |p: usize| self.racks[self.of[p].rack as usize].spot;
        let area = |p: usize| area_of[self.of[p].rack as usize];
        self.sums = CableHopSums::new(cables, spot, areas, area);
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

    /// As [`Self::length_at`], where `within` of the cables are to pieces that are in `rack`.
    fn length_within(&self, piece: usize, rack: u32, within: i64) -> i64 {
        let Some(sums) = &self.sums else { return self.length_at(piece, rack) };
        let (along, across) = sums.at(piece, self.racks[rack as usize].spot);
        let apart = along * self.pitch.0 + across * self.pitch.1;
        apart + self.overhead * (self.count[piece] - within) + self.inside * within
    }

    fn cables(&self) -> &'a WeightedGraph {
        &self.pieces.cables
    }

    /// The rack of a neighbour that `piece` had best go to, and the piece that it had best change
    /// places with, where that makes cables shorter.
    fn best(&self, piece: usize, scratch: &mut RackSearchScratch) -> Option<(u32, Option<u32>)> {
        let home = self.of[piece].rack;
        let from = &self.racks[home as usize];
        let near = self.cables().edges(piece).map(|(q, w)| (self.of[q].rack, i64::from(w)));
        scratch.near.clear();
        scratch
            .near
            .extend(near.filter(|&(r, _)| r != home && self.racks[r as usize].cell == from.cell));
        if scratch.near.is_empty() {
            return None;
        }
        scratch.near.sort_unstable();
        let from_home = || from.pieces.iter().flat_map(|&p| self.cables().edges(p as usize));
        from_home().for_each(|(q, w)| scratch.to_home[q] += i64::from(w));
        let best = self.best_of(piece, scratch);
        from_home().for_each(|(q, _)| scratch.to_home[q] = 0);
        best
    }

    /// The best of the racks that `scratch` has.
    fn best_of(&self, piece: usize, scratch: &RackSearchScratch) -> Option<(u32, Option<u32>)> {
        let home = self.of[piece].rack;
        let from = &self.racks[home as usize];
        let load = self.pieces.loads[piece];
        let (mut best, mut most) = (None, 0);
        for cables in scratch.near.chunk_by(|x, y| x.0 == y.0) {
            let rack = cables[0].0;
            let within = cables.iter().map(|(_, w)| w).sum();
            let shorter = self.length[piece] - self.length_within(piece, rack, within);
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
                let after = self.length_within(q, home, scratch.to_home[q]);
                let gain = shorter + self.length[q] - after;
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
        self.cables().weight(a, b).into()
    }

    /// `piece` goes to `rack`, and `other` to where it was.
    fn go(&mut self, piece: usize, rack: u32, other: Option<u32>) {
        let home = self.of[piece].rack;
        self.shift(piece, rack);
        if let Some(other) = other {
            self.shift(other as usize, home);
        }
    }

    /// `piece` goes to `rack`, and the lengths of its cables change.
    fn shift(&mut self, piece: usize, rack: u32) {
        let before = self.of[piece];
        self.put(piece, rack);
        let after = self.of[piece];
        for (q, w) in self.cables().edges(piece) {
            let other = self.of[q];
            let [old, new] = [before, after]
                .map(|of| i64::from(w) * self.distance(other.rack, other.at, of.rack, of.at));
            self.length[q] += new - old;
            self.length[piece] += new - old;
            self.open[q] = true;
        }
        self.open[piece] = true;
        if let Some(sums) = &mut self.sums {
            let [from, to] = [before, after].map(|of| self.racks[of.rack as usize].spot);
            sums.moved(piece, from, to);
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
}
