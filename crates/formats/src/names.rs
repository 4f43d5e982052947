//! Unique names, for formats that require them.

use std::collections::HashSet;

/// Each name, or its fallback where the name is empty or an earlier one has it.
pub(crate) fn unique_names(names: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut used = HashSet::new();
    names
        .map(|(name, fallback)| {
            let mut chosen = if name.is_empty() || used.contains(&name) { fallback } else { name };
            while !used.insert(chosen.clone()) {
                chosen.push('_');
            }
            chosen
        })
        .collect()
}
