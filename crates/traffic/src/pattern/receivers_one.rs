//! `receivers_one:COUNT`: ranks 0 to COUNT - 1 receive, from one of the others each.

use super::kind::Entry;
use super::receivers::{ReceiverParameters, Receivers};
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    part: Part::new("receivers_one", "as receivers, with one sender for each receiver")
        .takes::<ReceiverParameters>(),
    orcs: "recvs_one_src",
    make: |a| Ok(Box::new(Receivers::parse(a, true)?)),
    placed: false,
};
