//! `cargo xtask tidy`: the rules of STYLE.md that a machine can check, each with file and line.

mod cycles;
mod finding;
mod floors;
mod graph;
mod names;
mod rooms;
mod text;
mod words;

use std::fmt::Write as _;
use std::path::Path;

use crate::outside::{cargo, output};
use crate::python::PythonPackage;
use finding::RuleViolation;

/// A tracked file larger than this belongs somewhere else.
const BYTES_MAX: u64 = 1 << 20;

/// Checks every file that git tracks or would track, the crates' dependencies and the imports
/// of the Python package.
///
/// # Errors
/// The findings, one a line; or why git, cargo or a file could not be read.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    let listed = output(root, "git", &["ls-files", "-z", "-co", "--exclude-standard"])?;
    let mut names: Vec<&str> = listed.split('\0').filter(|n| !n.is_empty()).collect();
    names.sort_unstable();
    let mut findings = Vec::new();
    let mut above_aim = Vec::new();
    let mut refused = Vec::new();
    let mut count = 0;
    for name in names {
        let path = root.join(name);
        // Listed but deleted in the working tree, or a link: nothing to read.
        let Ok(meta) = path.symlink_metadata() else { continue };
        if !meta.is_file() {
            continue;
        }
        count += 1;
        findings.extend(size(name, meta.len()));
        if text::is_ours(name) {
            let bytes = std::fs::read(&path).map_err(|e| format!("{name}: {e}"))?;
            let Ok(body) = String::from_utf8(bytes) else {
                findings.push(RuleViolation::new(name, 0, "is not UTF-8"));
                continue;
            };
            findings.extend(text::check(name, &body));
            refused.push((name.to_owned(), words::uses(name, &body)));
            if text::is_code(name) && body.lines().count() > text::LINES_AIM {
                above_aim.push(format!("{name} ({})", body.lines().count()));
            }
        }
    }
    let metadata = ["metadata", "--format-version", "1", "--no-deps"];
    findings.extend(words::judged(&refused));
    findings.extend(floors::check(&output(root, &cargo(), &metadata)?)?);
    findings.extend(cycles::check(root)?);
    findings.extend(rooms::check(&PythonPackage::read(root)?));
    findings.sort();
    report(count, &findings, &above_aim)
}

fn size(name: &str, bytes: u64) -> Option<RuleViolation> {
    let what = format!("{bytes} bytes; a tracked file has at most {BYTES_MAX}");
    (bytes > BYTES_MAX).then(|| RuleViolation::new(name, 0, what))
}

fn report(
    count: usize,
    findings: &[RuleViolation],
    above_aim: &[String],
) -> Result<String, String> {
    if findings.is_empty() {
        let mut line = format!("tidy: {count} files, nothing found");
        if !above_aim.is_empty() {
            let aim = text::LINES_AIM;
            let _ = write!(line, "; above the aim of {aim} lines: {}", above_aim.join(", "));
        }
        return Ok(line);
    }
    let lines: Vec<String> = findings.iter().map(RuleViolation::to_string).collect();
    Err(format!("{}\ntidy: {} found (the rules are in STYLE.md)", lines.join("\n"), lines.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_has_two_sides() {
        assert_eq!(size("a.bin", BYTES_MAX), None);
        assert!(size("a.bin", BYTES_MAX + 1).is_some());
    }

    #[test]
    fn findings_fail_with_file_and_line() {
        assert!(report(3, &[], &[]).is_ok());
        let why = report(3, &[RuleViolation::new("a.rs", 7, "bad")], &[]).expect_err("one finding");
        assert!(why.starts_with("a.rs:7: bad\n"), "{why}");
    }

    /// The rules hold on the repository itself, so that `cargo test` alone finds a breach.
    #[test]
    fn the_repository_is_tidy() {
        if let Err(why) = run(&crate::root()) {
            panic!("{why}");
        }
    }
}
