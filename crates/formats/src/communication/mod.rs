//! Communication graphs from files: Matrix Market, Open MPI's monitoring, dense matrices, METIS,
//! Scotch.

mod dense;
mod market;
mod metis;
mod monitoring;
mod numbers;
mod scotch;

pub use market::write as write_market;

use base::Refusal;
use traffic::communication::{Communication, MOST_PROCESSES, Sent, check_amount, check_total};

/// The formats: name, ends of names, what tells it.
pub const FORMATS: [(&str, &[&str], &str); 5] = [
    ("matrix-market", &[".mtx"], "%%MatrixMarket in the first line"),
    ("monitoring", &[".prof"], "lines of Open MPI's monitoring, E and I, a file a rank"),
    ("metis", &[".graph", ".metis", ".chaco"], "vertices and edges first, then a line a vertex"),
    ("scotch", &[".grf", ".src"], "0 first, then vertices and arcs, then a line a vertex"),
    ("dense", &[".mat", ".txt", ".dat"], "as many numbers a line as there are lines"),
];

/// What may be done with values that are no bytes.
const BYTES: &str = "a number from 0, finite; of other matrices only the pattern counts: map the \
                     halo exchange of parts of it (--partition)";
/// So many processes a graph may have whatever the length of its file.
const SMALL: u64 = 1 << 16;

/// What files hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The pairs; each sends 1 byte an entry where the values are no bytes.
    pub pattern: Communication,
    /// Why the values are no bytes, where they are not: as of a matrix that is no communication
    /// graph, of which only the pattern counts.
    pub unfit: Option<Refusal>,
}

impl Matrix {
    /// The communication graph.
    ///
    /// # Errors
    /// When the values are no bytes.
    pub fn graph(self) -> Result<Communication, Refusal> {
        match self.unfit {
            None => Ok(self.pattern),
            Some(refused) => Err(refused),
        }
    }

    /// The matrix of entries, whatever their values are.
    ///
    /// # Errors
    /// When there cannot be so many processes, or one is not below their number.
    pub fn of(processes: u32, sent: Vec<Sent>) -> Result<Self, Refusal> {
        let mut found = Found::new(processes);
        for one in sent {
            found.add(0, one);
        }
        found.matrix()
    }
}

/// Entries that a reader finds.
struct Found {
    processes: u32,
    entries: Vec<Sent>,
    sum: f64,
    unfit: Option<Refusal>,
}

impl Found {
    fn new(processes: u32) -> Self {
        Self { processes, entries: Vec::new(), sum: 0.0, unfit: None }
    }

    /// An entry of a line; of line 0 where it is none of a file.
    fn add(&mut self, line: usize, one: Sent) {
        let at = |refused: Refusal| match line {
            0 => refused,
            _ => refused.within(&format!("line {line}")),
        };
        if self.unfit.is_none() {
            self.sum += one.bytes;
            let why = if one.bytes.is_nan() || one.bytes < 0.0 {
                format!("{} is no amount", one.bytes)
            } else {
                format!("{:e} in all", self.sum)
            };
            let fits = check_amount("bytes", one.bytes).and_then(|_| check_total(self.sum));
            let refused = fits.err().map(|_| at(Refusal::new("bytes", why, BYTES)));
            self.unfit = refused;
        }
        self.entries.push(one);
    }

    /// The values are no bytes.
    fn unfit(&mut self, why: impl FnOnce() -> Refusal) {
        self.unfit.get_or_insert_with(why);
    }

    fn matrix(mut self) -> Result<Matrix, Refusal> {
        if self.unfit.is_some() {
            self.entries.iter_mut().for_each(|one| one.bytes = 1.0);
        }
        let pattern = Communication::new(self.processes, self.entries)?;
        Ok(Matrix { pattern, unfit: self.unfit })
    }
}

/// The graph that files hold, one but of monitoring: name and text of each.
///
/// # Errors
/// As [`matrix`], and when the values of a matrix are no bytes.
pub fn read(files: &[(String, &str)]) -> Result<Communication, Refusal> {
    matrix(files)?.graph()
}

/// What files hold, one but of monitoring: name and text of each.
///
/// The text says which format it is, where several could be meant the name's end. O(files).
///
/// # Errors
/// When a text is of no known format or damaged: with file and line.
pub fn matrix(files: &[(String, &str)]) -> Result<Matrix, Refusal> {
    let [(name, text)] = files else { return monitoring::read(files).and_then(Found::matrix) };
    let text = text.trim_start_matches('\u{feff}');
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let by_name = FORMATS.iter().find(|(_, ends, _)| ends.iter().any(|end| plain.ends_with(end)));
    let said = by_name.map(|format| format.0);
    let is_market = text.starts_with("%%MatrixMarket");
    let found = if is_market || said == Some("matrix-market") {
        market::read(text)
    } else if said == Some("monitoring") || monitoring::looks(text) {
        return monitoring::read(files).and_then(Found::matrix);
    } else if said == Some("scotch") || said.is_none() && scotch::looks(text) {
        scotch::read(text)
    } else if said == Some("metis") {
        metis::read(text)
    } else if dense::looks(text) {
        dense::read(text)
    } else if metis::looks(text) {
        metis::read(text)
    } else if said == Some("dense") {
        dense::read(text)
    } else {
        let names = FORMATS.map(|format| format.0);
        let help = format!("one of {}; or GOAL, or a trace", names.join(", "));
        Err(Refusal::new("", "no communication graph of a known format", help))
    };
    let found = found.map_err(|refused| refused.within(name))?;
    let Matrix { pattern, unfit } = found.matrix().map_err(|refused| refused.within(name))?;
    Ok(Matrix { pattern, unfit: unfit.map(|refused| refused.within(name)) })
}

/// A number of processes that a line of a text says: a small one, or one that the text is as long
/// as, for what is made of it takes room for each.
fn processes(line: usize, count: u64, text: &str) -> Result<u32, Refusal> {
    let most = SMALL.max(text.len() as u64).min(MOST_PROCESSES.into());
    let fits = u32::try_from(count).ok().filter(|n| (1..=most).contains(&u64::from(*n)));
    fits.ok_or_else(|| {
        let help = format!("1 to {most} in a file of {} bytes", text.len());
        Refusal::new(format!("line {line}"), format!("{count} processes"), help)
    })
}

fn one(from: u32, to: u32, bytes: f64) -> Sent {
    Sent { from, to, bytes, messages: 1.0 }
}

#[cfg(test)]
mod tests;
