//! `cargo xtask`: writes the generated code (`gen`) and checks the house rules (`tidy`).
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod generate;
mod measures;
mod python;
mod reference;
mod sheet;
mod source;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

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
        ["gen"] => generate::run(&root, generate::Mode::Write),
        ["gen", "--check"] => generate::run(&root, generate::Mode::Check),
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

/// Runs `program args` in `root` and returns its standard output, or an error with the command
/// line and its standard error.
fn output(root: &Path, program: &str, args: &[&str]) -> Result<String, String> {
    let line = || format!("`{program} {}`", args.join(" "));
    let done = Command::new(program)
        .args(args)
        .current_dir(root)
        .output()
        .map_err(|e| format!("cannot run {}: {e}", line()))?;
    if !done.status.success() {
        let stderr = String::from_utf8_lossy(&done.stderr);
        return Err(format!("{} failed ({}):\n{}", line(), done.status, stderr.trim_end()));
    }
    String::from_utf8(done.stdout).map_err(|e| format!("{}: output is not UTF-8: {e}", line()))
}

/// Cargo as it was when it started us, so that a toolchain override is kept.
fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Reads a file, with its path in the error.
fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}
