//! The kinds of discovered devices, and which devices are endpoints of the network.
//!
//! The type of node tells switches, adapters and routers apart. What an adapter is for, only its
//! device id and its description say: the switches' units for aggregation (SHARP) are all called
//! `Mellanox Technologies Aggregation Node`, and operators name servers by what they do.

use crate::hosts::{adapter, host, natural};
use base::Refusal;
use base::words::did_you_mean;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;

/// The kind of a node of a fabric, by its purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceKind {
    /// The adapter of a host: an endpoint.
    Host,
    /// A router to another subnet.
    Router,
    /// The unit of a switch that reduces data (SHARP).
    Aggregation,
    /// A gateway to Ethernet or Fibre Channel.
    Gateway,
    /// A server that manages the fabric.
    Manager,
    /// The adapter of a storage server.
    Storage,
    /// A device of a type that is not known.
    Unknown,
}

impl DeviceKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Host,
        Self::Router,
        Self::Aggregation,
        Self::Gateway,
        Self::Manager,
        Self::Storage,
        Self::Unknown,
    ];

    /// The word for it in `keep` and `only`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Router => "router",
            Self::Aggregation => "aggregation",
            Self::Gateway => "gateway",
            Self::Manager => "manager",
            Self::Storage => "storage",
            Self::Unknown => "unknown",
        }
    }

    /// `4 aggregation nodes`.
    pub(super) fn counted(self, count: usize) -> String {
        let (one, many) = match self {
            Self::Host => ("host adapter", "host adapters"),
            Self::Router => ("router", "routers"),
            Self::Aggregation => ("aggregation node", "aggregation nodes"),
            Self::Gateway => ("gateway", "gateways"),
            Self::Manager => ("manager", "managers"),
            Self::Storage => ("storage adapter", "storage adapters"),
            Self::Unknown => ("device of unknown type", "devices of unknown type"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }

    /// The kind of an adapter with this device id and description.
    pub(super) fn of_adapter(device: Option<u64>, description: &str) -> Self {
        let text = description.to_lowercase();
        if device == Some(AGGREGATION_DEVICE) || text.contains("aggregation node") {
            return Self::Aggregation;
        }
        if device == Some(BRIDGE_DEVICE) {
            return Self::Gateway;
        }
        if text.contains("subnet manager") {
            return Self::Manager;
        }
        // a managed switch or gateway calls itself MF0;name:SYSTEM/unit
        let system = text.split_once(';').and_then(|(_, rest)| rest.split_once(':'));
        let gateway = |word: &str| GATEWAYS.contains(&word) || GATEWAY_SYSTEMS.contains(&word);
        if system.is_some_and(|(_, system)| words(system).any(gateway)) {
            return Self::Gateway;
        }
        let says = |known: &[&str]| words(host(&text)).any(|word| known.contains(&stem(word)));
        if says(&GATEWAYS) || words(&text).any(|word| GATEWAY_SYSTEMS.contains(&word)) {
            Self::Gateway
        } else if says(&MANAGERS) {
            Self::Manager
        } else if says(&STORAGE) {
            Self::Storage
        } else {
            Self::Host
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// PCI device id of the aggregation node of a switch: 53001.
const AGGREGATION_DEVICE: u64 = 0xcf09;
/// PCI device id of the gateways' `BridgeX`: 64102.
const BRIDGE_DEVICE: u64 = 0xfa66;
const GATEWAYS: [&str; 8] =
    ["gateway", "gateways", "gw", "gtw", "skyway", "bridgex", "ibgw", "ipoibgw"];
const GATEWAY_SYSTEMS: [&str; 4] = ["sx6036g", "mga100", "bx5020", "4036e"];
const MANAGERS: [&str; 10] =
    ["ufm", "ufmha", "opensm", "ibsm", "osm", "manager", "management", "mgmt", "mgt", "smnode"];
const STORAGE: [&str; 22] = [
    "storage",
    "stor",
    "store",
    "sto",
    "nas",
    "nfs",
    "oss",
    "ost",
    "mds",
    "mdt",
    "mgs",
    "lustre",
    "gpfs",
    "nsd",
    "beegfs",
    "ddn",
    "exascaler",
    "vast",
    "weka",
    "ceph",
    "daos",
    "netapp",
];

/// The words of a text: runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// A word without the number at its end.
fn stem(word: &str) -> &str {
    word.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Whether a description is the firmware's own, the same for all adapters of one model.
pub(super) fn names_no_host(description: &str) -> bool {
    description.trim().is_empty() || description.contains("Mellanox Technologies")
}

/// A kind, or a pattern in which `*` is any text and `?` any character. A pattern with a blank is
/// for whole descriptions, another one for hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DevicePattern {
    Kind(DeviceKind),
    Name(String),
}

impl DevicePattern {
    fn new(text: &str) -> Self {
        let word = text.to_lowercase();
        let singular = word.strip_suffix('s').unwrap_or(&word);
        let kind =
            DeviceKind::ALL.into_iter().find(|kind| [&*word, singular].contains(&kind.word()));
        kind.map_or_else(|| Self::Name(text.to_owned()), Self::Kind)
    }

    fn takes(&self, kind: DeviceKind, description: &str) -> bool {
        match self {
            Self::Kind(own) => *own == kind,
            Self::Name(glob) => {
                let whole = names_no_host(description) || glob.contains(char::is_whitespace);
                fits(glob, if whole { description } else { host(description) })
            }
        }
    }
}

/// Whether `text` fits `glob`. O(both lengths).
fn fits(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for g in glob {
        if g == '*' {
            let from = reached.iter().position(|at| *at).unwrap_or(reached.len());
            reached[from..].fill(true);
            continue;
        }
        for at in (0..text.len()).rev() {
            reached[at + 1] = reached[at] && (g == '?' || g == text[at]);
        }
        reached[0] = false;
    }
    reached[text.len()]
}

/// Which of a host's adapters are endpoints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum HostAdapterFilter {
    /// Each adapter is an endpoint.
    #[default]
    Each,
    /// All adapters of a host together are one endpoint, with a rail for every cabled port.
    Joined,
    /// The first adapter of each host is an endpoint, with its first cabled port.
    First,
    /// The adapters whose name in their host fits this pattern are endpoints.
    Named(String),
}

/// Which devices of a discovered fabric are endpoints of the network.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EndpointDeviceFilter {
    keep: Vec<DevicePattern>,
    only: Vec<DevicePattern>,
    adapters: HostAdapterFilter,
    /// The choice in the user's words, for the recipe.
    given: RawDeviceFilter,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawDeviceFilter {
    keep: Vec<String>,
    only: Vec<String>,
    adapters: Option<String>,
    /// Whether the choice is meant for all files, also for those that have no devices.
    of_all: bool,
}

impl EndpointDeviceFilter {
    /// The choice that `value` says: a map of `keep`, `only` (lists of kinds and patterns) and
    /// `adapters` (`each`, `joined`, `first`, or a pattern for the adapter's name in its host).
    ///
    /// # Errors
    /// When `value` is no such choice.
    pub fn new(value: &Value) -> Result<Self, Refusal> {
        let help = "keep and only: kinds and patterns; adapters: each, joined, first or a name";
        let given: RawDeviceFilter = serde_json::from_value(value.clone())
            .map_err(|e| Refusal::new("devices", e.to_string(), help))?;
        let adapters = match given.adapters.as_deref() {
            None | Some("each") => HostAdapterFilter::Each,
            Some("joined") => HostAdapterFilter::Joined,
            Some("first") => HostAdapterFilter::First,
            Some("") => return Err(Refusal::new("adapters", "it is empty", help)),
            Some(name) => HostAdapterFilter::Named(name.to_owned()),
        };
        let patterns = |of: &[String]| of.iter().map(|text| DevicePattern::new(text)).collect();
        Ok(Self { keep: patterns(&given.keep), only: patterns(&given.only), adapters, given })
    }

    /// Whether the user made no choice.
    pub fn is_default(&self) -> bool {
        self.keep.is_empty() && self.only.is_empty() && self.adapters == HostAdapterFilter::Each
    }

    /// Whether the choice is meant for all files, also for those that have no devices.
    pub fn is_of_all(&self) -> bool {
        self.given.of_all
    }

    /// The parameters of a recipe that state this choice.
    pub(super) fn params(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        let given = &self.given;
        let lists = [("keep", &given.keep), ("only", &given.only)];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        let lists = lists.map(|(key, list)| (key, list.join("+")));
        lists.chain(given.adapters.iter().map(|name| ("adapters", name.clone())))
    }

    /// Whether the rails of a host are counted over all its adapters.
    pub(super) fn joins(&self) -> bool {
        self.adapters == HostAdapterFilter::Joined
    }

    /// Whether only some of a host's adapters are chosen.
    pub(super) fn chooses_adapters(&self) -> bool {
        matches!(self.adapters, HostAdapterFilter::First | HostAdapterFilter::Named(_))
    }

    /// Whether the first cabled port of an endpoint is its only one.
    pub(super) fn takes_one_port(&self) -> bool {
        self.adapters == HostAdapterFilter::First
    }

    /// Which of these devices are endpoints, by their kinds and descriptions. `cabled` says of each
    /// whether it has a cable to a switch: the first adapter of a host is the first one with such a
    /// cable.
    ///
    /// # Errors
    /// When a pattern fits none of them.
    pub(super) fn endpoints(
        &self,
        devices: &[(DeviceKind, &str)],
        cabled: &[bool],
    ) -> Result<Vec<bool>, Refusal> {
        for (key, patterns, texts) in
            [("keep", &self.keep, &self.given.keep), ("only", &self.only, &self.given.only)]
        {
            let names_none = |pattern: &DevicePattern| {
                matches!(pattern, DevicePattern::Name(_))
                    && !devices.iter().any(|(kind, name)| pattern.takes(*kind, name))
            };
            if let Some(at) = patterns.iter().position(names_none) {
                let kinds: Vec<&str> = DeviceKind::ALL.iter().map(|kind| kind.word()).collect();
                let names = devices.iter().take(4096).map(|(_, name)| host(name));
                let near = did_you_mean(&texts[at], kinds.iter().copied().chain(names));
                let help = format!("{near}a name or pattern, or a kind: {}", kinds.join(", "));
                return Err(Refusal::new(key, format!("no device fits '{}'", texts[at]), help));
            }
        }
        let any = |patterns: &[DevicePattern], kind: DeviceKind, name: &str| {
            patterns.iter().any(|pattern| pattern.takes(kind, name))
        };
        let mut chosen: Vec<bool> = devices
            .iter()
            .map(|&(kind, name)| {
                let by_default = kind == DeviceKind::Host && self.only.is_empty();
                by_default || any(&self.only, kind, name) || any(&self.keep, kind, name)
            })
            .collect();
        self.choose_adapters(devices, cabled, &mut chosen)?;
        Ok(chosen)
    }

    fn choose_adapters(
        &self,
        devices: &[(DeviceKind, &str)],
        cabled: &[bool],
        chosen: &mut [bool],
    ) -> Result<(), Refusal> {
        let of_hosts =
            |i: &usize| devices[*i].0 == DeviceKind::Host && !names_no_host(devices[*i].1);
        let mut all: Vec<usize> = (0..devices.len()).filter(of_hosts).collect();
        match &self.adapters {
            HostAdapterFilter::Each | HostAdapterFilter::Joined => {}
            HostAdapterFilter::First => {
                all.retain(|&i| chosen[i]);
                let own = |i: usize| (!cabled[i], natural(adapter(devices[i].1)), i);
                all.sort_by_cached_key(|&i| (host(devices[i].1), own(i)));
                for pair in all.windows(2) {
                    chosen[pair[1]] = host(devices[pair[0]].1) != host(devices[pair[1]].1);
                }
            }
            HostAdapterFilter::Named(glob) => {
                let is = |i: usize| fits(glob, adapter(devices[i].1));
                if !all.iter().any(|&i| chosen[i] && is(i)) {
                    let mut names: Vec<&str> = all.iter().map(|&i| adapter(devices[i].1)).collect();
                    names.sort_unstable();
                    names.dedup();
                    names.truncate(8);
                    let why = format!("no adapter of a host is called '{glob}'");
                    let words = ["each", "joined", "first"];
                    let near = did_you_mean(glob, words.into_iter().chain(names.iter().copied()));
                    let help =
                        format!("{near}{}, or one of {}", words.join(", "), names.join(", "));
                    return Err(Refusal::new("adapters", why, help));
                }
                all.into_iter().filter(|&i| !is(i)).for_each(|i| chosen[i] = false);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_say_what_adapters_are_for() {
        for (name, kind) in [
            ("node1 HCA-1", DeviceKind::Host),
            ("dgx-12 mlx5_0", DeviceKind::Host),
            ("MT4123 ConnectX6 Mellanox Technologies", DeviceKind::Host),
            ("", DeviceKind::Host),
            ("Mellanox Technologies Aggregation Node", DeviceKind::Aggregation),
            ("ufm-host HCA-1", DeviceKind::Manager),
            ("UFM2 mlx5_0", DeviceKind::Manager),
            ("mgmt01 HCA-1", DeviceKind::Manager),
            ("gw01 HCA-1", DeviceKind::Gateway),
            ("MF0;skyway-3:MGA100-HS2/U1", DeviceKind::Gateway),
            ("MF0;edge-2:SX6036G/U1", DeviceKind::Gateway),
            ("lustre-oss12 HCA-2", DeviceKind::Storage),
            ("mds1 HCA-1", DeviceKind::Storage),
            ("storage-a.cluster.example HCA-1", DeviceKind::Storage),
            ("restored HCA-1", DeviceKind::Host),
            ("osman HCA-1", DeviceKind::Host),
        ] {
            assert_eq!(DeviceKind::of_adapter(Some(0x101b), name), kind, "{name}");
        }
        assert_eq!(DeviceKind::of_adapter(Some(0xcf09), "renamed"), DeviceKind::Aggregation);
    }

    #[test]
    fn patterns_are_of_stars_and_question_marks() {
        for (glob, text, is) in [
            ("*", "", true),
            ("a*c", "abc", true),
            ("a*c", "ab", false),
            ("?", "", false),
            ("n?-*", "n1-", true),
            ("a", "ab", false),
            ("*b*", "abc", true),
            ("**", "x", true),
        ] {
            assert_eq!(fits(glob, text), is, "{glob} {text}");
        }
    }
}
