//! Seating: which switches share a rack, and where the racks stand, by what the family declares.
//!
//! Source: racks of a Slim Fly: "A high-performance design, implementation, deployment, and
//! evaluation of the Slim Fly network", NSDI 2024; of flattened butterflies and `HyperX`: Kim,
//! Dally & Abts, "Flattened butterfly: a cost-efficient topology for high-radix networks", ISCA
//! 2007, section 4; folded tori: Dally & Towles, "Principles and Practices of Interconnection
//! Networks", 2004, section 5.3.

use super::hop_sums::FloorSpot;
use super::moving::RackAssignmentOptimizer;
use super::packing::{RackLimits, RackSwitchGroups};
use super::placing::{RankedCoordinate, across, annealed, blocks_by_row, on_grid, row_by_row};
use super::rules::FloorRules;
use base::{Interrupted, ProgressWatch, SwitchId, TerminalId};
use fabric::geometry::{GridRowLinks, NetworkGeometry, PlaneStructure};
use fabric::network::{Switch, Topology};
use std::collections::BTreeMap;

/// A rack of switches, and the racks beside it that have servers of its own alone.
pub(super) struct SwitchRackBlock {
    /// Row and column of each rack, that of the switches first.
    pub(super) spots: Vec<FloorSpot>,
    /// The switches, from the bottom up.
    pub(super) switches: Vec<SwitchId>,
}

/// Racks of pieces, before they have a spot.
enum UnplacedRackCells {
    /// Cells one after the other, each of one or more racks, which stay beside each other.
    List(Vec<Vec<Vec<u32>>>),
    /// Cells by their coordinates across the rows and along them.
    Grid(BTreeMap<(RankedCoordinate, RankedCoordinate), Vec<Vec<u32>>>),
    /// Racks whose places are still open: they are put where their cables are short.
    Open(Vec<Vec<u32>>),
}

impl UnplacedRackCells {
    fn all(&self) -> Vec<Vec<u32>> {
        match self {
            Self::List(cells) => cells.iter().flatten().cloned().collect(),
            Self::Grid(cells) => cells.values().flatten().cloned().collect(),
            Self::Open(racks) => racks.clone(),
        }
    }
}

/// Racks for all of `t`; `first` has the first rail of each endpoint.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub(super) fn seat(
    t: &Topology,
    first: &[Option<TerminalId>],
    limits: &RackLimits,
    rules: &FloorRules,
    watch: &dyn ProgressWatch,
) -> Result<Vec<SwitchRackBlock>, Interrupted> {
    let NetworkGeometry { form, planes } = t.geometry();
    let seating = |switches| {
        let pieces = RackSwitchGroups::new(t, switches, first, limits, watch);
        RackAssigner { pieces, rules, form, planes }
    };
    let single = seating((0..t.switches().len()).map(|s| vec![SwitchId::from(s)]).collect());
    let bundled = bundles(t, first).filter(|_| planes > 0).map(seating);
    let bundled = bundled.filter(|b| b.pieces.too_large().is_none());
    let apart = single.racks()?;
    if let Some(bundled) = bundled {
        let together = bundled.racks()?;
        let crossing =
            |s: &RackAssigner, racks: &UnplacedRackCells| s.pieces.crossing(&racks.all());
        if crossing(&bundled, &together) <= crossing(&single, &apart) {
            return bundled.placed(&together, watch);
        }
    }
    single.placed(&apart, watch)
}

