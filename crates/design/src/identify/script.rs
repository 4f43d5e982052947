//! The refinement of a planned graph into single vertices, recorded so that a found graph with
//! faults can follow it.
//!
//! Source: colour refinement with individualised vertices, as in `McKay` & Piperno, "Practical
//! graph isomorphism, II", Journal of Symbolic Computation 60, 2014. There both graphs must agree
//! in every step; here the found graph follows the plan's steps as nearly as it can, so that a few
//! wrong cables displace a few vertices alone.

use super::graph::DeviceGraph;
use base::seed::RandomStream;
use std::collections::{BTreeSet, VecDeque};

/// A cell of vertices that a cut makes: the value of its vertices, their number in the plan, and
/// the number of the cell.
#[derive(Debug, Clone, Copy)]
struct CellPart {
    value: u32,
    size: usize,
    cell: usize,
}

/// A step of the refinement.
#[derive(Debug, Clone)]
enum RefinementStep {
    /// Whether vertices are switches is their value.
    Kinds,
    /// The number of endpoints with one rail is the value of each vertex.
    Hosts,
    /// The number of cables is the value of each vertex.
    Degrees,
    /// The number of cables to this cell is the value of each vertex.
    Cables(usize),
    /// This cell falls into cells by the values of its vertices, the largest first.
    Cut(usize, Vec<CellPart>),
    /// A vertex of the first cell becomes the second one.
    Single(usize, usize),
}

/// The steps by which every vertex of a planned graph comes into a cell of its own.
#[derive(Debug)]
pub(super) struct RefinementScript {
    steps: Vec<RefinementStep>,
    /// The vertex of each cell at the end.
    vertices: Vec<u32>,
}

/// The vertices of a graph by cell, with their values in the current step.
struct Cells {
    members: Vec<Vec<u32>>,
    of: Vec<usize>,
    value: Vec<u32>,
    /// Vertices whose value is not 0, where values are numbers of cables.
    touched: Vec<u32>,
}

impl Cells {
    fn new(vertices: Vec<u32>) -> Self {
        let n = vertices.len();
        Self { members: vec![vertices], of: vec![0; n], value: vec![0; n], touched: Vec::new() }
    }

    fn set_values(&mut self, graph: &DeviceGraph, step: &RefinementStep) {
        let n = graph.len() as u32;
        match step {
            RefinementStep::Kinds => {
                (0..n).for_each(|v| self.value[v as usize] = u32::from(graph.is_switch(v)));
            }
            RefinementStep::Hosts => self.value.clone_from(&graph.hosts),
            RefinementStep::Degrees => {
                (0..n).for_each(|v| self.value[v as usize] = graph.degree(v));
            }
            RefinementStep::Cables(cell) => {
                for v in self.touched.drain(..) {
                    self.value[v as usize] = 0;
                }
                for v in &self.members[*cell] {
                    for (to, cables) in &graph.rows[*v as usize] {
                        if self.value[*to as usize] == 0 {
                            self.touched.push(*to);
                        }
                        self.value[*to as usize] += cables;
                    }
                }
            }
            RefinementStep::Cut(..) | RefinementStep::Single(..) => {}
        }
    }

    fn clear_values(&mut self) {
        self.value.fill(0);
        self.touched.clear();
    }

    fn put(&mut self, cell: usize, members: Vec<u32>) {
        if self.members.len() <= cell {
            self.members.resize(cell + 1, Vec::new());
        }
        for v in &members {
            self.of[*v as usize] = cell;
        }
        self.members[cell] = members;
    }
}

/// The refinement of a plan while it is recorded.
struct ScriptRecorder<'a> {
    graph: &'a DeviceGraph,
    cells: Cells,
    steps: Vec<RefinementStep>,
    queue: VecDeque<usize>,
    queued: Vec<bool>,
    /// The cells of several vertices, by size.
    several: BTreeSet<(usize, usize)>,
}

impl ScriptRecorder<'_> {
    /// Cuts a cell by the current values, if these differ.
    fn cut(&mut self, cell: usize) {
        let mut members = std::mem::take(&mut self.cells.members[cell]);
        let first = self.cells.value[members[0] as usize];
        if members.iter().all(|v| self.cells.value[*v as usize] == first) {
            self.cells.members[cell] = members;
            return;
        }
        self.several.remove(&(members.len(), cell));
        members.sort_by_key(|v| (std::cmp::Reverse(self.cells.value[*v as usize]), *v));
        let (mut parts, mut rest) = (Vec::new(), members.as_slice());
        while let Some(v) = rest.first() {
            let value = self.cells.value[*v as usize];
            let size = rest.partition_point(|v| self.cells.value[*v as usize] >= value);
            let id = if parts.is_empty() { cell } else { self.cells.members.len() };
            self.cells.put(id, rest[..size].to_vec());
            self.remember(id);
            parts.push(CellPart { value, size, cell: id });
            rest = &rest[size..];
        }
        // cells that were not waiting to be looked at leave out their largest part
        let waits = self.queued[cell];
        let largest = parts.iter().max_by_key(|part| (part.size, part.cell)).map(|part| part.cell);
        for part in &parts {
            if !self.queued[part.cell] && (waits || Some(part.cell) != largest) {
                self.queued[part.cell] = true;
                self.queue.push_back(part.cell);
            }
        }
        self.steps.push(RefinementStep::Cut(cell, parts));
    }

    fn remember(&mut self, cell: usize) {
        let size = self.cells.members[cell].len();
        if self.queued.len() <= cell {
            self.queued.resize(cell + 1, false);
        }
        if size > 1 {
            self.several.insert((size, cell));
        }
    }

    fn attribute(&mut self, step: RefinementStep) {
        self.cells.set_values(self.graph, &step);
        self.steps.push(step);
        for cell in 0..self.cells.members.len() {
            self.cut(cell);
        }
        self.cells.clear_values();
    }

    fn refine(&mut self) {
        while let Some(cell) = self.queue.pop_front() {
            self.queued[cell] = false;
            let step = RefinementStep::Cables(cell);
            self.cells.set_values(self.graph, &step);
            let near: BTreeSet<usize> =
                self.cells.touched.iter().map(|v| self.cells.of[*v as usize]).collect();
            self.steps.push(step);
            for cell in near {
                if self.cells.members[cell].len() > 1 {
                    self.cut(cell);
                }
            }
        }
    }
}

