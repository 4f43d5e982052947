//! Minimal paths.

use super::kind::PathSelectionEntry;

/// See [`super`].
pub(super) const ENTRY: PathSelectionEntry = PathSelectionEntry {
    on_tables: true,
    ..PathSelectionEntry::usual(
        "minimal",
        "A minimal path, at random where there are several; with forwarding tables their path, in \
         a layer drawn at random",
    )
};
