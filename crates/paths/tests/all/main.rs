//! Tests of paths and selections, over networks of all families.

mod common;
mod custom;
mod select;
