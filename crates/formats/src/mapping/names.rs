//! Hosts by their names: an endpoint's whole name, its first word, or its number.

use crate::backed::FileReaderMemoryBudget;
use crate::hosts::{self, host, of_several_adapters, short};
use base::Refusal;
use base::words::did_you_mean;
use fabric::Topology;
use std::collections::HashMap;

/// The most slots of a host; then the most of all hosts together.
const MOST_SLOTS: u32 = 1 << 16;
const MOST_ALL: usize = 1 << 24;

/// The names of a network's endpoints. `host1 HCA-1`, as fabrics call an adapter, is also named
/// `host1` where no other endpoint begins with that word. `host1.site.example` and `host1` name the
/// same host, whichever of them the network and the file have, where no other host fits. Where
/// several endpoints begin with the word and all are adapters of one host, the name stands for each
/// of them in turn.
pub struct EndpointNameIndex<'a> {
    on: &'a Topology,
    known: HashMap<&'a str, EndpointNameMatch>,
    /// How often a host with several adapters was looked up, by its first adapter.
    turns: HashMap<u32, usize>,
}

/// The endpoints that a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum EndpointNameMatch {
    One(u32),
    /// The adapters of one host, in their order.
    Adapters(Vec<u32>),
    Several,
}

impl<'a> EndpointNameIndex<'a> {
    /// The names of the endpoints of `on`.
    pub fn new(on: &'a Topology) -> Self {
        let adapters = of_several_adapters(on);
        let mut known: HashMap<&str, EndpointNameMatch> = HashMap::new();
        // names of a later sort replace earlier ones: the whole name is the surest
        for name in [|name: &'a str| short(host(name)), host, |name: &'a str| name] {
            let mut own: HashMap<&str, (u32, EndpointNameMatch)> = HashMap::new();
            for (e, endpoint) in (0..).zip(on.endpoints()) {
                let same = |first: u32| host(&on.endpoints()[first as usize].name);
                let entry = own.entry(name(&endpoint.name));
                let (first, known) = entry.or_insert((e, EndpointNameMatch::One(e)));
                if *first != e {
                    let of_host = adapters.get(same(*first)).filter(|all| all.contains(&e));
                    *known = match of_host {
                        Some(all) if *known != EndpointNameMatch::Several => {
                            EndpointNameMatch::Adapters(all.clone())
                        }
                        _ => EndpointNameMatch::Several,
                    };
                }
            }
            known.extend(own.into_iter().map(|(name, (_, is))| (name, is)));
        }
        Self { on, known, turns: HashMap::new() }
    }

    /// The endpoints that this name stands for, or its part before the first dot.
    fn known(&self, word: &str) -> Option<&EndpointNameMatch> {
        self.known.get(word).or_else(|| self.known.get(short(word)))
    }

    /// How many adapters the host of endpoint `e` has, and which of them `e` is; `None` where the
    /// name of the host does not lead back to `e`.
    pub(super) fn place(&self, e: u32) -> Option<(usize, usize)> {
        match self.known(host(&self.on.endpoints()[e as usize].name))? {
            EndpointNameMatch::One(known) => (*known == e).then_some((0, 1)),
            EndpointNameMatch::Adapters(all) => {
                Some((all.iter().position(|a| *a == e)?, all.len()))
            }
            EndpointNameMatch::Several => None,
        }
    }

    /// The endpoint of this name or number; for a host with several adapters, the next of these in
    /// turn.
    ///
    /// # Errors
    /// When there is none, or it could be several.
    pub fn find(&mut self, line: usize, word: &str) -> Result<u32, Refusal> {
        let first = match self.known(word) {
            Some(EndpointNameMatch::Adapters(all)) => all[0],
            _ => return self.find_at(line, word, 0),
        };
        let turn = self.turns.entry(first).or_default();
        *turn += 1;
        let slot = *turn - 1;
        self.find_at(line, word, slot)
    }

