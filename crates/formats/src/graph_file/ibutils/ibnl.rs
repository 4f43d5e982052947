//! Definitions of systems, `.ibnl`: which devices and boards a system has, and how they are joined.
//!
//! ```text
//! SYSTEM LEAF,LEAF:4x          TOPSYSTEM CHASSIS
//! NODE SW 36 MT48436 U1        SUBSYSTEM LEAF leaf1
//!    1 -4x-10G-> P1               P1 -> L1/P1
//!    2 -> P2                      P2 -> spine1 P1
//! ```
//!
//! Source: ibdm-ibnl-file(1) of ibutils. A line of a node or a board says what one of its ports is
//! joined to: a port of another node or board, or a connector of the system it is in. Connectors
//! that lead to nothing are no fault: which are there depends on the boards that are.

use base::Refusal;
use fabric::network::InfinibandLaneSpeed;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The number by which ibutils writes the speed of a lane, Gbit/s; FDR10 has a name instead.
const NOMINAL: [(InfinibandLaneSpeed, f64); 8] = [
    (InfinibandLaneSpeed::SDR, 2.5),
    (InfinibandLaneSpeed::DDR, 5.0),
    (InfinibandLaneSpeed::QDR, 10.0),
    (InfinibandLaneSpeed::FDR, 14.0),
    (InfinibandLaneSpeed::EDR, 25.0),
    (InfinibandLaneSpeed::HDR, 50.0),
    (InfinibandLaneSpeed::NDR, 100.0),
    (InfinibandLaneSpeed::XDR, 200.0),
];

/// The number that stands for a lane's speed, Gbit/s.
pub(crate) fn nominal_gbps(speed: InfinibandLaneSpeed) -> f64 {
    NOMINAL.iter().find(|(s, _)| *s == speed).map_or(10.0, |(_, gbps)| *gbps)
}

/// The largest depth of boards within boards.
const MOST_DEPTH: usize = 16;
/// Most devices and boards of one system.
const MOST_PARTS: usize = 1 << 16;
/// The words for a board that is not installed.
const REMOVED: [&str; 3] = ["R", "X", "Removed"];

/// The width and the speed that a file states for a cable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct IbnlCableRate {
    pub(super) width: Option<u8>,
    pub(super) speed: Option<InfinibandLaneSpeed>,
}

impl IbnlCableRate {
    /// The same rate, with the width or the speed of `other` where it lacks one.
    pub(super) fn or(self, other: Self) -> Self {
        Self { width: self.width.or(other.width), speed: self.speed.or(other.speed) }
    }

    pub(super) fn is_said(self) -> bool {
        self != Self::default()
    }

    /// The rate in the words of an arrow, `-4x-10G`.
    fn of(words: &str) -> Result<Self, String> {
        let mut rate = Self::default();
        for word in words.split('-').filter(|word| !word.is_empty()) {
            let lower = word.to_ascii_lowercase();
            let width = lower.strip_suffix('x').and_then(|n| n.parse().ok());
            let width = width.filter(|n| [1, 2, 4, 8, 12].contains(n));
            let lane = lower.strip_suffix('g').unwrap_or(&lower);
            let speed = match (lane, lane.parse::<f64>()) {
                ("fdr10" | "fdr_10", _) => Some(InfinibandLaneSpeed::FDR10),
                (_, Ok(gbps)) => {
                    NOMINAL.into_iter().find(|(_, n)| n.to_bits() == gbps.to_bits()).map(|(s, _)| s)
                }
                _ => None,
            };
            match (width, speed) {
                (Some(_), _) => rate.width = width,
                (None, Some(_)) => rate.speed = speed,
                (None, None) => {
                    return Err(format!("'{word}' is no width (4x) or speed of a lane (10G)"));
                }
            }
        }
        Ok(rate)
    }
}

/// A line of a cable: the port, the rate of the cable, and the words behind the arrow.
pub(super) type CableLine<'a> = (&'a str, IbnlCableRate, Vec<&'a str>);

