//! Names of collective operations, and the operations of a schedule that belong to each.

use base::quick::QuickHashBuilder;
use std::collections::HashMap;
use std::ops::Range;

/// Consecutive operations of a rank that form one collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedCollectiveSpan<'a> {
    /// The name of the collective operation.
    pub name: &'a str,
    /// The number of its first operation in the schedule.
    pub first: u32,
    /// The number of its last operation in the schedule, plus 1.
    pub end: u32,
}

/// The collective operations of a schedule, in the order of their operations.
#[derive(Debug, Clone, Default)]
pub(super) struct NamedCollectives {
    names: Vec<String>,
    numbers: HashMap<String, u32, QuickHashBuilder>,
    /// For each, its first operation, its last operation plus 1, and the index of its name.
    steps: Vec<(u32, u32, u32)>,
}

impl NamedCollectives {
    /// Names operations. It has no effect if there are none, or if they are named already.
    pub(super) fn add(&mut self, name: &str, steps: Range<u32>) {
        if steps.is_empty() || self.steps.last().is_some_and(|last| last.1 > steps.start) {
            return;
        }
        let next = self.names.len() as u32;
        let number = self.numbers.get(name).copied().unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.numbers.insert(name.to_owned(), next);
            next
        });
        self.steps.push((steps.start, steps.end, number));
    }

    /// The collective operations whose first operation is in this range. Takes O(log(all)) to find
    /// the first.
    pub(super) fn among(&self, ops: Range<u32>) -> impl Iterator<Item = NamedCollectiveSpan<'_>> {
        let begin = self.steps.partition_point(|step| step.0 < ops.start);
        let end = self.steps.partition_point(|step| step.0 < ops.end);
        let name = |number: u32| self.names[number as usize].as_str();
        let steps = self.steps[begin..end].iter();
        steps.map(move |&(first, end, number)| NamedCollectiveSpan {
            name: name(number),
            first,
            end,
        })
    }
}