    /// The endpoint of this name or number; for a host with several adapters, that of this slot.
    /// Slots go to the adapters one by one in their order, and then again from the first.
    ///
    /// # Errors
    /// When there is none, or it could be several.
    pub fn find_at(&self, line: usize, word: &str, slot: usize) -> Result<u32, Refusal> {
        match self.known(word) {
            Some(EndpointNameMatch::Adapters(all)) => Ok(all[slot % all.len()]),
            Some(EndpointNameMatch::One(e)) => Ok(*e),
            Some(EndpointNameMatch::Several) => {
                let why = format!("several endpoints are called {word:?}");
                let mut help = "whole names or numbers".to_owned();
                let recipe = self.on.recipe();
                let is_one = matches!(recipe.asked("adapters"), Some("joined" | "first"));
                if recipe.is_of_fabric() && !is_one {
                    help += "; --adapters joined or first has one endpoint a host";
                }
                Err(Refusal::new(format!("line {line}"), why, help))
            }
            None => self.find_number(line, word),
        }
    }

    /// The endpoint whose number `word` is.
    pub(super) fn find_number(&self, line: usize, word: &str) -> Result<u32, Refusal> {
        let count = self.on.endpoints().len();
        if let Ok(e) = word.parse::<u32>()
            && (e as usize) < count
        {
            return Ok(e);
        }
        let short: String = word.chars().take(60).collect();
        let near = if count <= 4096 {
            did_you_mean(word, self.on.endpoints().iter().map(|e| e.name.as_str()))
        } else {
            String::new()
        };
        let help =
            format!("{near}a name in the network, or a number from 0 to {}", count.max(1) - 1);
        let why = format!("there is no endpoint {short:?}");
        Err(Refusal::new(format!("line {line}"), why, help))
    }

    /// Whether the number of an endpoint is the name of no other.
    pub(super) fn is_number(&self, e: u32) -> bool {
        self.known(&e.to_string()).is_none_or(|known| *known == EndpointNameMatch::One(e))
    }

    /// Whether a line is a whole name of an endpoint.
    ///
    /// # Errors
    /// When it is, and launchers would read something else from it: see [`hosts::fault`].
    pub(super) fn is_whole(&self, line: usize, said: &str) -> Result<bool, Refusal> {
        if !matches!(self.known.get(said), Some(EndpointNameMatch::One(_))) {
            return Ok(false);
        }
        match hosts::fault(host(said)) {
            None => Ok(true),
            Some(why) => {
                let why = format!("an endpoint is called {said:?}, and {why}");
                let help = "its number, as a launcher reads something else from such a name";
                Err(Refusal::new(format!("line {line}"), why, help))
            }
        }
    }
}

/// The lines that are not blank, with their numbers, without comments: `#` begins one.
pub fn said_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let said = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    (1..).zip(said).filter(|(_, said)| !said.is_empty())
}

/// The endpoints that a host list names, in its order, each as often as it has slots there: names
/// with blanks, commas or ends of lines between them, `n[01-03,7]` for several, `host:4` or
/// `host slots=4` for more slots than one, names again for more, as in `$PBS_NODEFILE`; `#` begins
/// a comment, `max_slots=8` is passed over.
///
/// # Errors
/// When a host is not in the network, a bracket is none, or there are too many slots: with the
/// line.
pub fn hosts(on: &Topology, text: &str) -> Result<Vec<u32>, Refusal> {
    let mut names = EndpointNameIndex::new(on);
    let (mut found, mut backed) = (Vec::new(), FileReaderMemoryBudget::of(text.len()));
    for (line, said) in said_lines(text) {
        let (said, slots) = slots_said(line, said)?;
        if names.is_whole(line, &said)? {
            add(&mut found, line, slots.unwrap_or(1), || names.find(line, &said))?;
            continue;
        }
        for word in split(&said) {
            for name in expanded(line, word, &mut backed)? {
                let (host, own) = match name.split_once(':') {
                    Some((host, n)) if n.bytes().all(|c| c.is_ascii_digit()) && !n.is_empty() => {
                        (host, Some(slot_count(line, n)?))
                    }
                    _ => (name.as_str(), None),
                };
                add(&mut found, line, own.or(slots).unwrap_or(1), || names.find(line, host))?;
            }
        }
    }
    if found.is_empty() {
        return Err(Refusal::new("hosts", "there is no host in it", "names of endpoints"));
    }
    Ok(found)
}

