//! Builds a network given in its inline form, measures its structure and prints times.
//!
//! `cargo run --release -p flyloom-net --example structure -- slim_fly:q=64`

use base::{Quiet, Refusal};
use net::structure::{girth, structure};
use net::topology::{family, parse_inline};
use std::io::Write;
use std::time::Instant;

fn main() -> Result<(), Refusal> {
    let net = std::env::args().nth(1).unwrap_or_else(|| "slim_fly:q=64".to_owned());
    let recipe = parse_inline(&net)?;
    let start = Instant::now();
    let t = family(&recipe.family)?.build(&recipe.params)?;
    let built = start.elapsed();
    let start = Instant::now();
    let s = structure(&t, &Quiet).expect("a quiet watch never interrupts");
    let measured = start.elapsed();
    let start = Instant::now();
    let girth = girth(t.graph(), &Quiet).expect("a quiet watch never interrupts");
    let girth_took = start.elapsed();
    let (arcs, batches) = (t.graph().arcs() as f64, t.switches().len().div_ceil(512) as f64);
    let traffic = f64::from(s.diameter_all_switches) * batches * arcs * 64.0 / 1e9;
    let peak = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak.lines().find(|l| l.starts_with("VmHWM")).unwrap_or("VmHWM: unknown").to_owned();
    let report = format!(
        "{}\n{s:?}\nbuild {built:.2?}, structure {measured:.2?}, of it girth {girth:?} \
         {girth_took:.2?}; pulled at every level the masks would be {traffic:.1} GB; {peak}",
        t.recipe(),
    );
    let _ = writeln!(std::io::stdout(), "{report}");
    Ok(())
}
