//! Points of several loads, and up to saturation.

use super::case::Case;
use super::run::Point;
use base::{Interrupted, Stop, Watch};

/// The points of some loads, in order, on all threads: a point a thread where there are enough.
///
/// # Errors
/// The first of [`Case::point`].
pub fn points(
    case: &Case,
    loads: &[f64],
    threads: usize,
    watch: &dyn Watch,
) -> Result<Vec<Point>, Stop> {
    loads.iter().try_for_each(|&load| case.check(load))?;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let at_once = threads.min(loads.len()).max(1);
    let each = (threads / at_once).max(1);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            // the largest loads take longest: they go first
            let Some(at) = loads.len().checked_sub(i + 1) else { return Ok(mine) };
            mine.push((at, case.point(loads[at], each, watch)?));
        }
    };
    let found: Vec<Result<Vec<(usize, Point)>, Stop>> = std::thread::scope(|scope| {
        let hands: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        hands.into_iter().map(|h| h.join().unwrap_or(Err(Interrupted.into()))).collect()
    });
    let mut all = Vec::new();
    for part in found {
        all.extend(part?);
    }
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, point)| point).collect())
}

/// How near the saturation throughput is found.
const NEAR: f64 = 0.005;

/// Points from a load of 0.1 on in steps of 0.1 until one is saturated, then between the last two
/// by bisection; and the saturation throughput: the largest load found that is not saturated, 0.005
/// below one that is. 1 where none is.
///
/// # Errors
/// As [`points`].
pub fn curve(
    case: &Case,
    threads: usize,
    watch: &dyn Watch,
) -> Result<(Vec<(f64, Point)>, f64), Stop> {
    let bad = |p: &Point| p.is_saturated() || p.circle.is_some();
    let mut found: Vec<(f64, Point)> = Vec::new();
    for step in 1..=10 * case.largest_load() as u32 {
        let load = f64::from(step) / 10.0;
        found.push((load, case.point(load, threads, watch)?));
        if found.last().is_some_and(|(_, p)| bad(p)) {
            break;
        }
    }
    let (mut high, fails) = found.last().map_or((1.0, false), |(load, p)| (*load, bad(p)));
    if !fails {
        return Ok((found, high));
    }
    let mut low = high - 0.1;
    while high - low > NEAR {
        let middle = f64::midpoint(low, high);
        let point = case.point(middle, threads, watch)?;
        if bad(&point) {
            high = middle;
        } else {
            low = middle;
        }
        found.push((middle, point));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok((found, low.max(0.0)))
}
