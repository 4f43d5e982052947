//! A test whether a program waits where its schedule would not.

use super::OperationSequence;
use crate::workload::OperationKind;

impl OperationSequence<'_> {
    /// Whether the program of a rank does things sequentially that the schedule allows at the same
    /// time: the rank uses another processor or interface than the first, or something that follows
    /// a calculation or a wait does not depend on it. The test may also return true if it depends
    /// on each part of a wait only through other operations. O(its operations and dependencies).
    pub fn is_narrower(&self, rank: u32) -> bool {
        let range = self.schedule.of_rank(rank);
        let first = range.start;
        let ops = &self.schedule.ops()[range.start as usize..range.end as usize];
        let order = &self.order[range.start as usize..range.end as usize];
        if ops.iter().any(|op| op.cpu > 0 || op.nic > 0) {
            return true;
        }
        let (mut ends, mut starts) = (vec![Vec::new(); ops.len()], vec![Vec::new(); ops.len()]);
        for op in range {
            let at = |after: &u32| (*after - first) as usize;
            self.schedule.require(op).iter().for_each(|after| ends[at(after)].push(op));
            self.schedule.require_start(op).iter().for_each(|after| starts[at(after)].push(op));
        }
        let mut over = vec![false; ops.len()];
        // a stop is a calculation or a wait; for each operation, the number of stops before it
        // begins and ends
        let (mut begins, mut done) = (vec![0; ops.len()], vec![0; ops.len()]);
        let (mut stops, mut last) = (0, Vec::new());
        for &op in order {
            let at = (op - first) as usize;
            let before = &mut ends[at];
            before.sort_unstable();
            before.dedup();
            let place = |op: &u32| (*op - first) as usize;
            let known = before.iter().map(|op| done[place(op)]);
            let known = known.chain(starts[at].iter().map(|op| begins[place(op)])).max();
            let mut known = known.unwrap_or(0);
            if last.iter().all(|one| before.binary_search(one).is_ok()) {
                known = stops;
            }
            let is_calc = ops[at].kind == OperationKind::Calc;
            let takes_time = ops[at].size > 0 || self.joined(op).is_some();
            let idle = is_calc && !takes_time;
            if idle && self.schedule.require(op).is_empty() {
                continue;
            }
            let is_open =
                |op: &&u32| ops[place(op)].kind != OperationKind::Calc && !over[place(op)];
            let due: Vec<u32> = before.iter().filter(is_open).copied().collect();
            if known < stops && !(idle && due.is_empty()) {
                return true;
            }
            if !due.is_empty() {
                for op in &due {
                    over[place(op)] = true;
                }
                (stops, last) = (stops + 1, due);
                known = stops;
            }
            (begins[at], done[at]) = (known, known);
            if is_calc && takes_time {
                stops += 1;
                (done[at], last) = (stops, vec![op]);
            }
        }
        false
    }
}
