//! Tests of three random configurations against the means of `BookSim` 2 over three seeds.

use crate::curves::{cells, mean, sd};
use crate::files::{config, data, simulation};
use base::QuietWatch;
use rayon::prelude::*;

/// A load of a configuration, with BookSim's mean and standard deviation for a class.
#[derive(Debug)]
struct BookSimLoadRow {
    case: String,
    rates: String,
    period: String,
    class: usize,
    latency: (f64, f64),
    network_latency: (f64, f64),
    accepted: (f64, f64),
}

fn rows() -> Vec<BookSimLoadRow> {
    let text = std::fs::read_to_string(data("random/expected.csv")).unwrap();
    let mut lines = text.lines().map(cells);
    let names = lines.next().unwrap();
    let row = |line: Vec<String>| {
        let cell = |name: &str| line[names.iter().position(|n| n == name).unwrap()].clone();
        let number = |name: &str| cell(name).parse::<f64>().unwrap();
        let both = |name: &str| (number(&format!("{name}_mean")), number(&format!("{name}_sd")));
        BookSimLoadRow {
            case: cell("case"),
            rates: cell("injection_rate"),
            period: cell("sample_period"),
            class: cell("class").parse().unwrap(),
            latency: both("plat"),
            network_latency: both("nlat"),
            accepted: both("acc"),
        }
    };
    lines.map(row).collect()
}

/// The latency, in cycles, above which a class is starved but for a few of its sources.
const STARVING: f64 = 1000.0;

/// Latencies from injection and from entering the network, and accepted loads, of every class by
/// seed.
type LatenciesAndLoads = Vec<Vec<[f64; 3]>>;

fn ours(row: &BookSimLoadRow, seeds: u32) -> LatenciesAndLoads {
    let one = |seed| {
        let arguments = [
            format!("injection_rate={}", row.rates),
            format!("sample_period={}", row.period),
            format!("seed={seed}"),
        ];
        let point = simulation(config(&format!("random/{}", row.case), &arguments))
            .run(1, &QuietWatch)
            .unwrap()
            .point;
        let of = |c: &flit::run::TrafficClassFigures| {
            [c.latency.unwrap(), c.network_latency.unwrap(), c.accepted_load]
        };
        point.classes.iter().map(of).collect()
    };
    (1..=seeds).into_par_iter().map(one).collect()
}

#[test]
fn random_configurations_are_those_of_booksim() {
    let rows = rows();
    assert_eq!(rows.len(), 14);
    let same = |a: &BookSimLoadRow, b: &BookSimLoadRow| (&a.case, &a.rates) == (&b.case, &b.rates);
    let mut wrong = Vec::new();
    for load in rows.chunk_by(same) {
        let starves = load.iter().any(|row| row.latency.0 > STARVING);
        // BookSim's runs are long: they last until the last source has had its turn
        let seeds = if starves { 3 } else { 6 };
        let found = ours(&load[0], seeds);
        for row in load {
            let booksim = [row.latency, row.network_latency, row.accepted];
            for (at, (expected, spread)) in booksim.into_iter().enumerate() {
                let mine: Vec<f64> = found.iter().map(|seed| seed[row.class][at]).collect();
                // the error of the difference of two means, of three runs and of ours
                let runs = f64::from(seeds);
                let deviation = (spread.powi(2) / 3.0 + sd(&mine).powi(2) / runs).sqrt();
                let equal = if expected > STARVING { 0.25 } else { 0.01 };
                let (gap, most) = (mean(&mine) - expected, (equal * expected).max(3.0 * deviation));
                let line = format!(
                    "{} {} class {}: {} of {expected}, {:+.2} % of {:.2} %\n",
                    row.case,
                    row.rates,
                    row.class,
                    mean(&mine),
                    100.0 * gap / expected,
                    100.0 * most / expected
                );
                if gap.abs() > most {
                    wrong.push(line);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}
