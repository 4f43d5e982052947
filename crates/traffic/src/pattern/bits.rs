//! Patterns on the bits of a rank: what they have in common.

use super::asked::PatternRequest;
use super::fixed::Fixed;
use super::kind::Form;
use base::{Refusal, Stop};

/// What may follow the colon.
pub(super) const WANTED: &str = "active=RANKS";

/// Ranks 0 to 2^b - 1 send to what `of(rank, b)` makes of them; the others are idle. All ranks
/// take part unless `active=` says how many. With `even`, b is even.
pub(super) fn on_bits(
    asked: &PatternRequest<'_>,
    even: bool,
    of: fn(u32, u32) -> u32,
) -> Result<Box<dyn Form>, Stop> {
    let kind = if even { "an even power of two" } else { "a power of two" };
    let fits = |n: u32| n > 1 && n.is_power_of_two() && (!even || n.ilog2().is_multiple_of(2));
    let most = (1..=asked.ranks.ilog2()).rev().map(|b| 1 << b).find(|&n| fits(n));
    let way_out = most.map_or("more endpoints".to_owned(), |most| format!("active={most}"));
    let active = match asked.argument {
        None if fits(asked.ranks) => asked.ranks,
        None => {
            let why = format!("{} among {} endpoints, not {kind}", asked.name, asked.ranks);
            let help = format!("{kind}, or {}:{way_out}", asked.name);
            return Err(Refusal::new("endpoints", why, help).into());
        }
        Some(text) => {
            let number = text.strip_prefix("active=").and_then(|n| n.parse().ok());
            let number = number.filter(|&n| n <= asked.ranks && fits(n));
            let ranks = asked.ranks;
            let help = || format!("{WANTED}, {kind} up to {ranks}, such as {way_out}");
            number.ok_or_else(|| asked.bad(help()))?
        }
    };
    Ok(Box::new(Fixed::Bits { bits: active.ilog2(), of }))
}

/// The rank of `bits` bits with these in the opposite order.
pub(super) fn reversed(rank: u32, bits: u32) -> u32 {
    rank.reverse_bits() >> (32 - bits)
}

/// The rank with every bit inverted.
pub(super) fn complement(rank: u32, bits: u32) -> u32 {
    rank ^ ((1 << bits) - 1)
}

/// The bits one place further, the highest comes lowest.
pub(super) fn rotated(rank: u32, bits: u32) -> u32 {
    (rank << 1 | rank >> (bits - 1)) & ((1 << bits) - 1)
}

/// The two halves of the bits exchanged.
pub(super) fn transposed(rank: u32, bits: u32) -> u32 {
    (rank << (bits / 2) | rank >> (bits / 2)) & ((1 << bits) - 1)
}
