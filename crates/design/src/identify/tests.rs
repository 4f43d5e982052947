//! Examples of every family are recognised; `tests/verbs/test_identify.py` has them under other
//! names, numbers and ports, and with faults.

use super::identify;
use base::QuietWatch;
use families::FAMILIES;

/// Larger examples take long.
const SWITCHES: usize = 200;

#[test]
fn every_example_is_recognised() {
    let mut odd = Vec::new();
    for entry in FAMILIES {
        for recipe in entry.examples() {
            let built = entry.build(&recipe.params).expect("an example");
            if built.switches().len() > SWITCHES {
                continue;
            }
            let found = identify(&built, 3, &QuietWatch).expect("a quiet watch");
            if found.first().is_none_or(|first| first.differences > 0) {
                odd.push(recipe.to_string());
            }
        }
    }
    assert!(odd.is_empty(), "{odd:?}");
}
