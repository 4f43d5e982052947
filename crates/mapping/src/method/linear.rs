//! The linear mapping: processes in the order of the slots, or where the given mapping has them.

use super::kind::{Entry, Method};
use crate::arrangement::Arrangement;
use crate::metric::Metric;
use crate::run::Run;
use base::Stop;
use base::part::Part;

pub(super) const ENTRY: Entry = Entry::of::<Linear>();

struct Linear;

impl Method for Linear {
    const PART: Part = Part::new("linear", "processes in the order of the slots");

    fn step<M: Metric>(_: &Run<'_, M>, _: &mut Arrangement, _: u64) -> Result<(), Stop> {
        Ok(()) // every run begins with this mapping
    }
}
