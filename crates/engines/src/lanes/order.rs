//! An incremental topological order of channels: it says at once whether a new turn would close a
//! cycle.
//!
//! Source: Marchetti-Spaccamela, Nanni, Rohnert, "Maintaining a topological order under edge
//! insertions", Information Processing Letters 59, 1996, with the search in both directions of
//! Bender, Fineman, Gilbert, Tarjan, "A new approach to incremental cycle detection and related
//! problems", ACM Transactions on Algorithms 12(2), 2016.

use base::ChannelId;
use fabric::network::Topology;
use fabric::turns::ChannelDependencyNumbering;

/// A virtual channel: a channel and a lane on it.
pub(crate) type VirtualChannel = (ChannelId, u8);

/// The turns taken so far, and an order of the virtual channels in which they all go forward.
pub(crate) struct AcyclicTurnSet<'a> {
    dependencies: &'a ChannelDependencyNumbering,
    lanes: usize,
    /// By virtual channel (`channel * lanes + lane`): a number that grows along the order.
    position: Vec<u64>,
    /// By virtual channel: its neighbours in the order, the one before and the one after, [`NONE`]
    /// at the ends.
    near: Vec<[u32; 2]>,
    state: Vec<TurnState>,
    after: AdjacencyLists,
    before: AdjacencyLists,
    mark: Vec<u32>,
    marks: u32,
    /// The turns that were taken and those that were refused since the last
    /// [`AcyclicTurnSet::settle`].
    taken: Vec<(VirtualChannel, VirtualChannel)>,
    refused: Vec<usize>,
}

/// A state of a [`AcyclicTurnSet`] to return to: the numbers of turns taken and refused since the
/// last [`AcyclicTurnSet::settle`].
#[derive(Clone, Copy)]
pub(crate) struct AcyclicTurnSetCheckpoint {
    taken: usize,
    refused: usize,
}

/// The index that means "no virtual channel".
const NONE: u32 = u32::MAX;

/// The distance between neighbouring positions after a renumbering. It is small in unit tests, so
/// that they renumber often.
const SPACING: u64 = if cfg!(test) { 4 } else { 1 << 40 };

/// What is known about a turn. A refused turn stays refused, because turns are only added.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TurnState {
    Unknown,
    Taken,
    Refused,
}

impl<'a> AcyclicTurnSet<'a> {
    /// An order without turns on one lane, with the channels by their numbers.
    pub(crate) fn new(on: &Topology, dependencies: &'a ChannelDependencyNumbering) -> Self {
        let position: Vec<u32> = (0..on.graph().links() as u32 * 2).collect();
        Self::with_positions(dependencies, 1, &position)
    }

    /// An order without turns on several lanes, with virtual channel `channel * lanes + lane` at
    /// `position`.
    pub(crate) fn with_positions(
        dependencies: &'a ChannelDependencyNumbering,
        lanes: usize,
        position: &[u32],
    ) -> Self {
        let pairs = position.len();
        let mut order = vec![0; pairs];
        for (v, &place) in (0..).zip(position) {
            order[place as usize] = v;
        }
        let mut own = Self {
            dependencies,
            lanes,
            position: vec![0; pairs],
            near: vec![[NONE; 2]; pairs],
            state: vec![TurnState::Unknown; dependencies.count() * lanes * lanes],
            after: AdjacencyLists::new(pairs),
            before: AdjacencyLists::new(pairs),
            mark: vec![0; pairs],
            marks: 0,
            taken: Vec::new(),
            refused: Vec::new(),
        };
        own.arrange(&order);
        own
    }

    /// Sorts all virtual channels in this order.
    fn arrange(&mut self, order: &[u32]) {
        let pair = |i: Option<usize>| i.and_then(|i| order.get(i)).copied().unwrap_or(NONE);
        for (i, &v) in order.iter().enumerate() {
            self.position[v as usize] = (i as u64 + 1) * SPACING;
            self.near[v as usize] = [pair(i.checked_sub(1)), pair(Some(i + 1))];
        }
    }

