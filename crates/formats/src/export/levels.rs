//! Levels of the switches of a tree: those that are declared, or the distance from the endpoints.

use super::working::Working;
use base::Refusal;
use std::collections::VecDeque;

/// The level of each switch of a tree, 0 next to the endpoints.
///
/// They are those that the network declares; where it declares none, as networks from files do, the
/// hops to the nearest switch with an endpoint. O(network).
///
/// # Errors
/// When a link joins switches of one level, or a switch is not connected to any endpoint.
pub(super) fn levels(w: &Working, help: &str) -> Result<Vec<u32>, Refusal> {
    let declared: Vec<u32> =
        w.switches.iter().map(|s| w.t.switches()[s.ix()].level.into()).collect();
    let found = if declared.iter().any(|level| *level > 0) { declared } else { heights(w, help)? };
    for &l in &w.links {
        let (a, b) = w.pair(l);
        if found[a] == found[b] {
            let (a, b) = (w.switch_name(a), w.switch_name(b));
            let why = format!("no tree: a link joins {a} and {b}, which are on one level");
            return Err(Refusal::new("network", why, help));
        }
    }
    Ok(found)
}

/// Hops from each switch to the nearest with an endpoint.
fn heights(w: &Working, help: &str) -> Result<Vec<u32>, Refusal> {
    let rows = w.neighbours();
    let mut found = vec![u32::MAX; rows.len()];
    let mut next = VecDeque::new();
    for host in &w.hosts {
        if found[host.at] != 0 {
            found[host.at] = 0;
            next.push_back(host.at);
        }
    }
    while let Some(s) = next.pop_front() {
        for &(to, _) in &rows[s] {
            if found[to] == u32::MAX {
                found[to] = found[s] + 1;
                next.push_back(to);
            }
        }
    }
    match found.iter().position(|level| *level == u32::MAX) {
        None => Ok(found),
        Some(s) => {
            let why = format!("no tree: switch {} reaches no endpoint", w.switch_name(s));
            Err(Refusal::new("network", why, help))
        }
    }
}
