//! Groups of processes that one process made: the ranks in them, and of which communicator these
//! are.

use super::layout::ArgumentValue;
use super::record::DumpiCallRecord;
use base::Refusal;
use std::collections::{HashMap, HashSet};

/// A group of processes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DumpiGroup {
    /// The communicator whose ranks these are.
    of: i64,
    /// In the group's order; none: all of the communicator.
    ranks: Option<Vec<i64>>,
}

/// All groups of a process by their numbers, and how many ranks communicators have.
#[derive(Debug, Default)]
pub(super) struct DumpiGroups {
    known: HashMap<i64, DumpiGroup>,
    sizes: HashMap<i64, i64>,
    /// Ranks of the run: no group has more.
    most: i64,
}

impl DumpiGroups {
    /// The groups that a process has before its first call, in a run of `ranks` processes.
    pub(super) fn new(world: i64, ranks: u32) -> Self {
        let sizes = HashMap::from([(world, ranks.into())]);
        Self { known: HashMap::new(), sizes, most: ranks.into() }
    }

    /// Records the group that a call makes, or the size of a communicator that it reports. What
    /// cannot be known is left out; it is refused later, where a communicator is made of it.
    pub(super) fn learn(&mut self, record: &DumpiCallRecord) {
        let number = |name| record.number(name);
        if record.name() == "Comm_size" {
            let size = number("size").filter(|size| (0..=self.most).contains(size));
            self.sizes.extend(number("comm").zip(size));
        }
        let (made, group) = if record.name() == "Comm_group" {
            (number("group"), number("comm").map(|of| DumpiGroup { of, ranks: None }))
        } else {
            (number("newgroup"), self.made(record))
        };
        let Some(made) = made else { return };
        match group {
            Some(group) => _ = self.known.insert(made, group),
            None => _ = self.known.remove(&made),
        }
    }

    fn named(&self, record: &DumpiCallRecord, name: &str) -> Option<&DumpiGroup> {
        self.known.get(&record.number(name)?)
    }

    /// The ranks of a group, listed.
    fn listed(&self, group: &DumpiGroup) -> Option<Vec<i64>> {
        match &group.ranks {
            Some(ranks) => Some(ranks.clone()),
            None => Some((0..*self.sizes.get(&group.of)?).collect()),
        }
    }

    fn made(&self, record: &DumpiCallRecord) -> Option<DumpiGroup> {
        if let (Some(a), Some(b)) = (self.named(record, "group1"), self.named(record, "group2")) {
            let (left, right) = (self.listed(a)?, self.listed(b)?);
            let ranks = match record.name() {
                "Group_union" => {
                    let has: HashSet<i64> = left.iter().copied().collect();
                    let more = right.iter().filter(|rank| !has.contains(rank));
                    left.iter().chain(more).copied().collect()
                }
                "Group_intersection" | "Group_difference" => {
                    let has: HashSet<i64> = right.into_iter().collect();
                    let both = record.name() == "Group_intersection";
                    left.into_iter().filter(|rank| has.contains(rank) == both).collect()
                }
                _ => return None,
            };
            return (a.of == b.of).then_some(DumpiGroup { of: a.of, ranks: Some(ranks) });
        }
        let from = self.named(record, "group")?;
        let named = match record.number("count") {
            Some(_) if record.name().contains("range") => {
                spread(record.list("ranges")?, self.most)?
            }
            _ => record.numbers("ranks")?.to_vec(),
        };
        let is_in = record.name().ends_with("incl");
        if is_in && from.ranks.is_none() {
            return Some(DumpiGroup { of: from.of, ranks: Some(named) });
        }
        let all = self.listed(from)?;
        let ranks = if is_in {
            let at = |place: i64| all.get(usize::try_from(place).ok()?).copied();
            named.into_iter().map(at).collect::<Option<Vec<i64>>>()?
        } else {
            let named: HashSet<i64> = named.into_iter().collect();
            let stays = |(place, _): &(i64, i64)| !named.contains(place);
            (0..).zip(all).filter(stays).map(|(_, rank)| rank).collect()
        };
        Some(DumpiGroup { of: from.of, ranks: Some(ranks) })
    }

    /// The ranks of `comm` that the group has.
    ///
    /// # Errors
    /// When the calls before do not say them.
    pub(super) fn ranks(&self, group: i64, comm: i64) -> Result<Vec<u32>, Refusal> {
        let known = self.known.get(&group).filter(|known| known.of == comm);
        let listed = known.and_then(|known| self.listed(known));
        let small = |rank: i64| u32::try_from(rank).ok();
        listed.and_then(|ranks| ranks.into_iter().map(small).collect()).ok_or_else(|| {
            let why = format!("the ranks of group {group} are unknown");
            Refusal::new("group", why, "a group made of the ranks of this communicator")
        })
    }
}

/// The ranks of ranges, each with its first rank, last rank and stride; none where there are more
/// than `most`, which is all that the group can have.
fn spread(ranges: &[ArgumentValue], most: i64) -> Option<Vec<i64>> {
    let mut all = Vec::new();
    for range in ranges {
        let ArgumentValue::Numbers(range) = range else { return None };
        let &[first, last, stride] = range.as_slice() else { return None };
        let ranks = 0..most;
        if stride == 0 || !ranks.contains(&first) || !ranks.contains(&last) {
            return None;
        }
        let steps = (last - first).checked_div(stride)?;
        if all.len() as i64 + steps >= most {
            return None;
        }
        for step in 0..=steps {
            all.push(first + step * stride);
        }
    }
    Some(all)
}
