//! Parameters that several families take, and their ranges.

use base::Refusal;

pub use base::shape::GridShape;

/// The most ports that a switch can have, in every family.
pub(crate) const MAX_PORTS: u32 = 65_534;
/// The most endpoints on one switch, in every family.
pub(crate) const MAX_P: u32 = 4096;

/// Returns `value` when it is between `least` and `most`, else a refusal of `param`. O(1).
pub(crate) fn in_range(param: &str, value: u32, least: u32, most: u32) -> Result<u32, Refusal> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Refusal::new(param, format!("{value} is out of range"), format!("{least} to {most}")))
}

/// Returns k^(n-1) when it is at most `most`; otherwise a refusal of `n`, which must be at least
/// `least`. `what` names the items of which there would be too many. O(n).
pub(crate) fn power(k: u32, n: u32, least: u32, most: u64, what: &str) -> Result<u64, Refusal> {
    let size = |n: u32| u64::from(k).checked_pow(n - 1).filter(|&size| size <= most);
    size(n).ok_or_else(|| {
        let fits = (least..n).rev().find(|&n| size(n).is_some()).unwrap_or(least);
        let why = format!("{k}^{} {what} are too many", n - 1);
        Refusal::new("n", why, format!("with k = {k}, {least} to {fits}"))
    })
}