/// The port, rate and far end that a line gives for a cable; `None` where it has no arrow.
pub(super) fn arrow(line: &str) -> Option<Result<CableLine<'_>, String>> {
    let (left, right) = line.split_once("->")?;
    let left = left.trim();
    let digits = left.bytes().take_while(u8::is_ascii_digit).count();
    let blank = left.find(char::is_whitespace);
    // a number may stand next to the arrow
    let glued = digits > 0 && left[digits..].starts_with('-');
    let (port, words) = left.split_at(if glued { digits } else { blank.unwrap_or(left.len()) });
    let words: String = words.chars().filter(|c| !c.is_whitespace()).collect();
    Some(IbnlCableRate::of(&words).map(|rate| (port, rate, right.split_whitespace().collect())))
}

/// All definitions that were given.
#[derive(Default)]
pub(super) struct IbnlDefinitions {
    files: Vec<IbnlFile>,
    /// The file and number of each system that can be cabled, by its names.
    tops: HashMap<String, (usize, usize)>,
}

/// An IBNL file of ibutils: the systems that it defines, and their boards.
struct IbnlFile {
    name: String,
    systems: Vec<IbnlSystem>,
    /// Numbers of its boards, by their names.
    boards: HashMap<String, usize>,
}

/// The definition of a system or a board in an IBNL file.
#[derive(Default)]
struct IbnlSystem {
    parts: Vec<IbnlComponent>,
    /// Number of each part.
    by_name: HashMap<String, usize>,
    /// Its connectors: name, and the part and port behind it.
    connectors: Vec<(String, usize, String, IbnlCableRate)>,
    /// What is joined within: part and port, part and port.
    joints: Vec<(usize, String, String, String, IbnlCableRate)>,
}

/// A component of a system: a device or a board, by its name.
struct IbnlComponent {
    name: String,
    what: IbnlComponentKind,
}

/// The kind of a component: a device with its ports, or a board by its type.
enum IbnlComponentKind {
    Device { is_switch: bool, ports: u16 },
    Board(String),
}

/// The port of a device within a system.
pub(super) type IbnlPort = (usize, u16);

/// A system without its boards: devices, connectors, and what is joined within.
#[derive(Default)]
pub(super) struct FlattenedIbnlSystem {
    /// Name within the system, whether it is a switch, its ports.
    pub(super) devices: Vec<(String, bool, u16)>,
    pub(super) connectors: BTreeMap<String, (IbnlPort, IbnlCableRate)>,
    pub(super) joints: BTreeMap<(IbnlPort, IbnlPort), IbnlCableRate>,
}

impl IbnlDefinitions {
    /// Adds the definitions of a file.
    ///
    /// # Errors
    /// With the line that is not understood.
    pub(super) fn add(&mut self, name: &str, text: &str) -> Result<(), Refusal> {
        let mut file =
            IbnlFile { name: name.to_owned(), systems: Vec::new(), boards: HashMap::new() };
        let at = self.files.len();
        let text = text.trim_start_matches('\u{feff}');
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            let found = file
                .line(line)
                .map_err(|(why, help)| Refusal::new(format!("{name}: line {number}"), why, help))?;
            for top in found {
                self.tops.entry(top).or_insert((at, file.systems.len() - 1));
            }
        }
        self.files.push(file);
        Ok(())
    }

    /// Whether there is a system of this name.
    pub(super) fn has(&self, system: &str) -> bool {
        self.tops.contains_key(system)
    }

    /// Whether the system of this name has a switch.
    pub(super) fn is_switch(&self, system: &str) -> bool {
        let flat = self.flat(system, &HashMap::new());
        flat.is_some_and(|flat| flat.is_ok_and(|flat| flat.devices.iter().any(|(_, is, _)| *is)))
    }

    /// The system of this name, its boards as `boards` (place, variant) says; `None` where there is
    /// none.
    ///
    /// # Errors
    /// When a board or a port is missing, or boards are within themselves.
    pub(super) fn flat(
        &self,
        system: &str,
        boards: &HashMap<String, String>,
    ) -> Option<Result<FlattenedIbnlSystem, Refusal>> {
        let &(file, at) = self.tops.get(system)?;
        let file = &self.files[file];
        let mut made =
            IbnlSystemFlattener { file, boards, flat: FlattenedIbnlSystem::default(), parts: 0 };
        let refuse = |(why, help): IbnlFault| Refusal::new(&file.name, why, help);
        Some(match made.of(&file.systems[at], "", 0) {
            Ok(connectors) => {
                made.flat.connectors = connectors;
                Ok(made.flat)
            }
            Err(wrong) => Err(refuse(wrong)),
        })
    }
}

