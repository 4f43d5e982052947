//! Tests of resilience against one-by-one removal, and networks with known results.

use super::tests::{built, network};
use super::*;
use base::ComputationError;
use base::seed::RandomStream;
use base::{QuietWatch, SwitchId};

fn rules(remove: RemovedComponentKind, samples: u32) -> ResilienceParameters {
    let until = vec![
        RemovalEndCriterion::Disconnected,
        RemovalEndCriterion::Diameter,
        RemovalEndCriterion::Mean,
    ];
    ResilienceParameters { remove, until, samples, seed: 5 }
}

fn removed(t: &Topology, rules: &ResilienceParameters) -> Vec<Vec<u64>> {
    let found = resilience(t, rules, &QuietWatch).expect("not interrupted");
    found.ends.into_values().map(|s| s.removed).collect()
}

/// Removes the items one after the other, and measures the whole network after each.
fn slow(t: &Topology, remove: RemovedComponentKind, sample: u64) -> Vec<u64> {
    let intact = structure(t, &QuietWatch).expect("not interrupted");
    let items =
        if remove == RemovedComponentKind::Links { t.links().len() } else { t.switches().len() };
    let mut order: Vec<u32> = (0..items as u32).collect();
    RandomStream::new(5, "failures", sample).shuffle(&mut order);
    let mut first = vec![items as u64; 3];
    for count in (1..items).rev() {
        let gone = &order[..count];
        let (links, switches): (Vec<LinkId>, Vec<SwitchId>) = match remove {
            RemovedComponentKind::Links => (gone.iter().map(|&l| LinkId(l)).collect(), Vec::new()),
            RemovedComponentKind::Switches => {
                (Vec::new(), gone.iter().map(|&v| SwitchId(v)).collect())
            }
        };
        let now = t.with_failures(&links, &switches).expect("known ids");
        let now = structure(&now, &QuietWatch).expect("not interrupted");
        let mean = |s: &StructureFigures| s.mean_distance_hops().unwrap_or(0.0);
        let over = [
            now.unreachable > 0,
            now.unreachable > 0 || now.diameter > intact.diameter + 2,
            now.unreachable > 0 || mean(&now) > mean(&intact) + 1.0 + 1e-12,
        ];
        for (first, over) in first.iter_mut().zip(over) {
            *first = if over { count as u64 } else { *first };
        }
    }
    first
}

#[test]
fn samples_agree_with_removal_one_by_one() {
    for net in
        ["slim_fly:q=3,p=1", "torus:shape=4x4,p=2", "fat_tree:k=4,levels=2", "mesh:shape=3x4,p=1"]
    {
        let t = built(net);
        for remove in [RemovedComponentKind::Links, RemovedComponentKind::Switches] {
            let found = removed(&t, &rules(remove, 12));
            for sample in 0..12 {
                let here: Vec<u64> = found.iter().map(|end| end[sample]).collect();
                assert_eq!(here, slow(&t, remove, sample as u64), "{net} {remove:?} {sample}");
            }
        }
    }
}

#[test]
fn rings_trees_and_complete_graphs_end_where_they_must() {
    let ring: Vec<(u32, u32)> = (0..12).map(|v| (v, (v + 1) % 12)).collect();
    // removing a link leaves a chain of 12 with diameter 11 > 6 + 2 and mean 13/3 > 36/11 + 1
    let links = removed(&network(12, &ring), &rules(RemovedComponentKind::Links, 40));
    assert_eq!(links, [vec![2; 40], vec![1; 40], vec![1; 40]]);
    let tree = removed(&network(12, &ring[..11]), &rules(RemovedComponentKind::Links, 40));
    assert_eq!(tree, [vec![1; 40], vec![1; 40], vec![1; 40]]);
    let complete: Vec<(u32, u32)> = (0..9).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    let never = removed(&network(9, &complete), &rules(RemovedComponentKind::Switches, 40));
    assert_eq!(never, [vec![9; 40], vec![9; 40], vec![9; 40]]);
}

/// The statistics of 1, 2, 3 and 4 of 10 equal numpy.quantile and the formulae of mean and standard
/// error.
#[test]
fn statistics_are_their_formulae() {
    let found = FailureCountStatistics::of(vec![4, 1, 3, 2], 10);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    close(found.mean, 0.25);
    close(found.median, 0.25);
    for (q, wanted) in found.quantiles.iter().zip([0.115, 0.175, 0.325, 0.385]) {
        close(*q, wanted);
    }
    let half = 1.959_963_984_540_054 * (0.05_f64 / 3.0).sqrt() / 2.0;
    let interval = found.confidence_interval_95.expect("four samples");
    close(interval[0], 0.25 - half);
    close(interval[1], 0.25 + half);
    // with 10 % (one item) removed, the sample that ends at 1 has ended; with 5 % (none), no sample
    // has
    assert_eq!(found.survival[..5], [1.0, 1.0, 0.75, 0.75, 0.5]);
    assert_eq!((found.all_hold, found.half_hold), (0.05, 0.25));
    assert_eq!(FailureCountStatistics::of(vec![3], 10).confidence_interval_95, None);
}

#[test]
fn what_cannot_be_removed_from_is_refused() {
    let t = network(3, &[(0, 1), (1, 2)]);
    let refused =
        |t: &Topology, rules: &ResilienceParameters| match resilience(t, rules, &QuietWatch) {
            Err(ComputationError::Refused(r)) => r.param,
            other => panic!("{other:?}"),
        };
    assert_eq!(refused(&t, &rules(RemovedComponentKind::Links, 0)), "samples");
    assert_eq!(refused(&t, &rules(RemovedComponentKind::Links, u32::MAX)), "samples");
    assert_eq!(
        refused(
            &t,
            &ResilienceParameters { until: vec![], ..rules(RemovedComponentKind::Links, 1) }
        ),
        "until"
    );
    assert_eq!(refused(&network(3, &[(0, 1)]), &rules(RemovedComponentKind::Links, 1)), "network");
    assert_eq!(refused(&network(1, &[]), &rules(RemovedComponentKind::Switches, 1)), "network");
    assert_eq!(refused(&network(0, &[]), &rules(RemovedComponentKind::Links, 1)), "network");
}

#[test]
fn samples_do_not_depend_on_threads_or_on_each_other() {
    let t = built("slim_fly:q=5,p=1");
    let with = |threads, samples| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| removed(&t, &rules(RemovedComponentKind::Links, samples)))
    };
    let many = with(3, 30);
    assert_eq!(with(1, 30), many);
    for (few, many) in with(2, 10).iter().zip(&many) {
        assert_eq!(few[..], many[..10]);
    }
}
