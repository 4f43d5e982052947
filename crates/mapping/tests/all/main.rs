//! Tests of mappings against slower, independent computations.

mod fractional;
mod mapping;