    /// The numbers of all virtual channels, in the order.
    fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.position.len() as u32).collect();
        order.sort_unstable_by_key(|&v| self.position[v as usize]);
        order
    }

    /// The rank of every virtual channel in the order, from 0.
    pub(crate) fn places(&self) -> Vec<u32> {
        let mut places = vec![0; self.position.len()];
        for (place, v) in (0..).zip(self.order()) {
            places[v as usize] = place;
        }
        places
    }

    #[inline]
    fn pair(&self, (channel, lane): VirtualChannel) -> usize {
        channel.0 as usize * self.lanes + usize::from(lane)
    }

    #[inline]
    fn turn(&self, a: VirtualChannel, b: VirtualChannel) -> usize {
        let dependency = self.dependencies.of(a.0, b.0);
        (dependency * self.lanes + usize::from(a.1)) * self.lanes + usize::from(b.1)
    }

    /// Forgets all turns and reverses the order.
    pub(crate) fn reverse(&mut self) {
        let mut order = self.order();
        order.reverse();
        self.arrange(&order);
        self.state.fill(TurnState::Unknown);
        self.after.clear();
        self.before.clear();
        self.settle();
    }

    /// Takes all turns of a path and returns true, or refuses the path and leaves the lane as it
    /// was.
    pub(crate) fn take(
        &mut self,
        turns: impl Iterator<Item = (VirtualChannel, VirtualChannel)> + Clone,
    ) -> bool {
        if turns.clone().any(|(a, b)| self.is_refused(a, b)) {
            return false;
        }
        let begun = self.taken.len();
        for (a, b) in turns {
            if !self.take_turn(a, b) {
                self.give_back(begun);
                return false;
            }
        }
        true
    }

    /// Takes one turn and returns true, unless it would close a cycle.
    #[inline]
    pub(crate) fn take_turn(&mut self, a: VirtualChannel, b: VirtualChannel) -> bool {
        let turn = self.turn(a, b);
        match self.state[turn] {
            TurnState::Taken => return true,
            TurnState::Refused => return false,
            TurnState::Unknown => {}
        }
        if !self.make_forward(a, b) {
            self.state[turn] = TurnState::Refused;
            self.refused.push(turn);
            return false;
        }
        self.state[turn] = TurnState::Taken;
        let (from, to) = (self.pair(a), self.pair(b));
        self.after.push(from, to as u32);
        self.before.push(to, from as u32);
        self.taken.push((a, b));
        true
    }

    /// Whether the turn was refused before.
    #[inline]
    pub(crate) fn is_refused(&self, a: VirtualChannel, b: VirtualChannel) -> bool {
        self.state[self.turn(a, b)] == TurnState::Refused
    }

    /// Makes all turns taken and refused so far final: no undo goes back further.
    pub(crate) fn settle(&mut self) {
        self.taken.clear();
        self.refused.clear();
    }

    /// The current state, to which [`AcyclicTurnSet::undo_to`] returns, until the next
    /// [`AcyclicTurnSet::settle`].
    pub(crate) fn checkpoint(&self) -> AcyclicTurnSetCheckpoint {
        AcyclicTurnSetCheckpoint { taken: self.taken.len(), refused: self.refused.len() }
    }

    /// Removes every turn taken since `checkpoint`, and forgets that turns were refused since.
    pub(crate) fn undo_to(&mut self, checkpoint: AcyclicTurnSetCheckpoint) {
        self.give_back(checkpoint.taken);
        for turn in self.refused.drain(checkpoint.refused..) {
            self.state[turn] = TurnState::Unknown;
        }
    }

    /// Removes the turns that were taken last, so that `begun` remain in `taken`.
    fn give_back(&mut self, begun: usize) {
        while self.taken.len() > begun {
            let Some((a, b)) = self.taken.pop() else { break };
            let turn = self.turn(a, b);
            self.state[turn] = TurnState::Unknown;
            let (from, to) = (self.pair(a), self.pair(b));
            self.after.pop(from);
            self.before.pop(to);
        }
    }

    /// Changes the order so that `a` comes before `b`. Returns false when taken turns lead from `b`
    /// to `a`.
    ///
    /// Two searches, forward from `b` and backward from `a`, take turns; they visit only virtual
    /// channels between the two in the order. If there is a cycle, they meet. Otherwise the virtual
    /// channels that the search that ends first has found, mostly the fewer ones, move past `a` or
    /// `b`.
    fn make_forward(&mut self, a: VirtualChannel, b: VirtualChannel) -> bool {
        let (a, b) = (self.pair(a) as u32, self.pair(b) as u32);
        let (low, high) = (self.position[b as usize], self.position[a as usize]);
        if high < low {
            return true;
        }
        self.marks += 2;
        let (behind, ahead) = (self.marks - 1, self.marks);
        let mut sides = [CycleSearchSide::new(b, behind), CycleSearchSide::new(a, ahead)];
        self.mark[b as usize] = behind;
        self.mark[a as usize] = ahead;
        while sides.iter().all(|side| side.head < side.found.len()) {
            let forth = sides[0].work <= sides[1].work;
            let side = &mut sides[usize::from(!forth)];
            let v = side.found[side.head] as usize;
            let next = if forth { self.after.of(v) } else { self.before.of(v) };
            side.head += 1;
            side.work += next.len() + 1;
            for &to in next {
                let (mark, at) = (self.mark[to as usize], self.position[to as usize]);
                if mark == behind + ahead - side.mark {
                    return false;
                }
                if mark != side.mark && (low..=high).contains(&at) {
                    self.mark[to as usize] = side.mark;
                    side.found.push(to);
                }
            }
        }
        let [mut behind, mut ahead] = sides;
        if behind.head == behind.found.len() {
            self.shift(&mut behind.found, a, true);
        } else {
            self.shift(&mut ahead.found, b, false);
        }
        true
    }

    /// Moves virtual channels to right after or right before another one, and keeps their order
    /// among each other. O(k log k), k of them moved; sometimes all are renumbered to make room.
    fn shift(&mut self, moved: &mut [u32], beside: u32, behind: bool) {
        moved.sort_unstable_by_key(|&v| self.position[v as usize]);
        for &v in moved.iter() {
            let [before, after] = self.near[v as usize];
            self.link(before, after);
        }
        let (first, end) = self.gap(beside, behind);
        let mut last = first;
        for &v in moved.iter() {
            self.link(last, v);
            last = v;
        }
        self.link(last, end);
        let (low, high) = self.room(first, end);
        let step = (high - low) / (moved.len() as u64 + 1);
        if step == 0 {
            self.renumber(beside);
            return;
        }
        for (i, &v) in (1..).zip(moved.iter()) {
            self.position[v as usize] = low + i * step;
        }
    }

    /// The two neighbours between which to insert, right behind or right before a virtual channel.
    fn gap(&self, beside: u32, behind: bool) -> (u32, u32) {
        let [before, after] = self.near[beside as usize];
        if behind { (beside, after) } else { (before, beside) }
    }

    /// The positions of two neighbours, between which new ones must fit. Either neighbour may be
    /// [`NONE`].
    fn room(&self, first: u32, second: u32) -> (u64, u64) {
        let at = |v: u32| self.position[v as usize];
        match (first, second) {
            (NONE, second) => (at(second).saturating_sub(SPACING), at(second)),
            (first, NONE) => (at(first), at(first).saturating_add(SPACING)),
            (first, second) => (at(first), at(second)),
        }
    }

    /// Makes one virtual channel follow another; either may be [`NONE`].
    fn link(&mut self, first: u32, second: u32) {
        if first != NONE {
            self.near[first as usize][1] = second;
        }
        if second != NONE {
            self.near[second as usize][0] = first;
        }
    }

    /// Renumbers all virtual channels along the order. O(virtual channels).
    fn renumber(&mut self, one: u32) {
        let mut first = one;
        while self.near[first as usize][0] != NONE {
            first = self.near[first as usize][0];
        }
        let (mut at, mut position) = (first, SPACING);
        while at != NONE {
            self.position[at as usize] = position;
            (at, position) = (self.near[at as usize][1], position + SPACING);
        }
    }
}

