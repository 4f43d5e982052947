//! The number of hops to every switch from every other: for each destination, a row of bytes.

use base::{ComputationError, Interrupted, ProgressWatch, Refusal};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// The byte of a switch from which there is no path.
pub(super) const NO_PATH: u8 = u8::MAX;

/// Rows of `wide` bytes, one for each switch. `fill` fills a row, and returns whether all hop
/// counts fit into bytes.
///
/// # Errors
/// When some path has more than 254 hops, or `watch` asks to stop.
pub(super) fn rows(
    switches: usize,
    wide: usize,
    fill: impl Fn(usize, &mut [u8], &mut Vec<u32>) -> bool + Sync,
    watch: &dyn ProgressWatch,
) -> Result<Vec<u8>, ComputationError> {
    let (mut all, done) = (vec![NO_PATH; switches * wide], AtomicU64::new(0));
    let one = |queue: &mut Vec<u32>, (to, row): (usize, &mut [u8])| -> Result<bool, Interrupted> {
        watch.tick("distances", done.fetch_add(1, Ordering::Relaxed), switches as u64)?;
        queue.clear();
        Ok(fill(to, row, queue))
    };
    let rows = all.par_chunks_exact_mut(wide.max(1)).enumerate();
    let fits: Vec<bool> = rows.map_init(Vec::new, one).collect::<Result<_, _>>()?;
    if fits.contains(&false) {
        let why = "a path of more than 254 hops between switches";
        return Err(Refusal::new("", why, "a network of smaller diameter").into());
    }
    Ok(all)
}
