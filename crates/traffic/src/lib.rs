//! Who sends to whom: patterns, and what endpoints want to send.

mod assignment;
pub mod demand;
pub mod pattern;
pub mod sending;
