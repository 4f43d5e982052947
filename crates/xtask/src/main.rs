//! `cargo xtask`: writes the generated code (`gen`) and checks the house rules (`tidy`).
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod described;
mod generate;
mod mappings;
mod measures;
mod outside;
mod python;
mod reference;
mod sheet;
mod simulators;
mod source;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask gen [--check]   rewrite (or check) the registry tables, the Python functions
                                   and the reference pages made from them, and the sheet
                                   of rooms in ARCHITECTURE.md
       cargo xtask tidy            check the house rules of STYLE.md";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = root();
    let result = match words.as_slice() {
        ["gen"] => generate::run(&root, generate::GenerateMode::Write),
        ["gen", "--check"] => generate::run(&root, generate::GenerateMode::Check),
        ["tidy"] => tidy::run(&root),
        ["help" | "-h" | "--help"] => Ok(USAGE.to_owned()),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root: two folders above this crate. Where this runs counts, as cargo says, not
/// where it was compiled: a checkout that was copied with its `target` is another one.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR");
    let here = here.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&here).ancestors().nth(2).expect("the crate lies in crates/xtask").to_owned()
}
