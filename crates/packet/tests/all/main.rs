//! The packet level from outside: reference data, closed forms, engines that agree.

mod buffers;
mod common;
mod ranks;
mod reference;
mod replay;
mod sharing;
