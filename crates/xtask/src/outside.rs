//! What the tools ask of the machine: files, and the output of programs.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs `program args` in `root` and returns its standard output, or an error with the command
/// line and its standard error.
pub(crate) fn output(root: &Path, program: &str, args: &[&str]) -> Result<String, String> {
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
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Reads a file, with its path in the error.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// All files of Rust in `folder` and below, in order.
pub(crate) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            found.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
