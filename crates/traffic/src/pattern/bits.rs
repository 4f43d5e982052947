//! Code that is common to patterns on the bits of a rank.

use super::asked::PatternRequest;
use super::fixed::FixedDestinations;
use super::kind::MessagePattern;
use base::{ComputationError, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;

/// The parameter of patterns on bits.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "BitParameters")]
pub(super) struct BitPatternParameters {
    /// How many ranks take part, the first ones; all where it is not given. A power of two.
    active: Option<u32>,
}

/// A pattern on the ranks 0 to 2^b - 1, in which rank r sends to `of(r, b)`; other ranks are idle.
/// 2^b is the number of ranks, or `active` if that is set. With `even`, b must be even.
pub(super) fn on_bits(
    asked: &PatternRequest<'_>,
    even: bool,
    of: fn(u32, u32) -> u32,
) -> Result<Box<dyn MessagePattern>, ComputationError> {
    let kind = if even { "an even power of two" } else { "a power of two" };
    let fits = |n: u32| n > 1 && n.is_power_of_two() && (!even || n.ilog2().is_multiple_of(2));
    let most = (1..=asked.ranks.ilog2()).rev().map(|b| 1 << b).find(|&n| fits(n));
    let possible = most.map_or("more endpoints".to_owned(), |most| format!("active={most}"));
    let active = match asked.read::<BitPatternParameters>()?.active {
        None if fits(asked.ranks) => asked.ranks,
        None => {
            let why = format!("{} among {} endpoints, not {kind}", asked.name, asked.ranks);
            let help = format!("{kind}, or {}:{possible}", asked.name);
            return Err(Refusal::new("endpoints", why, help).into());
        }
        Some(number) if number <= asked.ranks && fits(number) => number,
        Some(_) => {
            let ranks = asked.ranks;
            return Err(asked.bad(format!("{kind} up to {ranks}, such as {possible}")).into());
        }
    };
    Ok(Box::new(FixedDestinations::Bits { bits: active.ilog2(), of }))
}

/// The rank whose lowest `bits` bits are reversed.
pub(super) fn reversed(rank: u32, bits: u32) -> u32 {
    rank.reverse_bits() >> (32 - bits)
}

/// The rank whose lowest `bits` bits are inverted.
pub(super) fn complement(rank: u32, bits: u32) -> u32 {
    rank ^ ((1 << bits) - 1)
}

/// The rank whose bits are rotated left by one: the highest becomes the lowest.
pub(super) fn rotated(rank: u32, bits: u32) -> u32 {
    (rank << 1 | rank >> (bits - 1)) & ((1 << bits) - 1)
}

/// The rank whose two halves of bits are exchanged.
pub(super) fn transposed(rank: u32, bits: u32) -> u32 {
    (rank << (bits / 2) | rank >> (bits / 2)) & ((1 << bits) - 1)
}
