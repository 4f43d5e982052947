//! Tests of the message level, over networks of all families.

mod critical_path;
mod detours;
mod network;
mod reference;
