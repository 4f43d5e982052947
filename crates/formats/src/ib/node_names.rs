//! The node name map of OpenSM and the diagnostics: names of devices by their node GUIDs.
//!
//! Source: opensm(8), option `--node_name_map`, and `complib/cl_nodenamemap.c`, which reads it for
//! both: a line `0x<guid> "name"`, what follows the name is not read, `#` begins a comment.

use base::Refusal;
use fabric::network::{NAMES, Topology, name_fault};
use std::collections::{BTreeMap, HashMap};

/// The form of a line, for refusals.
const LINE: &str = "a line is 0x<node GUID in hexadecimal> \"name\", or a # comment";

/// Names by node GUID, each with its line.
#[derive(Debug, Clone, Default)]
pub struct NodeNames {
    by_guid: BTreeMap<u64, (usize, String)>,
}

impl NodeNames {
    /// Reads a map. O(text).
    ///
    /// # Errors
    /// Names the line of `file` that is no name of a GUID, or gives a GUID another name.
    pub fn read(text: &str, file: &str) -> Result<Self, Refusal> {
        let mut map = Self::default();
        for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at = |why: String, help: &str| {
                Refusal::new(format!("{file}: line {}", i + 1), why, help)
            };
            let shown: String = line.chars().take(60).flat_map(char::escape_debug).collect();
            let (guid, name) =
                entry(line).ok_or_else(|| at(format!("'{shown}' is no name of a GUID"), LINE))?;
            if let Some(why) = name_fault(name) {
                return Err(at(why, NAMES));
            }
            match map.by_guid.get(&guid) {
                Some((first, other)) if other != name => {
                    let why = format!("0x{guid:016x} is already named in line {first}: {other}");
                    return Err(at(why, "a GUID has one name"));
                }
                Some(_) => {}
                None => _ = map.by_guid.insert(guid, (i + 1, name.to_owned())),
            }
        }
        Ok(map)
    }

    /// `t` with the names of this map, by the node GUIDs of switches and endpoints, and remarks on
    /// names that are left out: a name that several devices would have is given to none of them.
    /// O(devices log devices).
    pub fn apply(&self, t: &Topology) -> (Topology, Vec<String>) {
        let switches = t.switches().iter().map(|s| (s.guid, &s.name));
        let all: Vec<_> = switches.chain(t.endpoints().iter().map(|e| (e.guid, &e.name))).collect();
        let mut new: Vec<Option<&(usize, String)>> =
            all.iter().map(|(guid, _)| guid.and_then(|g| self.by_guid.get(&g))).collect();
        let mut remarks = Vec::new();
        if new.iter().all(Option::is_none) {
            let (all, has) = (self.by_guid.len(), "is the node GUID of a device here");
            remarks.push(format!("none of the {all} GUIDs {has}; names stay"));
        }
        loop {
            let mut bearers: HashMap<&str, usize> = HashMap::new();
            for (old, new) in all.iter().zip(&new) {
                *bearers.entry(new.map_or(old.1, |(_, name)| name)).or_default() += 1;
            }
            let mut shared = BTreeMap::new();
            for new in &mut new {
                if let Some((line, name)) = new.filter(|(_, name)| bearers[name.as_str()] > 1) {
                    shared.entry(name.as_str()).or_insert(*line);
                    *new = None;
                }
            }
            if shared.is_empty() {
                break;
            }
            remarks.extend(shared.into_iter().map(|(name, line)| {
                format!("line {line}: several devices would be '{name}'; they keep their names")
            }));
        }
        let names = all.iter().zip(&new);
        let names = names.map(|(old, new)| new.map_or(old.1, |(_, name)| name).clone());
        (t.renamed(names.collect()), remarks)
    }
}

