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
use traffic::communication::{Communication, MOST_PROCESSES, Sent};

/// The formats: name, ends of names, what tells it.
pub const FORMATS: [(&str, &[&str], &str); 5] = [
    ("matrix-market", &[".mtx"], "%%MatrixMarket in the first line"),
    ("monitoring", &[".prof"], "lines of Open MPI's monitoring, E and I, a file a rank"),
    ("metis", &[".graph", ".metis", ".chaco"], "vertices and edges first, then a line a vertex"),
    ("scotch", &[".grf", ".src"], "0 first, then vertices and arcs, then a line a vertex"),
    ("dense", &[".mat", ".txt", ".dat"], "as many numbers a line as there are lines"),
];

/// The graph that files hold, one but of monitoring: name and text of each.
///
/// The text says which format it is, where several could be meant the name's end. O(files).
///
/// # Errors
/// When a text is of no known format or damaged: with file and line.
pub fn read(files: &[(String, &str)]) -> Result<Communication, Refusal> {
    let [(name, text)] = files else { return monitoring::read(files) };
    let text = text.trim_start_matches('\u{feff}');
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let by_name = FORMATS.iter().find(|(_, ends, _)| ends.iter().any(|end| plain.ends_with(end)));
    let said = by_name.map(|format| format.0);
    let is_market = text.starts_with("%%MatrixMarket");
    let graph = if is_market || said == Some("matrix-market") {
        market::read(text)
    } else if said == Some("monitoring") || monitoring::looks(text) {
        return monitoring::read(files);
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
    graph.map_err(|refused| refused.within(name))
}

/// A graph from pairs with the line of each: refusals of amounts and ranks name it.
fn graph(processes: u32, found: Vec<(usize, Sent)>) -> Result<Communication, Refusal> {
    use traffic::communication::{check_amount, check_rank};
    for (line, one) in &found {
        let at = |refused: Refusal| refused.within(&format!("line {line}"));
        check_rank("sender", u64::from(one.from), processes).map_err(at)?;
        check_rank("receiver", u64::from(one.to), processes).map_err(at)?;
        check_amount("bytes", one.bytes).map_err(at)?;
    }
    Communication::new(processes, found.into_iter().map(|(_, one)| one).collect())
}

/// A number of processes that a header says.
fn processes(line: usize, count: u64) -> Result<u32, Refusal> {
    let fits = u32::try_from(count).ok().filter(|n| (1..=MOST_PROCESSES).contains(n));
    fits.ok_or_else(|| {
        let help = format!("1 to {MOST_PROCESSES}");
        Refusal::new(format!("line {line}"), format!("{count} processes"), help)
    })
}

fn one(from: u32, to: u32, bytes: f64) -> Sent {
    Sent { from, to, bytes, messages: 1.0 }
}

#[cfg(test)]
mod tests;
