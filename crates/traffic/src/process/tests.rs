//! Tests of the times of injections, against the formulae of the processes.

use super::*;
use crate::chances::fits;

fn source(
    process: InjectionProcess,
    packets: f64,
    random: &mut FastRandomStream,
) -> SourceInjectionClock {
    SourceInjectionClock::new(&process, packets, random).expect("a load that it can have")
}

/// The cycles of injections before `end`, requested one after the other.
fn injections(process: InjectionProcess, packets: f64, index: u64, end: u64) -> Vec<u64> {
    let mut random = FastRandomStream::new(5, "test", index);
    let mut of = source(process, packets, &mut random);
    let mut all = Vec::new();
    let mut from = 0;
    while let Some(injected) = of.next_before(from, end, &mut random) {
        all.push(injected);
        from = injected + 1;
    }
    all
}

const HALF: InjectionProcess = InjectionProcess::OnOff { alpha: 0.05, beta: 0.05, r1: -1.0 };

#[test]
fn gaps_of_bernoulli_are_geometric() {
    let all = injections(InjectionProcess::Bernoulli, 0.3, 0, 200_000);
    let mut gaps = vec![0_u32; 30];
    for pair in all.windows(2) {
        gaps[((pair[1] - pair[0]).min(30) - 1) as usize] += 1;
    }
    let mut chances: Vec<f64> = (0..30).map(|i| 0.3 * 0.7_f64.powi(i)).collect();
    chances[29] = 0.7_f64.powi(29);
    assert!(fits(&gaps, &chances), "{gaps:?}");
    assert_eq!(injections(InjectionProcess::Bernoulli, 1.0, 1, 100), (0..100).collect::<Vec<_>>());
    assert_eq!(injections(InjectionProcess::Bernoulli, 0.0, 1, 100), Vec::<u64>::new());
}

/// The mean of a two-state chain over n cycles has the variance (p / n) (1 - p) (2 - a - b) / (a +
/// b); to this the variance of the injections is added.
#[test]
fn bursts_have_their_load_and_length() {
    let (n, sources) = (20_000_u64, 40);
    for (process, load) in [
        (HALF, 0.2),
        (InjectionProcess::OnOff { alpha: 0.02, beta: 0.1, r1: -1.0 }, 0.1),
        (InjectionProcess::OnOff { alpha: -1.0, beta: 0.1, r1: 0.8 }, 0.3),
        (InjectionProcess::OnOff { alpha: 0.05, beta: -1.0, r1: 0.8 }, 0.3),
    ] {
        let trials = process.trials(load).expect("a load");
        let chance = |threshold: u64| threshold as f64 / 2_f64.powi(64);
        let (a, b, r) = (chance(trials.on), chance(trials.off), chance(trials.packet));
        assert!((r * a / (a + b) - load).abs() < 1e-12, "{process:?}");
        let mut count = 0.0;
        for i in 0..sources {
            count += injections(process, load, i, n).len() as f64;
        }
        let cycles = (n * sources) as f64;
        let p = a / (a + b);
        let spread = r * r * p * (1.0 - p) * (2.0 - a - b) / (a + b) + load * (1.0 - r);
        assert!((count / cycles - load).abs() < 5.0 * (spread / cycles).sqrt(), "{process:?}");
    }
    // with r1 = 1 a burst is a run of injections, whose length is geometric with mean 1 / beta
    let runs = InjectionProcess::OnOff { alpha: 0.1, beta: 0.25, r1: -1.0 };
    let all = injections(runs, 0.1 / 0.35, 0, 400_000);
    let mut lengths = vec![0_u32; 20];
    let mut length = 1;
    for pair in all.windows(2) {
        if pair[1] == pair[0] + 1 {
            length += 1;
        } else {
            lengths[length.min(20) - 1] += 1;
            length = 1;
        }
    }
    let mut chances: Vec<f64> = (0..20).map(|i| 0.25 * 0.75_f64.powi(i)).collect();
    chances[19] = 0.75_f64.powi(19);
    assert!(fits(&lengths, &chances), "{lengths:?}");
}

#[test]
fn first_states_are_drawn_with_the_fraction_of_time() {
    let process = InjectionProcess::OnOff { alpha: 0.02, beta: 0.06, r1: -1.0 };
    let on = |i| {
        let mut random = FastRandomStream::new(1, "first", i);
        source(process, 0.1, &mut random).on
    };
    let count = (0..10_000).filter(|&i| on(i)).count();
    assert!(count.abs_diff(2500) < 217, "{count}"); // five standard deviations of binomial
}

#[test]
fn what_is_drawn_does_not_depend_on_when_it_is_asked() {
    for process in [InjectionProcess::Bernoulli, HALF] {
        let whole = injections(process, 0.2, 3, 5000);
        let mut random = FastRandomStream::new(5, "test", 3);
        let mut of = source(process, 0.2, &mut random);
        let (mut found, mut from, mut end) = (Vec::new(), 0, 1);
        while end <= 5000 {
            match of.next_before(from, end, &mut random) {
                Some(injected) => {
                    assert_eq!(of.next_before(from, end, &mut random), Some(injected));
                    found.push(injected);
                    from = injected + 1;
                }
                None => end += 1 + end % 7,
            }
        }
        let known = whole.len().min(found.len());
        assert!(known > 500 && whole[..known] == found[..known]);
        // injections before the requested cycle are skipped, not drawn again
        let mut random = FastRandomStream::new(5, "test", 3);
        let mut of = source(process, 0.2, &mut random);
        let late = of.next_from(2000, &mut random);
        assert_eq!(whole.iter().find(|&&injected| injected >= 2000), Some(&late));
    }
}