/// Lists of successors or predecessors of virtual channels, in one block of memory without an
/// allocation for each list.
struct AdjacencyLists {
    items: Vec<u32>,
    /// For each list: where it begins in `items`, its length, and its capacity there.
    lists: Vec<(usize, u32, u32)>,
}

impl AdjacencyLists {
    fn new(count: usize) -> Self {
        Self { items: Vec::new(), lists: vec![(0, 0, 0); count] }
    }

    fn clear(&mut self) {
        self.items.clear();
        self.lists.fill((0, 0, 0));
    }

    #[inline]
    fn of(&self, list: usize) -> &[u32] {
        let (first, length, _) = self.lists[list];
        &self.items[first..first + length as usize]
    }

    /// Appends to a list. A list that has reached its capacity moves to the end of the memory, with
    /// twice the capacity.
    #[inline]
    fn push(&mut self, list: usize, item: u32) {
        let (first, length, room) = &mut self.lists[list];
        if length == room {
            let old = *first..*first + *length as usize;
            (*first, *room) = (self.items.len(), (*room * 2).max(4));
            self.items.extend_from_within(old);
            self.items.resize(*first + *room as usize, 0);
        }
        self.items[*first + *length as usize] = item;
        *length += 1;
    }

    /// Removes the item that was appended last.
    #[inline]
    fn pop(&mut self, list: usize) {
        self.lists[list].1 -= 1;
    }
}

