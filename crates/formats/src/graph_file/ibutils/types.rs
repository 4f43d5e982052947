//! Systems whose type has no definition: each is a switch or an adapter, as its connectors show.

use super::ibnl::{FlattenedIbnlSystem, IbnlCableRate, IbnlDefinitions};
use super::said::TopologyFileContents;
use base::Refusal;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Most ports of an adapter.
const MOST_OF_ADAPTER: u16 = 2;

/// A type: the ports of its connectors.
#[derive(Default)]
struct IbnlSystemType<'a> {
    line: usize,
    ports: BTreeMap<&'a str, u16>,
    prefixes: BTreeSet<&'a str>,
    /// A connector that names no port.
    odd: Option<&'a str>,
    /// Types at the other ends of its cables.
    others: BTreeSet<&'a str>,
}

/// `("", 3)` of `P3`, `("U1", 3)` of `U1/P3`: the device and the port.
fn port(connector: &str) -> Option<(&str, u16)> {
    let (device, port) = connector.rsplit_once('/').unwrap_or(("", connector));
    let digits = port.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let number = digits.parse().ok().filter(|n| (1..=254).contains(n))?;
    (port.len() - digits.len() <= 4).then_some((device, number))
}

/// The connectors and neighbours of each type without a definition.
fn types<'a>(
    said: &TopologyFileContents<'a>,
    known: &IbnlDefinitions,
) -> BTreeMap<&'a str, IbnlSystemType<'a>> {
    let mut types: BTreeMap<&str, IbnlSystemType> = BTreeMap::new();
    for system in said.systems.iter().filter(|system| !known.has(system.kind)) {
        let kind = types.entry(system.kind).or_default();
        kind.line = if kind.line == 0 { system.line } else { kind.line };
        if system.boards.keys().next().is_some() {
            kind.odd = Some("CFG:");
        }
    }
    for (a, b, _, _) in &said.cables {
        for ((system, connector), (other, _)) in [(a, b), (b, a)] {
            let Some(kind) = types.get_mut(said.systems[*system].kind) else { continue };
            kind.others.insert(said.systems[*other].kind);
            match port(connector) {
                Some((device, number)) => {
                    kind.prefixes.insert(device);
                    kind.ports.insert(connector, number);
                }
                None => kind.odd = Some(connector),
            }
        }
    }
    types
}

/// The systems of each type, by the type.
pub(super) type SystemsByType<'a> = HashMap<&'a str, Rc<FlattenedIbnlSystem>>;

/// The types without definition, each as one device, and the remark that says so.
///
/// A type with a port above 2 on any of its systems is a switch, as is one with SW in its name; one
/// called HCA or CA is an adapter, as is one all of whose cables lead to switches.
///
/// # Errors
/// When a type could be either, or its connectors are those of several devices.
pub(super) fn without_definition<'a>(
    said: &TopologyFileContents<'a>,
    known: &IbnlDefinitions,
    name: &str,
) -> Result<(SystemsByType<'a>, Vec<String>), Refusal> {
    let types = types(said, known);
    let mut is_switch: BTreeMap<&str, bool> = BTreeMap::new();
    let refuse = |kind: &str, of: &IbnlSystemType, why: String| {
        let help = format!(
            "{kind}.ibnl beside the file, or its folder in IBDM_IBNL_PATH, as ibutils reads it"
        );
        Refusal::new(format!("{name}: line {}", of.line), why, help)
    };
    for (kind, of) in &types {
        if of.odd.is_some() || of.prefixes.len() > 1 {
            let which = of.odd.or_else(|| of.ports.keys().next().copied()).unwrap_or_default();
            let why = format!(
                "there is no definition of {kind}, which has more than one device: {which}"
            );
            return Err(refuse(kind, of, why));
        }
        let upper = kind.to_ascii_uppercase();
        let most = of.ports.values().max().copied().unwrap_or(0);
        if upper.contains("HCA") || upper == "CA" || upper.starts_with("CA_") {
            is_switch.insert(kind, false);
        } else if most > MOST_OF_ADAPTER || upper.contains("SW") {
            is_switch.insert(kind, true);
        }
    }
    let mut taken = HashMap::new();
    let mut words = Vec::new();
    for (kind, of) in &types {
        let is_known_switch = |other: &&str| match is_switch.get(other) {
            Some(is) => *is,
            None => known.is_switch(other),
        };
        let is_it = match is_switch.get(kind) {
            Some(is) => *is,
            None if !of.others.is_empty() && of.others.iter().all(is_known_switch) => false,
            None => {
                let why = format!("there is no definition of {kind}, a switch or an adapter");
                return Err(refuse(kind, of, why));
            }
        };
        let most = of.ports.values().max().copied().unwrap_or(1);
        let ports = if is_it { most } else { most.max(MOST_OF_ADAPTER) };
        let place = |(connector, number): (&&str, &u16)| {
            ((*connector).to_owned(), ((0, *number), IbnlCableRate::default()))
        };
        let flat = FlattenedIbnlSystem {
            devices: vec![("U1".to_owned(), is_it, ports)],
            connectors: of.ports.iter().map(place).collect(),
            joints: BTreeMap::new(),
        };
        taken.insert(*kind, Rc::new(flat));
        words.push(format!("{kind} as {}", if is_it { "switch" } else { "adapter" }));
    }
    let remark = (!words.is_empty())
        .then(|| format!("types without definition, taken by their ports: {}", words.join(", ")));
    Ok((taken, remark.into_iter().collect()))
}
