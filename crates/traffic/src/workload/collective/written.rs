//! The writer of a collective operation as operations of a schedule.

use super::call::CollectiveCall;
use super::kind::{AlgorithmStepSink, BlockNumbers, ReceivedBlockEffect, StepNumber};
use crate::workload::script::RankScriptWriter;
use crate::workload::{ScheduleOperation, UnexpandedCollective};

impl RankScriptWriter<'_> {
    /// Writes the part of rank number `me` in a collective operation; `named` maps the numbers in
    /// it to ranks.
    pub fn collective(
        &mut self,
        call: &CollectiveCall,
        me: u32,
        named: &dyn Fn(u32) -> u32,
        tag: u32,
        after: &[u32],
    ) -> Vec<u32> {
        if let Some((operation, root, bytes)) = call.uniform() {
            let root = named(root);
            let what = |op| UnexpandedCollective { op, operation, root, bytes, meeting: tag };
            if let Some(op) = self.joined_as_one(call.ranks(), after, what) {
                return vec![op];
            }
        }
        let after = self.join(after);
        let first = self.len();
        let mut writer = CollectiveOperationWriter::new(self, call, named, tag);
        call.tell(me, &mut writer);
        let (roots, leaves) = writer.ends();
        self.name_from(first, call.name());
        for root in roots {
            for &before in &after {
                self.wait(root, before);
            }
        }
        if leaves.is_empty() { after } else { leaves }
    }
}

/// A writer of the steps of a rank as operations of a schedule.
struct CollectiveOperationWriter<'w, 's> {
    into: &'w mut RankScriptWriter<'s>,
    call: &'w CollectiveCall,
    named: &'w dyn Fn(u32) -> u32,
    tag: u32,
    first: u32,
    /// For each operation, whether it waits for another one of the collective, and whether another
    /// one waits for it.
    marks: Vec<(bool, bool)>,
}

impl<'w, 's> CollectiveOperationWriter<'w, 's> {
    fn new(
        into: &'w mut RankScriptWriter<'s>,
        call: &'w CollectiveCall,
        named: &'w dyn Fn(u32) -> u32,
        tag: u32,
    ) -> Self {
        let first = into.len();
        Self { into, call, named, tag, first, marks: Vec::new() }
    }

    /// The operations that wait for no other one of the collective, and those that no other one
    /// waits for.
    fn ends(self) -> (Vec<u32>, Vec<u32>) {
        let of = |wanted: fn(&(bool, bool)) -> bool| {
            let all = (self.first..).zip(&self.marks).filter(|(_, mark)| !wanted(mark));
            all.map(|(op, _)| op).collect()
        };
        (of(|mark| mark.0), of(|mark| mark.1))
    }

    fn add(&mut self, op: ScheduleOperation) -> StepNumber {
        let step = self.into.add(op, &[]);
        // after a refusal no more operations are added, and their numbers are invalid
        if self.into.len() as usize > self.first as usize + self.marks.len() {
            self.marks.push((false, false));
        }
        step
    }
}

impl AlgorithmStepSink for CollectiveOperationWriter<'_, '_> {
    fn send(&mut self, to: u32, tag: u32, blocks: BlockNumbers<'_>) -> StepNumber {
        let size = self.call.size(blocks);
        self.add(ScheduleOperation::send(size, (self.named)(to), self.tag + tag))
    }

    fn recv(
        &mut self,
        from: u32,
        tag: u32,
        blocks: BlockNumbers<'_>,
        how: ReceivedBlockEffect,
    ) -> StepNumber {
        let size = self.call.size(blocks);
        let step = self.add(ScheduleOperation::recv(size, (self.named)(from), self.tag + tag));
        let work = u128::from(size) * u128::from(self.call.add_ns_per_kib);
        if how == ReceivedBlockEffect::Store || work == 0 {
            return step;
        }
        let sum = self.add(ScheduleOperation::calc(work.div_ceil(1024) as u64));
        self.after(sum, step);
        sum
    }

    fn after(&mut self, step: StepNumber, before: StepNumber) {
        self.into.wait(step, before);
        let marks = &mut self.marks;
        if let Some(mark) = marks.get_mut(step.wrapping_sub(self.first) as usize) {
            mark.0 = true;
        }
        if let Some(mark) = marks.get_mut(before.wrapping_sub(self.first) as usize) {
            mark.1 = true;
        }
    }
}
