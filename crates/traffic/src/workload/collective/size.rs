//! What every algorithm takes: how many ranks there are, and the bytes of a message or its blocks.
//!
//! What the bytes are of depends on the operation, and so does whether they must be given. So there
//! is a schema for each case, and [`CollectiveSize`] reads them all.

#![expect(dead_code, reason = "of all but Size the schema is all that is needed")]

use crate::workload::parameters::{MOST_BYTES, RankCount};
use base::fields::whole;
use schemars::JsonSchema;
use serde::Deserialize;

/// Ranks and bytes, where these have a default.
#[derive(Deserialize, JsonSchema)]
pub(super) struct CollectiveSize {
    pub(super) ranks: RankCount,
    /// Bytes of a message.
    #[serde(default = "whole::<1>")]
    #[schemars(range(max = MOST_BYTES))]
    pub(super) bytes: u64,
}

/// Ranks and bytes, where these must be given.
#[derive(JsonSchema)]
pub(super) struct RequiredSize<Bytes> {
    ranks: RankCount,
    bytes: Bytes,
}

/// Bytes of the vector.
#[derive(JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct VectorBytes(#[schemars(range(max = MOST_BYTES))] u64);

/// Bytes of a block.
#[derive(JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct BlockBytes(#[schemars(range(max = MOST_BYTES))] u64);

/// Bytes of a message, in the mean.
#[derive(JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct MeanBytes(#[schemars(range(max = MOST_BYTES))] u64);