/// The switches of all planes that serve the same endpoints, or have the same number in their plane
/// where they serve none; `None` when the planes are not alike.
fn bundles(t: &Topology, first: &[Option<TerminalId>]) -> Option<Vec<Vec<SwitchId>>> {
    let planes = usize::from(t.planes());
    let each = t.switches().len() / planes.max(1);
    let alike = |(i, s): (usize, &Switch)| {
        usize::from(s.plane) * each <= i && i < (usize::from(s.plane) + 1) * each
    };
    if planes < 2 || !t.switches().iter().enumerate().all(alike) {
        return None;
    }
    // the piece of each switch: its number, or that of the first plane's switch for its endpoints
    let mut of: Vec<usize> = (0..t.switches().len()).map(|s| s % each).collect();
    for terminal in t.terminals() {
        let home = first[terminal.endpoint.ix()]?;
        of[terminal.plug.switch.ix()] = t.terminals()[home.ix()].plug.switch.ix() % each;
    }
    let mut all = vec![Vec::with_capacity(planes); each];
    for (s, &piece) in of.iter().enumerate() {
        all[piece].push(SwitchId::from(s));
    }
    let whole = |(piece, all): (usize, &Vec<SwitchId>)| {
        all.len() == planes
            && all[0].ix() == piece
            && all.iter().zip(0..).all(|(s, plane)| s.ix() / each == plane)
    };
    all.iter().enumerate().all(whole).then_some(all)
}

/// The pieces of a network, and how they stand to one another.
struct RackAssigner<'a> {
    pieces: RackSwitchGroups<'a>,
    rules: &'a FloorRules,
    form: PlaneStructure,
    /// Number of leading coordinates that say which plane a switch is in.
    planes: usize,
}

/// The coordinates of each piece in the dimensions that are wider than 1, ranked from 0.
struct SwitchGroupCoordinates {
    sizes: Vec<u32>,
    at: Vec<Vec<u32>>,
}