/// One of the two searches for a cycle, forward or backward.
struct CycleSearchSide {
    found: Vec<u32>,
    head: usize,
    work: usize,
    mark: u32,
}

impl CycleSearchSide {
    fn new(start: u32, mark: u32) -> Self {
        Self { found: vec![start], head: 0, work: 0, mark }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::seed::RandomStream;
    use fabric::network::parse_inline;
    use families::family;
    use std::collections::BTreeSet;

    /// Whether turns lead from one virtual channel to another, by a plain search.
    fn leads(
        turns: &BTreeSet<(VirtualChannel, VirtualChannel)>,
        from: VirtualChannel,
        to: VirtualChannel,
    ) -> bool {
        let (mut open, mut seen) = (vec![from], BTreeSet::from([from]));
        while let Some(v) = open.pop() {
            if v == to {
                return true;
            }
            let next = turns.iter().filter(|(a, _)| *a == v).map(|(_, b)| *b);
            open.extend(next.filter(|b| seen.insert(*b)));
        }
        false
    }

    #[test]
    fn turns_are_taken_unless_a_search_finds_a_cycle() {
        let recipe = parse_inline("hyperx:shape=3x3,p=1").unwrap();
        let on = family(&recipe.family).unwrap().build(&recipe.params).unwrap();
        let dependencies = ChannelDependencyNumbering::new(&on);
        let channels = on.links().len() as u64 * 2;
        let mut random = RandomStream::new(5, "test", 0);
        for lanes in [1_usize, 2] {
            let mut order: Vec<u32> = (0..channels as u32 * lanes as u32).collect();
            random.shuffle(&mut order);
            let mut kept = AcyclicTurnSet::with_positions(&dependencies, lanes, &order);
            let mut turns = BTreeSet::new();
            for round in 0..3 {
                let mut tried = BTreeSet::new();
                let mut before = (kept.checkpoint(), turns.clone());
                for n in 0..400 {
                    if n == 150 {
                        before = (kept.checkpoint(), turns.clone());
                    }
                    let a = ChannelId::from(random.below(channels) as usize);
                    let out = on.graph().channels(on.head(a).switch.ix());
                    let b = out[random.below(out.len() as u64) as usize];
                    let mut held = |c| (c, random.below(lanes as u64) as u8);
                    let (a, b) = (held(a), held(b));
                    if b.0 == a.0.reverse() || !tried.insert((a, b)) {
                        continue;
                    }
                    assert_eq!(kept.take_turn(a, b), !leads(&turns, b, a));
                    if !leads(&turns, b, a) {
                        turns.insert((a, b));
                    }
                    let at = |held| kept.position[kept.pair(held)];
                    assert!(turns.iter().all(|&(a, b)| at(a) < at(b)));
                }
                match round {
                    0 => kept.settle(),
                    1 => {
                        kept.undo_to(before.0);
                        turns = before.1;
                    }
                    _ => {
                        let was = kept.order();
                        kept.reverse();
                        assert!(kept.order().iter().eq(was.iter().rev()));
                    }
                }
            }
        }
    }
}
