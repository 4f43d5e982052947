//! The contents of a topology file: systems, and cables between their connectors.

use super::ibnl::{IbnlCableRate, arrow};
use fabric::network::{NAMES, name_fault};
use std::collections::{BTreeMap, HashMap};

/// A system of the file.
pub(super) struct ListedSystem<'a> {
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    /// Variants of its boards, by place.
    pub(super) boards: BTreeMap<&'a str, &'a str>,
    pub(super) line: usize,
}

/// A connector: number of the system, and name.
pub(super) type Connector<'a> = (usize, &'a str);

/// The contents of a topology file.
#[derive(Default)]
pub(super) struct TopologyFileContents<'a> {
    pub(super) systems: Vec<ListedSystem<'a>>,
    pub(super) by_name: HashMap<&'a str, usize>,
    pub(super) cables: Vec<(Connector<'a>, Connector<'a>, IbnlCableRate, usize)>,
    /// The cable at each connector.
    pub(super) used: HashMap<Connector<'a>, usize>,
}

impl<'a> TopologyFileContents<'a> {
    /// Reads a line; `open` is the system whose cables follow.
    pub(super) fn line(
        &mut self,
        line: &'a str,
        number: usize,
        open: &mut Option<usize>,
    ) -> Result<(), TopologyFault> {
        if line.trim_start().starts_with('#') {
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => *open = None,
            _ if line.contains("->") => {
                let (port, rate, to) = match arrow(line) {
                    Some(found) => found.map_err(|why| (why, CABLE))?,
                    None => return Err(("it is no cable".to_owned(), CABLE)),
                };
                let [kind, name, theirs] = to[..] else {
                    return Err(("behind the arrow is no system and its port".to_owned(), CABLE));
                };
                let from =
                    open.ok_or_else(|| ("a cable of no system".to_owned(), "TYPE NAME before it"))?;
                let other = self.system(kind, name, number)?;
                self.cable((from, port), (other, theirs), rate, number)?;
            }
            [kind, name, ref rest @ ..] => {
                let of = rest.concat();
                let boards = match of.strip_prefix("CFG:") {
                    Some(_) => line.split_once("CFG:").map_or("", |(_, boards)| boards),
                    None if rest.is_empty() => "",
                    None => return Err(("it is neither a system nor a cable".to_owned(), LINES)),
                };
                let at = self.system(kind, name, number)?;
                for board in boards.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
                    let Some((place, variant)) = board.split_once('=') else {
                        return Err((format!("'{board}' is no BOARD=VARIANT"), LINES));
                    };
                    self.systems[at].boards.insert(place, variant);
                }
                *open = Some(at);
            }
            _ => return Err(("it is neither a system nor a cable".to_owned(), LINES)),
        }
        Ok(())
    }

    fn system(
        &mut self,
        kind: &'a str,
        name: &'a str,
        line: usize,
    ) -> Result<usize, TopologyFault> {
        let next = self.systems.len();
        let at = *self.by_name.entry(name).or_insert(next);
        if at == next {
            if let Some(why) = name_fault(name) {
                return Err((why, NAMES));
            }
            self.systems.push(ListedSystem { kind, name, boards: BTreeMap::new(), line });
        }
        let old = &self.systems[at];
        if old.kind != kind {
            let why = format!("{name} is a {kind} here, but a {} in line {}", old.kind, old.line);
            return Err((why, "one type for each system"));
        }
        Ok(at)
    }

    fn cable(
        &mut self,
        a: Connector<'a>,
        b: Connector<'a>,
        rate: IbnlCableRate,
        line: usize,
    ) -> Result<(), TopologyFault> {
        let next = self.cables.len();
        for (end, other) in [(a, b), (b, a)] {
            let at = *self.used.entry(end).or_insert(next);
            if at == next {
                continue;
            }
            let (first, second, old, before) = &mut self.cables[at];
            if (*first, *second) != (other, end) && (*first, *second) != (end, other) {
                let why = format!(
                    "port {} of {} is already in line {before}",
                    end.1, self.systems[end.0].name
                );
                return Err((why, "a port takes one cable"));
            }
            *old = old.or(rate);
        }
        if self.used.get(&a) == Some(&next) {
            self.cables.push((a, b, rate, line));
        }
        Ok(())
    }
}

/// A fault of a topology file: what is wrong, and what would be right.
pub(super) type TopologyFault = (String, &'static str);

const CABLE: &str = "as P1 -4x-10G-> TYPE NAME P1";
const LINES: &str = "TYPE NAME, TYPE NAME CFG: BOARD=VARIANT,..., or PORT -> TYPE NAME PORT";
