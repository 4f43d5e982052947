//! Runs of a schedule without a network, for profilers: `messages NAME PARAMETERS DIALECT TIMES`,
//! parameters as JSON.
#![expect(clippy::print_stdout, reason = "a program")]

use base::QuietWatch;
use message::{LogGopsParameters, ScheduleDialect, run};
use std::time::Instant;
use traffic::workload::make;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, given, dialect, times] = &words[..] else {
        println!("messages NAME PARAMETERS DIALECT TIMES");
        return;
    };
    let given = serde_json::from_str(given).expect("parameters");
    let dialect: ScheduleDialect =
        serde_json::from_value(dialect.as_str().into()).expect("a dialect");
    let schedule = make(name, &given, &QuietWatch).expect("a schedule");
    for _ in 0..times.parse::<u32>().expect("how often") {
        let began = Instant::now();
        let found = run(&schedule, dialect, &LogGopsParameters::default(), None, &QuietWatch)
            .expect("it runs");
        let ns = began.elapsed().as_secs_f64() * 1e9;
        let last = found.finish.iter().max().copied().unwrap_or(0);
        let sum = found.finish.iter().fold(0_u64, |sum, t| sum.wrapping_mul(31).wrapping_add(*t));
        println!(
            "{name} {dialect:?}: {:.1} ns an event, {:.2} M events/s, {} events, last {last}, \
             digest {sum:x}",
            ns / found.events as f64,
            found.events as f64 / ns * 1e3,
            found.events,
        );
    }
}
