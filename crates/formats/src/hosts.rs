//! Hosts and their adapters, by the names of endpoints; and which names of hosts programs take.

use fabric::Topology;
use std::collections::HashMap;

/// How the names of adapters begin: those of the kernel's drivers, `HCA-1` of older tools, and
/// those by the place in the machine.
const ADAPTERS: [&str; 24] = [
    "mlx", "hca", "ib", "roce", "rdma", "hfi", "opa", "qib", "ipath", "mthca", "ehca", "nes",
    "cxgb", "irdma", "erdma", "bnxt", "qedr", "hns", "usnic", "efa", "mana", "nic", "siw", "rxe",
];

/// The host that an endpoint is of: the first word of its name.
pub(crate) fn host(name: &str) -> &str {
    name.split_whitespace().next().unwrap_or(name)
}

/// A host's name without its domain; addresses of four numbers stay.
pub(crate) fn short(host: &str) -> &str {
    let is_address = host.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    if is_address { host } else { host.split('.').next().unwrap_or(host) }
}

/// The name of the adapter in its host, what follows the first blank; empty where nothing does.
pub(crate) fn adapter(name: &str) -> &str {
    name.trim().split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim())
}

/// Whether `mlx5_0` in `node7 mlx5_0` is surely an adapter's name: then others with the same first
/// word are of the same host, as they are not in `rack 1` and `rack 2`.
fn names_adapter(name: &str) -> bool {
    let own = adapter(name).to_lowercase();
    let numbered = own.ends_with(|c: char| c.is_ascii_digit());
    numbered && !own.contains(char::is_whitespace) && ADAPTERS.iter().any(|a| own.starts_with(a))
}

/// The endpoints of every host that has several, if all are named as adapters; in the order of the
/// adapters' names.
pub(crate) fn of_several_adapters(on: &Topology) -> HashMap<&str, Vec<u32>> {
    let mut found: HashMap<&str, Vec<u32>> = HashMap::new();
    for (e, endpoint) in (0..).zip(on.endpoints()) {
        found.entry(host(&endpoint.name)).or_default().push(e);
    }
    let name = |e: u32| &on.endpoints()[e as usize].name;
    found.retain(|_, own| own.len() > 1 && own.iter().all(|e| names_adapter(name(*e))));
    for own in found.values_mut() {
        own.sort_by_cached_key(|e| (natural(adapter(name(*e))), *e));
    }
    found
}

/// A key that sorts names by their numbers: `mlx5_2` before `mlx5_10`.
pub(crate) fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (before, after) = rest.split_at(text);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        parts.push((before.to_owned(), number.parse().unwrap_or(0)));
        rest = after;
    }
    parts
}

/// The characters that the name of a host may have, in words.
pub(crate) const NAMES: &str = "letters, digits, _ . and -, a letter, digit or _ first";

/// Why launchers and batch systems would not take `name` for a host's, or would read something else
/// from it: slots (`a:4`), comments (`#c`), ranges (`n[1-3]`), lists, options. One rule for all.
pub(crate) fn fault(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.chars().enumerate().find(|(i, c)| !plain(*c) && (*i == 0 || !".-".contains(*c))) {
        _ if name.is_empty() => Some("an empty name".to_owned()),
        Some((0, c)) => Some(format!("{name:?} begins with {c:?}")),
        Some((_, c)) => Some(format!("{name:?} has the character {c:?}")),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_their_numbers() {
        let mut names = ["mlx5_10", "mlx5_2", "HCA-1", "mlx5_0"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["HCA-1", "mlx5_0", "mlx5_2", "mlx5_10"]);
    }

    #[test]
    fn adapters_are_distinguished_from_hosts_with_blanks_in_their_names() {
        for name in ["n1 HCA-1", "n1 mlx5_0", "dgx.a.b ibp12s0", "n1 rocep1s0f1", "n hfi1_0"] {
            assert!(names_adapter(name), "{name}");
        }
        for name in ["n1", "rack 1", "rack n1", "n1 HCA", "n1 mlx5_0 spare", "", " mlx5_0"] {
            assert!(!names_adapter(name), "{name}");
        }
    }
}