/// GUID and name of a line.
fn entry(line: &str) -> Option<(u64, &str)> {
    let (guid, rest) = line.split_once('"')?;
    let guid = guid.trim_end();
    let hex = guid.strip_prefix("0x").or_else(|| guid.strip_prefix("0X"))?;
    let hex = Some(hex).filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let guid = u64::from_str_radix(hex, 16).ok().filter(|g| *g != 0)?;
    let (name, _) = rest.split_once('"')?;
    let name = name.trim();
    (!name.is_empty()).then_some((guid, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::network::{NetworkRecipe, Switch, TopologyBuilder};
    use serde_json::Map;

    fn network() -> Topology {
        let mut b = TopologyBuilder::new();
        let s = [("leaf", 0xa1), ("spine", 0xa2)]
            .map(|(name, guid)| b.switch(Switch { guid: Some(guid), ..Switch::new(name) }));
        b.link(s[0], s[1]);
        for (i, name) in ["h1", "h2"].into_iter().enumerate() {
            let e = b.endpoint(name, Some(0xb0 + i as u64));
            b.attach(e, s[0], 0, fabric::network::Cable::default());
        }
        b.finish(NetworkRecipe { family: "test".into(), params: Map::new() }).expect("a network")
    }

    fn names(text: &str) -> (Vec<String>, Vec<String>) {
        let (t, remarks) = NodeNames::read(text, "names").expect("a map").apply(&network());
        let switches = t.switches().iter().map(|s| s.name.clone());
        (switches.chain(t.endpoints().iter().map(|e| e.name.clone())).collect(), remarks)
    }

    #[test]
    fn names_are_given_by_node_guid() {
        let text = "# map\n\n0xa1 \"MF0;sw 1:MQM8700/U1\" # rack 4\n\
                    0x00000000000000B0\t\"node-1\"\r\n0xff \"elsewhere\"\n\
                    \n  0xa1 \"MF0;sw 1:MQM8700/U1\"\n";
        let (given, remarks) = names(text);
        assert_eq!(given, ["MF0;sw 1:MQM8700/U1", "spine", "node-1", "h2"]);
        assert!(remarks.is_empty());
        let (given, remarks) = names("0xa1 \"spine\"\n0xa2 \"leaf\"\n");
        assert_eq!((given[..2].join(" "), remarks.len()), ("spine leaf".to_owned(), 0));
        assert!(names("0x1 \"x\"").1[0].starts_with("none of the 1 GUIDs"));
    }

    #[test]
    fn a_name_of_several_devices_is_given_to_none() {
        let (given, remarks) = names("0xa1 \"x\"\n0xb0 \"x\"\n0xb1 \"spine\"\n0xa2 \"top\"\n");
        assert_eq!(given, ["leaf", "top", "h1", "spine"]);
        assert_eq!(remarks, ["line 1: several devices would be 'x'; they keep their names"]);
        // a2 keeps its name, for a1 would have the same; so b1 cannot have that of a2
        let (given, remarks) = names("0xa1 \"x\"\n0xa2 \"x\"\n0xb1 \"spine\"\n");
        assert_eq!((given.join(" "), remarks.len()), ("leaf spine h1 h2".to_owned(), 2));
    }

    #[test]
    fn strange_lines_are_named() {
        for (line, what) in [
            ("0xa1 leaf", "is no name of a GUID"),
            ("a1 \"leaf\"", "is no name of a GUID"),
            ("0xa1 \"leaf", "is no name of a GUID"),
            ("0xa1 \"\"", "is no name of a GUID"),
            ("0x0 \"leaf\"", "is no name of a GUID"),
            ("0x112233445566778899 \"leaf\"", "is no name of a GUID"),
            ("0xa2 \"other\"", "already named in line 2: first"),
            ("0xa1 \"a\u{7}b\"", "has the character U+0007"),
        ] {
            let text = format!("# map\n0xa2 \"first\"\n{line}\n");
            let refusal = NodeNames::read(&text, "map").expect_err("a strange line").to_string();
            assert!(refusal.starts_with("map: line 3: ") && refusal.contains(what), "{refusal}");
        }
    }
}
