//! Prints the tables of families, engines, measures and simulators as JSON, for `cargo xtask gen`.

#![allow(clippy::print_stdout)]

use serde_json::Value;

fn main() {
    let mut all = lab::registry::registry();
    if let (Value::Array(all), Value::Array(simulators)) = (&mut all, lab::registry::simulators()) {
        all.extend(simulators);
    }
    println!("{all:#}");
}
