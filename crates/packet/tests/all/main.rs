//! Tests of the packet level: reference data, closed forms, and engines that agree.

mod buffers;
mod common;
mod ranks;
mod reference;
mod replay;
mod sharing;
mod steady;
mod used;
