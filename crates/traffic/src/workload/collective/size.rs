//! Parameters that every algorithm has: the number of ranks, and the bytes of a message or of its
//! blocks.
//!
//! The meaning of the bytes depends on the operation, and so does whether they must be given. So
//! each case has a schema of its own, and [`CollectiveSizeParameters`] reads all of them.

#![expect(dead_code, reason = "of all but Size the schema is all that is needed")]

use crate::workload::parameters::{MOST_BYTES, RankCountParameter};
use base::fields::whole;
use schemars::JsonSchema;
use serde::Deserialize;

/// Ranks and bytes, where these have a default.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "CollectiveSize")]
pub(super) struct CollectiveSizeParameters {
    pub(super) ranks: RankCountParameter,
    /// Bytes of a message.
    #[serde(default = "whole::<1>")]
    #[schemars(range(max = MOST_BYTES))]
    pub(super) bytes: u64,
}

/// Ranks and bytes, where these must be given.
#[derive(JsonSchema)]
#[schemars(rename = "RequiredSize")]
pub(super) struct RequiredCollectiveSize<Bytes> {
    ranks: RankCountParameter,
    bytes: Bytes,
}

/// Bytes of the vector.
#[derive(JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct VectorBytesParameter(#[schemars(range(max = MOST_BYTES))] u64);

/// Bytes of a block.
#[derive(JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct BlockBytesParameter(#[schemars(range(max = MOST_BYTES))] u64);

/// Bytes of a message, in the mean.
#[derive(JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct MeanMessageBytesParameter(#[schemars(range(max = MOST_BYTES))] u64);
