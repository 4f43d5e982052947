//! Tests of the annealing: bounds, resumption, symmetry, refusals, known optima.

use super::*;

#[test]
#[ignore]
fn tune() {
    let v = |k: &str, d: f64| std::env::var(k).ok().and_then(|s| s.parse().ok()).unwrap_or(d);
    let p = Problem::new(v("N", 64.0) as u32, v("D", 8.0) as u32).unwrap();
    let sym = v("G", 0.0) as u32;
    let o = Options { steps: Some(v("S", 1e6) as u64), symmetry: (sym > 0).then_some(sym), restarts: v("R", 8.0) as u32, seed: 1 };
    let t = std::time::Instant::now();
    let mut s = Search::new(p, o).unwrap();
    println!("start {:?}", t.elapsed());
    s.advance(&base::watch::Quiet).unwrap();
    println!("done {:?} for {}", t.elapsed(), s.steps);
    let b = bounds(p);
    for r in &s.restarts {
        let sc = Reach::default().score(&r.graph(p, &r.best));
        println!("g={} L={} heat={:.1} diam {:?} mean {:.6} gap {:.4}", r.symmetry, r.longest, r.heat, sc.diameter, sc.distance_sum as f64 / b.pairs as f64, 100.0 * (sc.distance_sum as f64 / b.distance_sum as f64 - 1.0));
    }
    println!("random {:.5}", random_mean_distance(p, 1, 10));
}
