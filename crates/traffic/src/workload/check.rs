//! A test whether the dependencies of a schedule contain a cycle.

use super::Schedule;

impl Schedule {
    /// A cycle of operations of one rank, each of which waits for the one before it, and the first
    /// for the last; `None` if there is no cycle. O(operations + dependencies).
    pub fn cycle(&self) -> Option<Vec<u32>> {
        let mut counts = self.counts();
        let mut ready: Vec<u32> = Vec::new();
        let mut done = 0;
        ready.extend((0..).zip(&counts).filter(|(_, n)| **n == 0).map(|(op, _)| op));
        while let Some(op) = ready.pop() {
            done += 1;
            for &next in self.require(op).iter().chain(self.require_start(op)) {
                counts[next as usize] -= 1;
                if counts[next as usize] == 0 {
                    ready.push(next);
                }
            }
        }
        if done == counts.len() {
            return None;
        }
        let mut before = vec![u32::MAX; counts.len()];
        for op in (0..counts.len() as u32).filter(|&op| counts[op as usize] > 0) {
            for &next in self.require(op).iter().chain(self.require_start(op)) {
                before[next as usize] = op;
            }
        }
        // go back from any operation left: each has a predecessor that is left, too
        let mut at = (0..).zip(&counts).find(|(_, n)| **n > 0).map(|(op, _)| op)?;
        let mut seen = vec![false; counts.len()];
        while !std::mem::replace(&mut seen[at as usize], true) {
            at = before[at as usize];
        }
        let first = at;
        let mut cycle = vec![first];
        at = before[at as usize];
        while at != first {
            cycle.push(at);
            at = before[at as usize];
        }
        cycle.reverse();
        Some(cycle)
    }
}
