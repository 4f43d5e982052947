//! Which operations of a schedule are a collective operation, by name.

use base::quick::QuickHashBuilder;
use std::collections::HashMap;
use std::ops::Range;

/// Operations of a rank, one after another, that are one collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedSteps<'a> {
    /// What the collective operation is called.
    pub name: &'a str,
    /// The number of its first operation among all of the schedule.
    pub first: u32,
    /// The number after that of its last one.
    pub end: u32,
}

/// The collective operations of a schedule, in the order of their operations.
#[derive(Debug, Clone, Default)]
pub(super) struct CollectiveNames {
    names: Vec<String>,
    numbers: HashMap<String, u32, QuickHashBuilder>,
    /// First operation, the one after the last, number of the name.
    steps: Vec<(u32, u32, u32)>,
}

impl CollectiveNames {
    /// Names operations. Nothing where there is none, or where they are named already.
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

    /// Those that begin with one of these operations. O(log(all)) to find the first.
    pub(super) fn among(&self, ops: Range<u32>) -> impl Iterator<Item = NamedSteps<'_>> {
        let begin = self.steps.partition_point(|step| step.0 < ops.start);
        let end = self.steps.partition_point(|step| step.0 < ops.end);
        let name = |number: u32| self.names[number as usize].as_str();
        let steps = self.steps[begin..end].iter();
        steps.map(move |&(first, end, number)| NamedSteps { name: name(number), first, end })
    }
}