/// A fault of a file: what is wrong, and what would be right.
type IbnlFault = (String, &'static str);

impl IbnlFile {
    /// Reads a line; returns the names of a system that can be cabled where the line begins one.
    fn line(&mut self, line: &str) -> Result<Vec<String>, IbnlFault> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let names = |words: &[&str]| -> Vec<String> {
            let all = words.iter().flat_map(|word| word.split(','));
            all.filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let form = "NODE SW|CA PORTS DEVICE NAME, or SUBSYSTEM BOARD NAME";
        match words[..] {
            // variants of boards within a board say nothing that is not in a topology
            [] | ["CFG:", ..] => {}
            [word @ ("SYSTEM" | "TOPSYSTEM"), ref rest @ ..] if !rest.is_empty() => {
                let names = names(rest);
                let number = self.systems.len();
                self.systems.push(IbnlSystem::default());
                if word == "TOPSYSTEM" {
                    return Ok(names);
                }
                self.boards.extend(names.into_iter().map(|name| (name, number)));
            }
            ["NODE", kind @ ("SW" | "CA" | "HCA"), ports, _, name] => {
                let ports = ports.parse().ok().filter(|n| (1..=254).contains(n));
                let Some(ports) = ports else {
                    return Err(("it is no number of ports".to_owned(), "1 to 254"));
                };
                self.part(name, IbnlComponentKind::Device { is_switch: kind == "SW", ports })?;
            }
            ["SUBSYSTEM", board, name] => {
                self.part(name, IbnlComponentKind::Board(board.to_owned()))?;
            }
            _ => match arrow(line) {
                Some(found) => {
                    let (port, rate, to) = found.map_err(|why| (why, "as 1 -4x-10G-> P1"))?;
                    self.joint(port, rate, &to)?;
                }
                None if words.len() == 1 && line.contains('=') => {}
                None => return Err(("it is no line of a system".to_owned(), form)),
            },
        }
        Ok(Vec::new())
    }

    fn part(&mut self, name: &str, what: IbnlComponentKind) -> Result<(), IbnlFault> {
        let Some(system) = self.systems.last_mut() else {
            return Err(("it is in no system".to_owned(), "TOPSYSTEM NAME before it"));
        };
        let number = system.parts.len();
        if system.by_name.insert(name.to_owned(), number).is_some() {
            return Err((format!("{name} comes twice in its system"), "names that differ"));
        }
        system.parts.push(IbnlComponent { name: name.to_owned(), what });
        Ok(())
    }

    fn joint(&mut self, port: &str, rate: IbnlCableRate, to: &[&str]) -> Result<(), IbnlFault> {
        let system = self.systems.last_mut().filter(|system| !system.parts.is_empty());
        let Some(system) = system else {
            return Err(("it is a port of nothing".to_owned(), "NODE or SUBSYSTEM before it"));
        };
        let (part, port) = (system.parts.len() - 1, port.to_owned());
        match to {
            [connector] => system.connectors.push(((*connector).to_owned(), part, port, rate)),
            [other, theirs] => {
                let (other, theirs) = ((*other).to_owned(), (*theirs).to_owned());
                system.joints.push((part, port, other, theirs, rate));
            }
            _ => {
                let why = "behind the arrow is no port".to_owned();
                return Err((why, "a connector, or a part and its port"));
            }
        }
        Ok(())
    }
}

/// A builder of a system without boards: each board is replaced by what it has.
struct IbnlSystemFlattener<'a> {
    file: &'a IbnlFile,
    boards: &'a HashMap<String, String>,
    flat: FlattenedIbnlSystem,
    parts: usize,
}

