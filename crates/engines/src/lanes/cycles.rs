//! Breaks one cycle after the other: all paths over one of its edges move to the next lane, until
//! no cycle is left.
//!
//! Source: Domke, Hoefler, Nagel, "Deadlock-free oblivious routing for arbitrary topologies", IPDPS
//! 2011, section IV: the edge is the one that the fewest paths use, the one that the most use, or a
//! random one.

use super::method::{LaneAssignmentMethod, LaneAssignmentRules, PathLanes, too_few};
use super::paths::{each_path, turns_of};
use base::seed::RandomStream;
use base::{ChannelId, ComputationError, Interrupted, ProgressWatch};
use fabric::network::Topology;
use fabric::tables::Routing;
use fabric::turns::ChannelDependencyNumbering;

/// Assigns a lane to every path of `routing`.
///
/// # Errors
/// When more than `max_lanes` lanes are needed, or `watch` asks to stop.
pub(super) fn lanes(
    routing: &Routing,
    rules: &LaneAssignmentRules,
    watch: &dyn ProgressWatch,
) -> Result<PathLanes, ComputationError> {
    let dependencies = ChannelDependencyNumbering::new(routing.topology());
    let mut lane_of = vec![0_u8; routing.entries()];
    let mut random = RandomStream::new(rules.seed, "edges of cycles", 0);
    for lane in 0..rules.max_lanes {
        let mut users = PathsByDependency::new(routing, &dependencies, &mut lane_of, lane, watch)?;
        let mut moved = 0_u64;
        let mut search = DependencyCycleSearch::new(routing.topology(), &dependencies);
        while let Some(cycle) = search.cycle(&users.count) {
            watch.tick("lanes", lane.into(), rules.max_lanes.into())?;
            let edge = match rules.method {
                LaneAssignmentMethod::Lightest => cycle.iter().min_by_key(|e| users.count[**e]),
                LaneAssignmentMethod::Heaviest => {
                    cycle.iter().rev().max_by_key(|e| users.count[**e])
                }
                _ => cycle.get(random.below(cycle.len() as u64) as usize),
            };
            users.leave(*edge.expect("a cycle has edges"), &mut lane_of);
            search.cut(&users.count);
            moved += 1;
        }
        if moved == 0 {
            return Ok(PathLanes { lane_of, lanes: lane + 1 });
        }
    }
    Err(too_few(rules.max_lanes).into())
}

/// For each channel dependency, the paths of one lane that use it.
struct PathsByDependency<'a> {
    routing: &'a Routing,
    dependencies: &'a ChannelDependencyNumbering,
    lane: u8,
    /// The number of paths on the lane that use each dependency now.
    count: Vec<u32>,
    /// The paths that were on the lane at first, grouped by dependency: those that use dependency
    /// `d` begin at `first[d]` in `paths`.
    first: Vec<usize>,
    paths: Vec<u32>,
}

impl<'a> PathsByDependency<'a> {
    fn new(
        routing: &'a Routing,
        dependencies: &'a ChannelDependencyNumbering,
        lane_of: &mut [u8],
        lane: u8,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, Interrupted> {
        let mut count = vec![0_u32; dependencies.count()];
        each_path(routing, lane_of, lane, watch, |_, _, turns| {
            turns.for_each(|(a, b)| count[dependencies.of(a, b)] += 1);
        })?;
        let mut first = Vec::with_capacity(count.len() + 1);
        let mut total = 0;
        first.push(0);
        for &n in &count {
            total += n as usize;
            first.push(total);
        }
        let mut own = Self { routing, dependencies, lane, count, first, paths: vec![0; total] };
        let mut free = own.first.clone();
        each_path(routing, lane_of, lane, watch, |path, _, turns| {
            for (a, b) in turns {
                let at = &mut free[dependencies.of(a, b)];
                own.paths[*at] = path as u32;
                *at += 1;
            }
        })?;
        Ok(own)
    }

    /// Moves all paths over dependency `edge` to the next lane.
    fn leave(&mut self, edge: usize, lane_of: &mut [u8]) {
        for i in self.first[edge]..self.first[edge + 1] {
            let path = self.paths[i] as usize;
            if lane_of[path] == self.lane {
                lane_of[path] = self.lane + 1;
                for (a, b) in turns_of(self.routing, path) {
                    self.count[self.dependencies.of(a, b)] -= 1;
                }
            }
        }
    }
}

/// A depth-first search for cycles that can continue after dependencies were removed.
struct DependencyCycleSearch<'a> {
    on: &'a Topology,
    dependencies: &'a ChannelDependencyNumbering,
    state: Vec<VisitState>,
    /// The current path of the search: channels, each with the dependency by which the search goes
    /// on from it.
    path: Vec<(ChannelId, usize)>,
    next_root: usize,
}

/// Whether the search has reached a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    New,
    OnPath,
    Done,
}

impl<'a> DependencyCycleSearch<'a> {
    fn new(on: &'a Topology, dependencies: &'a ChannelDependencyNumbering) -> Self {
        let state = vec![VisitState::New; on.graph().links() * 2];
        Self { on, dependencies, state, path: Vec::new(), next_root: 0 }
    }

    /// The dependencies of the next cycle, in order; `None` when there is none. Before the next
    /// call at least one of them must have lost its last user, and [`DependencyCycleSearch::cut`]
    /// must be called.
    fn cycle(&mut self, count: &[u32]) -> Option<Vec<usize>> {
        loop {
            let Some(&(at, slot)) = self.path.last() else {
                let root =
                    (self.next_root..self.state.len()).find(|&c| self.state[c] == VisitState::New);
                self.next_root = root?;
                self.enter(ChannelId::from(self.next_root));
                continue;
            };
            let own = self.dependencies.of_channel(at);
            let Some(used) = (own.start + slot..own.end).find(|&d| count[d] > 0) else {
                self.state[at.0 as usize] = VisitState::Done;
                self.path.pop();
                if let Some(last) = self.path.last_mut() {
                    last.1 += 1;
                }
                continue;
            };
            let slot = used - own.start;
            self.path.last_mut().expect("just seen").1 = slot;
            let to = self.on.graph().channels(self.on.head(at).switch.ix())[slot];
            match self.state[to.0 as usize] {
                VisitState::New => self.enter(to),
                VisitState::Done => self.path.last_mut().expect("just seen").1 += 1,
                VisitState::OnPath => {
                    let begin = self.path.iter().position(|(c, _)| *c == to);
                    let part = &self.path[begin.expect("it is on the path")..];
                    let edge = |&(c, slot): &(ChannelId, usize)| {
                        self.dependencies.of_channel(c).start + slot
                    };
                    return Some(part.iter().map(edge).collect());
                }
            }
        }
    }

    /// Cuts the current path of the search before its first dependency that no path uses any more.
    fn cut(&mut self, count: &[u32]) {
        let broken = |(c, slot): &(ChannelId, usize)| {
            count[self.dependencies.of_channel(*c).start + slot] == 0
        };
        if let Some(at) = self.path.iter().position(broken) {
            for (c, _) in self.path.drain(at + 1..) {
                self.state[c.0 as usize] = VisitState::New;
                self.next_root = self.next_root.min(c.0 as usize);
            }
        }
    }

    fn enter(&mut self, c: ChannelId) {
        self.state[c.0 as usize] = VisitState::OnPath;
        self.path.push((c, 0));
    }
}
