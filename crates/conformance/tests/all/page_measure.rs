//! The measure that docs/adding-a-measure.md adds.

use lab::stages::StageEntry;

#[allow(unreachable_pub)] // it is added to a library
#[path = "../../../../docs/parts/reach.rs"]
mod reach;

/// The row of the measure in the table that it is added to.
pub(super) static ENTRY: StageEntry = StageEntry::of::<reach::Params>();

/// The items that the measure's own tests import from the module beside it.
mod tests {
    use fabric::Topology;

    pub(super) fn built(net: &str) -> Topology {
        let recipe = fabric::network::parse_inline(net).expect("well formed");
        families::family(&recipe.family).expect("a family").build(&recipe.params).expect("a member")
    }
}
