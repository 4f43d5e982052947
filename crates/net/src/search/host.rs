//! The order/radix problem.