impl RackAssigner<'_> {
    fn switch(&self, piece: u32) -> &Switch {
        &self.pieces.t.switches()[self.pieces.switches[piece as usize][0].ix()]
    }

    fn ids(&self) -> std::ops::Range<u32> {
        0..self.pieces.switches.len() as u32
    }

    /// The coordinates within the plane.
    fn coordinates(&self, piece: u32) -> &[u32] {
        self.switch(piece).coordinates.get(self.planes..).unwrap_or_default()
    }

    /// The racks, by what coordinates and groups mean in the family.
    fn racks(&self) -> Result<UnplacedRackCells, Interrupted> {
        if self.ids().is_empty() {
            return Ok(UnplacedRackCells::List(Vec::new()));
        }
        match self.form {
            PlaneStructure::Columns if self.ids().all(|p| self.coordinates(p).len() == 3) => {
                self.listed(|p| vec![self.switch(p).plane.into(), self.coordinates(p)[1]])
            }
            PlaneStructure::Levels if self.top() > 0 => self.tree(),
            PlaneStructure::Grid(row) => match self.grid() {
                Some(grid) if row == GridRowLinks::Complete => self.by_dimension(&grid),
                Some(grid) => self.by_block(&grid, row == GridRowLinks::Ring),
                None => self.by_group(),
            },
            PlaneStructure::Free => self.open(),
            PlaneStructure::Groups | PlaneStructure::Columns | PlaneStructure::Levels => {
                self.by_group()
            }
        }
    }

    /// Racks with as few cables between them as can be found.
    fn open(&self) -> Result<UnplacedRackCells, Interrupted> {
        let all: Vec<u32> = self.ids().collect();
        Ok(UnplacedRackCells::Open(self.pieces.split(&all, &mut None)?))
    }

    /// A cell for each group of each plane; [`Self::open`] where there is only one group.
    fn by_group(&self) -> Result<UnplacedRackCells, Interrupted> {
        let one = self.ids().all(|p| self.switch(p).group == self.switch(0).group);
        if one {
            return self.open();
        }
        self.listed(|p| vec![self.switch(p).plane.into(), self.switch(p).group])
    }

    /// A cell for all pieces of one key, in the order of the keys.
    fn listed(
        &self,
        key: impl Fn(u32) -> RankedCoordinate,
    ) -> Result<UnplacedRackCells, Interrupted> {
        let mut cells: BTreeMap<RankedCoordinate, Vec<u32>> = BTreeMap::new();
        for p in self.ids() {
            cells.entry(key(p)).or_default().push(p);
        }
        let mut last = None;
        let split = cells.values().map(|cell| self.pieces.split(cell, &mut last));
        Ok(UnplacedRackCells::List(split.collect::<Result<_, _>>()?))
    }

    fn top(&self) -> u8 {
        self.ids().map(|p| self.switch(p).level).max().unwrap_or(0)
    }

    /// Pods, or as many leaves to a rack as fit with their endpoints where there are two levels;
    /// then racks of the top level.
    fn tree(&self) -> Result<UnplacedRackCells, Interrupted> {
        let top = self.top();
        let mut cells: BTreeMap<(bool, u16, u32), Vec<u32>> = BTreeMap::new();
        for p in self.ids() {
            let s = self.switch(p);
            let group = if s.level == top || top == 1 { 0 } else { s.group };
            cells.entry((s.level == top, s.plane, group)).or_default().push(p);
        }
        let (mut list, mut last) = (Vec::new(), None);
        for ((is_top, ..), cell) in cells {
            if is_top {
                list.extend(
                    self.pieces.split(&cell, &mut last)?.into_iter().map(|rack| vec![rack]),
                );
            } else if top == 1 {
                let racks = self.pieces.in_order(&cell, self.rules.counts_endpoints());
                list.extend(racks.into_iter().map(|rack| vec![rack]));
            } else {
                list.push(self.pieces.split(&cell, &mut last)?);
            }
        }
        Ok(UnplacedRackCells::List(list))
    }

    /// The wide dimensions; `None` where pieces have no coordinates or not the same number.
    fn grid(&self) -> Option<SwitchGroupCoordinates> {
        let dimensions = self.coordinates(0).len();
        if dimensions == 0 || self.ids().any(|p| self.coordinates(p).len() != dimensions) {
            return None;
        }
        let mut grid = SwitchGroupCoordinates {
            sizes: Vec::new(),
            at: vec![Vec::new(); self.pieces.switches.len()],
        };
        for d in 0..dimensions {
            let mut values: Vec<u32> = self.ids().map(|p| self.coordinates(p)[d]).collect();
            values.sort_unstable();
            values.dedup();
            if values.len() < 2 {
                continue;
            }
            grid.sizes.push(values.len() as u32);
            for (p, at) in self.ids().zip(&mut grid.at) {
                at.push(values.partition_point(|&v| v < self.coordinates(p)[d]) as u32);
            }
        }
        Some(grid)
    }

    /// The first dimension within a rack, the second along the rows, the third across them, higher
    /// ones in blocks of these.
    fn by_dimension(
        &self,
        grid: &SwitchGroupCoordinates,
    ) -> Result<UnplacedRackCells, Interrupted> {
        self.gridded(|p| grid.at[p as usize].iter().skip(1).copied().collect())
    }

    /// Blocks of neighbours; the racks along a closed dimension in folded order.
    fn by_block(
        &self,
        grid: &SwitchGroupCoordinates,
        closed: bool,
    ) -> Result<UnplacedRackCells, Interrupted> {
        let all: Vec<u32> = self.ids().collect();
        let most = self.pieces.limits.most(self.pieces.largest(&all)).max(1);
        let blocks = blocks(&grid.sizes, most, closed);
        self.gridded(|p| {
            let mut at = Vec::new();
            for ((&x, &size), &n) in grid.at[p as usize].iter().zip(&grid.sizes).zip(&blocks) {
                let block = (u64::from(x) * u64::from(n) / u64::from(size)) as u32;
                if n > 1 {
                    at.push(if closed { folded(block, n) } else { block });
                }
            }
            at
        })
    }

    /// Cells by their place in the room: dimensions alternate between along the rows and across
    /// them, and planes are side by side.
    fn gridded(&self, place: impl Fn(u32) -> Vec<u32>) -> Result<UnplacedRackCells, Interrupted> {
        let mut cells: BTreeMap<(RankedCoordinate, RankedCoordinate), Vec<u32>> = BTreeMap::new();
        for p in self.ids() {
            let at = place(p);
            let plane = u32::from(self.switch(p).plane);
            let mut column: RankedCoordinate =
                at.iter().copied().step_by(2).chain([plane]).collect();
            let mut row: RankedCoordinate = at.iter().copied().skip(1).step_by(2).collect();
            column.reverse();
            row.reverse();
            cells.entry((row, column)).or_default().push(p);
        }
        let mut last = None;
        let mut split = |cell: &[u32]| self.pieces.split(cell, &mut last);
        let split = cells.into_iter().map(|(key, cell)| Ok((key, split(&cell)?)));
        Ok(UnplacedRackCells::Grid(split.collect::<Result<_, Interrupted>>()?))
    }

    /// The racks on their spots, each followed by the racks for its servers.
    fn placed(
        &self,
        racks: &UnplacedRackCells,
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<SwitchRackBlock>, Interrupted> {
        let all = racks.all();
        let widths: Vec<usize> = all.iter().map(|r| 1 + self.pieces.racks_beside(r)).collect();
        let spots = match racks {
            UnplacedRackCells::List(cells) => {
                let wide = widths.iter().any(|&w| w > 1);
                let beside = wide || cells.iter().any(|cell| cell.len() > 1);
                blocks_by_row(&widths, self.rules, beside)
            }
            UnplacedRackCells::Grid(cells) => {
                let mut widths = widths.iter();
                let cells = cells.iter().map(|(key, racks)| {
                    (key.clone(), widths.by_ref().take(racks.len()).sum::<usize>())
                });
                on_grid(&cells.collect(), self.rules)
            }
            UnplacedRackCells::Open(_) => self.open_spots(&all, &widths, watch)?,
        };
        let all = self.moved(racks, all, &widths, &spots, watch)?;
        let mut spots = spots.into_iter();
        let block = |(rack, width): (Vec<u32>, usize)| {
            let pieces = rack.into_iter().map(|p| &self.pieces.switches[p as usize]);
            let mut switches: Vec<SwitchId> = pieces.flatten().copied().collect();
            switches.sort_by_cached_key(|&s| self.order(s));
            SwitchRackBlock { spots: spots.by_ref().take(width).collect(), switches }
        };
        Ok(all.into_iter().zip(widths).map(block).collect())
    }

    /// The racks after moves within their cells that make cables shorter; the rack of the switches
    /// is the first of its `widths` on `spots`.
    fn moved(
        &self,
        racks: &UnplacedRackCells,
        all: Vec<Vec<u32>>,
        widths: &[usize],
        spots: &[FloorSpot],
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<Vec<u32>>, Interrupted> {
        let sizes: Vec<usize> = match racks {
            UnplacedRackCells::List(cells) => cells.iter().map(Vec::len).collect(),
            UnplacedRackCells::Grid(cells) => cells.values().map(Vec::len).collect(),
            UnplacedRackCells::Open(racks) => vec![racks.len()],
        };
        if sizes.iter().all(|&racks| racks < 2) {
            return Ok(all);
        }
        let cells = (0..).zip(sizes).flat_map(|(cell, racks)| std::iter::repeat_n(cell, racks));
        let starts = widths.iter().scan(0, |start, &width| {
            *start += width;
            Some(*start - width)
        });
        let first: Vec<FloorSpot> = starts.map(|start| spots[start]).collect();
        let racks = cells.zip(all).collect();
        RackAssignmentOptimizer::new(&self.pieces, racks, &first, self.rules).settled(watch)
    }

    /// Spots of racks that stand where their cables are short; each takes as many spots in a row as
    /// it is wide. Blocks of one width stay in the grid that they are placed in, others are laid to
    /// and fro in its order.
    fn open_spots(
        &self,
        racks: &[Vec<u32>],
        widths: &[usize],
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<FloorSpot>, Interrupted> {
        let (cables, total) = (self.pieces.between(racks), widths.iter().sum());
        let width = widths.iter().max().map_or(1, |&w| w as u32);
        let in_row = across(total, self.rules) / width;
        let alike = widths.iter().all(|&w| w as u32 == width) && in_row > 0;
        let rules = if alike {
            let pitch_m = self.rules.pitch_m * f64::from(width);
            let row_pitch_m = Some(self.rules.row_pitch());
            FloorRules { pitch_m, row_pitch_m, racks_per_row: Some(in_row), ..self.rules.clone() }
        } else {
            self.rules.clone()
        };
        let start = row_by_row(racks.len(), &rules, false);
        let blocks = annealed(&cables, start, &rules, watch)?;
        if alike {
            let wide =
                |(row, column): FloorSpot| (0..width).map(move |k| (row, column * width + k));
            return Ok(blocks.into_iter().flat_map(wide).collect());
        }
        let mut order: Vec<usize> = (0..racks.len()).collect();
        let turned =
            |(row, column): FloorSpot| if row % 2 == 1 { u32::MAX - column } else { column };
        order.sort_by_key(|&b| (blocks[b].0, turned(blocks[b])));
        let mut line = row_by_row(total, self.rules, true).into_iter();
        let mut of: Vec<Vec<FloorSpot>> = vec![Vec::new(); racks.len()];
        for b in order {
            of[b] = line.by_ref().take(widths[b]).collect();
        }
        Ok(of.into_iter().flatten().collect())
    }

    /// The place of a switch in its rack: by number; in columns the second half in the order of
    /// the first half's switches that they have a cable to, so that all racks are wired alike.
    fn order(&self, s: SwitchId) -> (u32, SwitchId) {
        let t = self.pieces.t;
        let place = |s: SwitchId| t.switches()[s.ix()].coordinates.get(self.planes..);
        let (Some([1, column, _]), true) = (place(s), self.form == PlaneStructure::Columns) else {
            return (0, s);
        };
        let partner = (1..=t.switches()[s.ix()].ports).find_map(|port| {
            let (_, other) = t.hop(s, port)?;
            matches!(place(other), Some([0, c, _]) if c == column).then_some(other)
        });
        (1, partner.unwrap_or(s))
    }
}

/// Position of rack `i` of a ring of `n` such that no two neighbours are more than 2 apart.
fn folded(i: u32, n: u32) -> u32 {
    if i < n.div_ceil(2) { 2 * i } else { 2 * (n - 1 - i) + 1 }
}

/// In how many blocks each dimension is cut when a rack has room for `most` switches.
///
/// Dimensions that fit whole, the smallest first, are not cut as long as more than two are left to
/// be laid out on the floor. The two largest are cut into as few racks as can be, over as few links
/// as can be. O(dimensions^2 + switches along one dimension).
fn blocks(sizes: &[u32], most: u64, closed: bool) -> Vec<u32> {
    let mut blocks = sizes.to_vec();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&d| (sizes[d], d));
    let mut room = most;
    while order.len() > 2 && u64::from(sizes[order[0]]) <= room {
        room /= u64::from(sizes[order[0]]);
        blocks[order.remove(0)] = 1;
    }
    let (Some(&last), rest) = (order.last(), order.len().saturating_sub(2)) else { return blocks };
    let other = order.get(rest).copied().filter(|&d| d != last);
    let size = |d: Option<usize>| d.map_or(1, |d| sizes[d]);
    let least = |size: u32, room: u64| u64::from(size).div_ceil(room.max(1)) as u32;
    let links = |size: u32, n: u32| {
        let cuts = if n == 1 {
            0
        } else if closed && size > 2 {
            n
        } else {
            n - 1
        };
        f64::from(cuts) / f64::from(size)
    };
    let mut best: Option<((u64, f64, u32), u32, u32)> = None;
    for n in 1..=sizes[last] {
        let longest = u64::from(sizes[last].div_ceil(n));
        if longest > room {
            continue;
        }
        let m = least(size(other), room / longest);
        let cut = links(sizes[last], n) + links(size(other), m);
        let worth = (u64::from(n) * u64::from(m), cut, n.max(m));
        if best.is_none_or(|(least, ..)| worth < least) {
            best = Some((worth, n, m));
        }
    }
    if let Some((_, n, m)) = best {
        blocks[last] = n;
        if let Some(other) = other {
            blocks[other] = m;
        }
    }
    blocks
}
