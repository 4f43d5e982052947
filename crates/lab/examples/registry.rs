//! Prints the table of families and engines as JSON, for `cargo xtask gen`.

#![allow(clippy::print_stdout)]

fn main() {
    println!("{:#}", lab::registry::registry());
}
