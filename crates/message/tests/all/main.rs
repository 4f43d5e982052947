//! Tests of the message level, over networks of all families.

mod critical_path;
mod network;
mod reference;