impl RefinementScript {
    /// Refines a planned graph. The smallest cell of several vertices loses one wherever the cables
    /// tell no more vertices apart. O((vertices + cables) log vertices), and O(vertices) more for
    /// each such vertex.
    pub(super) fn of(graph: &DeviceGraph) -> Self {
        let cells = Cells::new((0..graph.len() as u32).collect());
        let (steps, queue) = (Vec::new(), VecDeque::new());
        let several = BTreeSet::new();
        let mut own = ScriptRecorder { graph, cells, steps, queue, queued: vec![false], several };
        own.remember(0);
        for step in [RefinementStep::Kinds, RefinementStep::Hosts, RefinementStep::Degrees] {
            own.attribute(step);
        }
        own.queue = (0..own.cells.members.len()).collect();
        own.queued = vec![true; own.cells.members.len()];
        own.refine();
        while let Some((size, cell)) = own.several.pop_first() {
            let id = own.cells.members.len();
            let single = own.cells.members[cell].remove(0);
            own.cells.put(id, vec![single]);
            own.remember(id);
            own.remember(cell);
            debug_assert_eq!(own.cells.members[cell].len() + 1, size);
            own.steps.push(RefinementStep::Single(cell, id));
            own.queue.push_back(id);
            own.queued[id] = true;
            own.refine();
        }
        let vertices = own.cells.members.iter().map(|cell| cell[0]).collect();
        Self { steps: own.steps, vertices }
    }

    /// The planned vertex of each vertex of a found graph that follows the steps, `None` for those
    /// that are left over. Where the plan singles out any vertex of a cell, so does the found
    /// graph, by `draw`. `None` altogether as soon as the values of vertices are further than
    /// `most` from the plan's, all differences added. O(cables of the steps + vertices log
    /// vertices).
    pub(super) fn follow(
        &self,
        graph: &DeviceGraph,
        draw: &mut RandomStream,
        most: u64,
    ) -> Option<Vec<Option<u32>>> {
        let mut all: Vec<u32> = (0..graph.len() as u32).collect();
        draw.shuffle(&mut all);
        let mut cells = Cells::new(all);
        let (mut by_attribute, mut apart) = (false, 0);
        for step in &self.steps {
            match step {
                RefinementStep::Cut(cell, parts) => {
                    apart += follow_cut(&mut cells, *cell, parts);
                    if apart > most {
                        return None;
                    }
                }
                RefinementStep::Single(cell, id) => {
                    // the members are in random order
                    let single = cells.members[*cell].pop();
                    cells.put(*id, single.into_iter().collect());
                }
                attribute => {
                    if by_attribute {
                        cells.clear_values();
                    }
                    cells.set_values(graph, attribute);
                    by_attribute = !matches!(attribute, RefinementStep::Cables(_));
                }
            }
        }
        let mut planned = vec![None; graph.len()];
        for (cell, vertex) in cells.members.iter().zip(&self.vertices) {
            if let Some(v) = cell.first() {
                planned[*v as usize] = Some(*vertex);
            }
        }
        Some(planned)
    }
}

/// Cuts a cell of a found graph into the plan's parts: every vertex comes to the part of the
/// nearest value, as far as there is room for it, and no part stays empty for which there is a
/// vertex. Returns how far the values are from those of the plan.
fn follow_cut(cells: &mut Cells, cell: usize, parts: &[CellPart]) -> u64 {
    let mut apart = 0;
    let mut members = std::mem::take(&mut cells.members[cell]);
    members.sort_by_key(|v| std::cmp::Reverse(cells.value[*v as usize]));
    let mut room: usize = parts.iter().map(|part| part.size).sum();
    let mut rest = members.as_slice();
    for (i, part) in parts.iter().enumerate() {
        room -= part.size;
        let take = match parts.get(i + 1) {
            None => rest.len(),
            Some(next) => {
                let near = |v: &u32| 2 * cells.value[*v as usize] >= part.value + next.value;
                let near = rest.partition_point(near);
                let least = rest.len().saturating_sub(room).min(part.size);
                near.clamp(least, part.size.min(rest.len()).max(least))
            }
        };
        let (own, others) = rest.split_at(take);
        let own = own.to_vec();
        let off = |v: &u32| u64::from(cells.value[*v as usize].abs_diff(part.value));
        apart += own.iter().map(off).sum::<u64>() + own.len().abs_diff(part.size) as u64;
        rest = others;
        cells.put(part.cell, own);
    }
    apart
}
