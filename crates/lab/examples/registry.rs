//! Prints the tables of families, engines, measures, simulators and tasks of mappings as JSON, for
//! `cargo xtask gen`.

#![allow(clippy::print_stdout)]

use serde_json::Value;

fn main() {
    let mut all = lab::registry::registry();
    if let Value::Array(all) = &mut all {
        all.extend(lab::registry::simulators());
        all.extend(lab::registry::mappings());
    }
    println!("{all:#}");
}