/// The connectors of a system.
type SystemConnectors = BTreeMap<String, (IbnlPort, IbnlCableRate)>;

impl IbnlSystemFlattener<'_> {
    /// The connectors of `system`, whose parts' names begin with `place`.
    fn of(
        &mut self,
        system: &IbnlSystem,
        place: &str,
        depth: usize,
    ) -> Result<SystemConnectors, IbnlFault> {
        self.parts += system.parts.len();
        if depth > MOST_DEPTH || self.parts > MOST_PARTS {
            let why = "boards within boards, too deep or too many".to_owned();
            return Err((why, "16 deep and 2^16 parts at most; no board within itself"));
        }
        // where the ports of each part are: a device's number, or the connectors of a board
        let mut inside: Vec<Result<usize, SystemConnectors>> =
            Vec::with_capacity(system.parts.len());
        for part in &system.parts {
            let name = format!("{place}{}", part.name);
            inside.push(match &part.what {
                IbnlComponentKind::Device { is_switch, ports } => {
                    self.flat.devices.push((name, *is_switch, *ports));
                    Ok(self.flat.devices.len() - 1)
                }
                IbnlComponentKind::Board(board) => Err(self.board(board, &name, depth)?),
            });
        }
        let port_of =
            |flat: &FlattenedIbnlSystem, part: usize, port: &str| -> Result<_, IbnlFault> {
                match &inside[part] {
                    Ok(device) => {
                        let (name, _, ports) = &flat.devices[*device];
                        let number = port.parse().ok().filter(|n| (1..=*ports).contains(n));
                        let why =
                            || (format!("{name} has no port {port}"), "1 to its number of ports");
                        Ok(Some(((*device, number.ok_or_else(why)?), IbnlCableRate::default())))
                    }
                    Err(connectors) => Ok(connectors.get(port).copied()),
                }
            };
        for (part, port, other, theirs, rate) in &system.joints {
            let Some(&other) = system.by_name.get(other) else {
                let why = format!("there is no part {other} to join {}", system.parts[*part].name);
                return Err((why, "a NODE or SUBSYSTEM of the same system"));
            };
            let ends = [port_of(&self.flat, *part, port)?, port_of(&self.flat, other, theirs)?];
            if let [Some((a, first)), Some((b, second))] = ends {
                let known = self.flat.joints.entry((a.min(b), a.max(b))).or_default();
                *known = known.or(first).or(second).or(*rate);
            }
        }
        let mut connectors = SystemConnectors::new();
        for (name, part, port, rate) in &system.connectors {
            if let Some((port, lower)) = port_of(&self.flat, *part, port)? {
                connectors.insert(name.clone(), (port, lower.or(*rate)));
            }
        }
        Ok(connectors)
    }

    /// The connectors of the board at this place; none where it is removed.
    fn board(
        &mut self,
        board: &str,
        place: &str,
        depth: usize,
    ) -> Result<SystemConnectors, IbnlFault> {
        let file = self.file;
        let variant = self.boards.get(place).map(String::as_str);
        let name = match variant {
            Some(word) if REMOVED.contains(&word) => return Ok(SystemConnectors::new()),
            Some(word) => format!("{board}:{word}"),
            None => board.to_owned(),
        };
        let Some(&number) = file.boards.get(&name) else {
            return Err((format!("there is no SYSTEM {name} for {place}"), "one in the same file"));
        };
        self.of(&file.systems[number], &format!("{place}/"), depth + 1)
    }
}

/// Ports that are joined twice.
pub(super) fn joined_twice(flat: &FlattenedIbnlSystem) -> Option<IbnlPort> {
    let mut seen = BTreeSet::new();
    flat.joints.keys().flat_map(|(a, b)| [*a, *b]).find(|port| !seen.insert(*port))
}