/// A line without the words of Open MPI's host files, and the slots that they say.
fn slots_said(line: usize, said: &str) -> Result<(String, Option<u32>), Refusal> {
    let (mut rest, mut slots) = (said.to_owned(), None);
    if said.contains("slots=") {
        let mut kept = Vec::new();
        for word in said.split_whitespace() {
            match word.split_once('=') {
                Some(("slots", n)) => slots = Some(slot_count(line, n)?),
                Some(("max_slots" | "max-slots", _)) => {}
                _ => kept.push(word),
            }
        }
        rest = kept.join(" ");
        if rest.is_empty() {
            let help = "lines 'HOST slots=4'";
            return Err(Refusal::new(format!("line {line}"), "slots of no host", help));
        }
    }
    Ok((rest, slots))
}

fn slot_count(line: usize, text: &str) -> Result<u32, Refusal> {
    let fits = text.parse().ok().filter(|n| (1..=MOST_SLOTS).contains(n));
    fits.ok_or_else(|| {
        let why = format!("{:?} is no number of slots", text.chars().take(40).collect::<String>());
        Refusal::new(format!("line {line}"), why, format!("1 to {MOST_SLOTS}"))
    })
}

/// Adds `slots` slots, each on the endpoint that `next` gives.
///
/// # Errors
/// When there are too many slots up to this line, or no such endpoint: with the line.
pub(super) fn add(
    found: &mut Vec<u32>,
    line: usize,
    slots: u32,
    mut next: impl FnMut() -> Result<u32, Refusal>,
) -> Result<(), Refusal> {
    if found.len() + slots as usize > MOST_ALL {
        let why = format!("more than {MOST_ALL} slots by here");
        return Err(Refusal::new(format!("line {line}"), why, "fewer slots"));
    }
    for _ in 0..slots {
        found.push(next()?);
    }
    Ok(())
}

/// Words between blanks and commas that are in no bracket.
fn split(said: &str) -> Vec<&str> {
    let (mut words, mut begin, mut inside) = (Vec::new(), 0, false);
    for (i, c) in said.char_indices() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ if !inside && (c.is_whitespace() || c == ',') => {
                words.push(&said[begin..i]);
                begin = i + c.len_utf8();
            }
            _ => {}
        }
    }
    words.push(&said[begin..]);
    words.retain(|word| !word.is_empty());
    words
}

/// `n[01-03,7]x` as n01x, n02x, n03x, n7x; other words as they are.
fn expanded(
    line: usize,
    word: &str,
    backed: &mut FileReaderMemoryBudget,
) -> Result<Vec<String>, Refusal> {
    if !word.contains('[') {
        return Ok(vec![word.to_owned()]);
    }
    backed.names(word).map_err(|why| {
        Refusal::new(format!("line {line}"), why, "ranges of numbers, as n[01-16,20]")
    })
}

/// Pinned processes: lines of a rank and an endpoint; `#` begins a comment.
///
/// # Errors
/// When a line is not such a pair, or an endpoint is not in the network: with the line.
pub fn pins(on: &Topology, text: &str) -> Result<Vec<(u32, u32)>, Refusal> {
    let mut names = EndpointNameIndex::new(on);
    let mut found = Vec::new();
    for (line, said) in said_lines(text) {
        let (rank, endpoint) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
        let Ok(rank) = rank.parse::<u32>() else {
            let why = format!("{:?} is no rank", rank.chars().take(40).collect::<String>());
            return Err(Refusal::new(format!("line {line}"), why, "lines 'RANK ENDPOINT'"));
        };
        found.push((rank, names.find(line, endpoint.trim())?));
    }
    Ok(found)
}
