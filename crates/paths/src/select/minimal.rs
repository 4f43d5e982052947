//! Minimal paths.

use super::kind::SelectionEntry;

/// See [`super`].
pub(super) const ENTRY: SelectionEntry = SelectionEntry {
    on_tables: true,
    ..SelectionEntry::usual(
        "minimal",
        "A minimal path, at random where there are several; with forwarding tables their path, in \
         a layer drawn at random",
    )
};
