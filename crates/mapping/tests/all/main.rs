//! Mappings against slower, independent computations.

mod fractional;
mod mapping;
