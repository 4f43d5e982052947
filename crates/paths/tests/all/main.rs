//! Tests of what simulators share, over networks of all families.

mod common;
mod select;