#[test]
fn impossible_processes_and_loads_are_refused() {
    let on_off = |alpha, beta, r1| InjectionProcess::OnOff { alpha, beta, r1 };
    let mut random = FastRandomStream::new(1, "test", 0);
    for (process, load) in [
        (on_off(0.5, 0.5, -1.0), 0.6), // r1 = 1.2
        (on_off(-1.0, 0.5, 0.4), 0.5), // more than while on
        (on_off(-1.0, 1.0, 0.4), 0.3), // alpha = 3
        (on_off(0.5, -1.0, 0.9), 0.1), // beta = 4
        (on_off(0.5, 0.5, 0.5), 0.25), // none is open
        (on_off(-1.0, -1.0, 0.5), 0.25),
        (on_off(0.0, 0.5, -1.0), 0.25),
        (on_off(1.5, 0.5, -1.0), 0.25),
        (on_off(-1.0, 0.0, 0.5), 0.25), // once on, always on
        (on_off(f64::NAN, 0.5, -1.0), 0.25),
        (InjectionProcess::Bernoulli, 1.5),
        (InjectionProcess::Bernoulli, f64::NAN),
        (InjectionProcess::Bernoulli, -0.1),
    ] {
        let refused =
            SourceInjectionClock::new(&process, load, &mut random).expect_err("impossible");
        assert!(!refused.help.is_empty(), "{process:?} {load}: {refused}");
    }
    assert!(injections(on_off(0.0, 0.5, -1.0), 0.0, 0, 100).is_empty());
    let refused = SourceInjectionClock::new(&on_off(0.25, 0.75, -1.0), 0.3, &mut random)
        .expect_err("too much");
    assert!(refused.help.contains("0 to 0.25 packets"), "{refused}");
    let parsed = InjectionProcess::parse("on_off:0.05,0.05").expect("a process");
    assert_eq!(parsed, HALF);
    assert_eq!(InjectionProcess::parse("on_off").expect("a process"), on_off(0.5, 0.5, -1.0));
    assert_eq!(InjectionProcess::parse("on_off:-1,0.2,0.5").expect("one"), on_off(-1.0, 0.2, 0.5));
    for bad in ["bernouli", "bernoulli:1", "on_off:1", "on_off:1,2,3", "on_off:x,1", "poisson"] {
        assert!(InjectionProcess::parse(bad).is_err(), "{bad}");
    }
    assert!(
        InjectionProcess::parse("bernouli").expect_err("no name").help.contains("did you mean")
    );
}

#[test]
fn sizes_are_drawn_by_weight_and_loads_are_divided_by_their_mean() {
    let sizes = PacketSizeDistribution::parse("1=3,5").expect("sizes");
    assert!((sizes.mean() - 2.0).abs() < 1e-12 && sizes.most() == 5);
    let mut random = FastRandomStream::new(1, "sizes", 0);
    let mut seen = [0; 6];
    for _ in 0..20_000 {
        seen[sizes.draw(&mut random) as usize] += 1;
    }
    assert!(fits(&seen, &[0.0, 0.75, 0.0, 0.0, 0.0, 0.25]));
    assert!((OfferedLoad::Flits(0.3).packets(&sizes) - 0.15).abs() < 1e-12);
    assert!((OfferedLoad::Packets(0.3).packets(&sizes) - 0.3).abs() < 1e-12);
    let four = PacketSizeDistribution::parse("4").expect("a size");
    let before = random;
    assert!(four.draw(&mut random) == 4 && random == before);
    for bad in ["", "0", "x", "1=0", "1,,2", "1=2=3", "2000000"] {
        assert!(PacketSizeDistribution::parse(bad).is_err(), "{bad}");
    }
    assert!(PacketSizeDistribution::new(&[]).is_err());
}

#[test]
fn sources_of_a_class_send_in_proportion_to_their_rates() {
    let send = |from: usize, to: usize, x: f64| (from.into(), to.into(), x);
    let messages = [send(0, 1, 1.0), send(1, 0, 0.25)];
    let destinations = PacketDestinations::of_messages(3, &messages).expect("traffic");
    let sizes = PacketSizeDistribution::parse("2").expect("a size");
    let load = OfferedLoad::Flits(0.8);
    let class =
        InjectedTrafficClass { destinations, process: InjectionProcess::Bernoulli, sizes, load };
    let mut random = FastRandomStream::new(2, "class", 0);
    for (endpoint, packets) in [(0, 0.4), (1, 0.1)] {
        let of = class.source(endpoint, &mut random).expect("a load").expect("active");
        assert_eq!(of, source(InjectionProcess::Bernoulli, packets, &mut random));
    }
    assert_eq!(class.source(2, &mut random), Ok(None));
}
