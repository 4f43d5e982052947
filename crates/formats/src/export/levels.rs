//! Levels of the switches of a tree: those that are declared, or the distance from the endpoints.

use super::working::WorkingPlane;
use base::Refusal;
use fabric::tree;

/// The level of each switch of a tree, 0 next to the endpoints.
///
/// They are those that the network declares; where it declares none, as networks from files do, the
/// hops to the nearest leaf, see [`tree::levels_beside`]. O(links log links).
///
/// # Errors
/// When a link joins switches of one level, or a switch is not connected to any endpoint.
pub(super) fn levels(w: &WorkingPlane, help: &str) -> Result<Vec<u32>, Refusal> {
    let declared: Vec<u32> =
        w.switches.iter().map(|s| w.t.switches()[s.ix()].level.into()).collect();
    let declares = declared.iter().any(|level| *level > 0);
    let found = if declares { declared } else { heights(w, help)? };
    match w.links.iter().map(|l| w.pair(*l)).find(|(a, b)| found[*a] == found[*b]) {
        Some(pair) => Err(no_tree(w, pair, help)),
        None => Ok(found),
    }
}

/// Hops from each switch to the nearest leaf.
fn heights(w: &WorkingPlane, help: &str) -> Result<Vec<u32>, Refusal> {
    let aside = &w.t.aside().left_out;
    let others: Vec<u32> =
        w.switches.iter().map(|s| aside.get(s.ix()).copied().unwrap_or(0)).collect();
    let links: Vec<(usize, usize)> = w.links.iter().map(|l| w.pair(*l)).collect();
    let found = match tree::levels_beside(&w.rails(), &others, &links) {
        Ok(levels) => levels.of,
        Err((a, b, _)) => return Err(no_tree(w, (a, b), help)),
    };
    match found.iter().position(|level| *level == u32::MAX) {
        None => Ok(found),
        Some(s) => {
            let why = format!("no tree: switch {} reaches no endpoint", w.switch_name(s));
            Err(Refusal::new("network", why, help))
        }
    }
}

fn no_tree(w: &WorkingPlane, (a, b): (usize, usize), help: &str) -> Refusal {
    let (a, b) = (w.switch_name(a), w.switch_name(b));
    let why = format!("no tree: a link joins {a} and {b}, which are on one level");
    Refusal::new("network", why, help)
}
