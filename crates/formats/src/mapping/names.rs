//! Hosts by their names: an endpoint's whole name, its first word, or its number.

use base::Refusal;
use base::words::did_you_mean;
use fabric::Topology;
use std::collections::HashMap;

/// The most hosts that one bracket stands for.
const MOST_RANGE: u64 = 1 << 20;
/// The most slots of a host, and of all.
const MOST_SLOTS: u32 = 1 << 16;
const MOST_ALL: usize = 1 << 24;

/// The names of a network's endpoints. `host1 HCA-1`, as fabrics call an adapter, is `host1` too,
/// where no other endpoint begins with that word; `host1.site.example` is `host1`, whichever of
/// both the network and the file say, where no other host is.
pub struct Names<'a> {
    on: &'a Topology,
    known: HashMap<&'a str, Option<u32>>,
}

/// The host that an endpoint is: the first word of its name.
pub(super) fn host(name: &str) -> &str {
    name.split_whitespace().next().unwrap_or(name)
}

/// A host's name without its domain; addresses of four numbers stay.
fn short(host: &str) -> &str {
    let is_address = host.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    if is_address { host } else { host.split('.').next().unwrap_or(host) }
}

impl<'a> Names<'a> {
    /// Those of a network.
    pub fn new(on: &'a Topology) -> Self {
        let mut known: HashMap<&str, Option<u32>> = HashMap::new();
        // each sort of name anew over those before: the whole name is the surest
        for name in [|name: &'a str| short(host(name)), host, |name: &'a str| name] {
            let mut own: HashMap<&str, Option<u32>> = HashMap::new();
            for (e, endpoint) in (0..).zip(on.endpoints()) {
                own.entry(name(&endpoint.name)).and_modify(|e| *e = None).or_insert(Some(e));
            }
            known.extend(own);
        }
        Self { on, known }
    }

    /// What is known of this name, or of its part before the first dot.
    fn known(&self, word: &str) -> Option<&Option<u32>> {
        self.known.get(word).or_else(|| self.known.get(short(word)))
    }

    /// The endpoint of this name or number.
    ///
    /// # Errors
    /// When there is none, or it could be several.
    pub fn find(&self, line: usize, word: &str) -> Result<u32, Refusal> {
        let count = self.on.endpoints().len();
        let refuse = |why: String, help: String| Refusal::new(format!("line {line}"), why, help);
        match self.known(word) {
            Some(Some(e)) => return Ok(*e),
            Some(None) => {
                let why = format!("several endpoints are called {word:?}");
                let mut help = "whole names or numbers".to_owned();
                let recipe = self.on.recipe();
                let is_one = matches!(recipe.asked("adapters"), Some("joined" | "first"));
                if recipe.is_of_fabric() && !is_one {
                    help += "; --adapters joined or first has one endpoint a host";
                }
                return Err(refuse(why, help));
            }
            None => {}
        }
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
        Err(refuse(format!("there is no endpoint {short:?}"), help))
    }
}

/// The lines on which something is said, with their numbers, without comments: `#` begins one.
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
    let names = Names::new(on);
    let mut found = Vec::new();
    for (line, said) in said_lines(text) {
        let (said, slots) = slots_said(line, said)?;
        if let Some(Some(e)) = names.known.get(said.as_str()) {
            add(&mut found, line, *e, slots.unwrap_or(1))?;
            continue;
        }
        for word in split(&said) {
            for name in expanded(line, word)? {
                let (host, own) = match name.split_once(':') {
                    Some((host, n)) if n.bytes().all(|c| c.is_ascii_digit()) && !n.is_empty() => {
                        (host, Some(slot_count(line, n)?))
                    }
                    _ => (name.as_str(), None),
                };
                add(&mut found, line, names.find(line, host)?, own.or(slots).unwrap_or(1))?;
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

fn add(found: &mut Vec<u32>, line: usize, e: u32, slots: u32) -> Result<(), Refusal> {
    if found.len() + slots as usize > MOST_ALL {
        let why = format!("more than {MOST_ALL} slots by here");
        return Err(Refusal::new(format!("line {line}"), why, "fewer slots"));
    }
    found.extend(std::iter::repeat_n(e, slots as usize));
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
fn expanded(line: usize, word: &str) -> Result<Vec<String>, Refusal> {
    let Some((before, rest)) = word.split_once('[') else { return Ok(vec![word.to_owned()]) };
    let refuse = |why: String| {
        Refusal::new(format!("line {line}"), why, "ranges of numbers, as n[01-16,20]")
    };
    let Some((ranges, behind)) = rest.split_once(']') else {
        return Err(refuse(format!("{word:?} has no ]")));
    };
    let mut found = Vec::new();
    for range in ranges.split(',') {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<u64>().ok();
        let (Some(first), Some(last)) = (number(from), number(to)) else {
            return Err(refuse(format!("{range:?} is no range")));
        };
        if first > last || last - first >= MOST_RANGE || found.len() as u64 > MOST_RANGE {
            return Err(refuse(format!("{range:?} has no end, or too many")));
        }
        for n in first..=last {
            found.push(format!("{before}{n:0width$}{behind}", width = from.len()));
        }
    }
    Ok(found)
}

/// Pinned processes: lines of a rank and an endpoint; `#` begins a comment.
///
/// # Errors
/// When a line is none, or an endpoint is not in the network: with the line.
pub fn pins(on: &Topology, text: &str) -> Result<Vec<(u32, u32)>, Refusal> {
    let names = Names::new(on);
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
