//! Rules about the text of one file.

use super::finding::RuleViolation;
use crate::source;

/// Files with more lines than this are noted.
pub(super) const LINES_AIM: usize = 400;
/// More lines than this are a finding, but in the generated Python, which grows with the families.
const LINES_MAX: usize = 700;
/// Characters in a line of code.
const COLUMNS_MAX: usize = 100;
/// Crates that may perform I/O and read a clock; all others may not.
const IMPURE: &[&str] = &["crates/conformance/", "crates/lab/", "crates/py/", "crates/xtask/"];
/// Modules of `std` that only `lab` and above may use.
const IMPURE_MODULES: &[&str] = &["fs", "time", "net", "process", "env"];
/// Folders whose files are the members of a registry, with the trait they implement.
const SOURCED: &[(&str, &str)] =
    &[("crates/families/src/", "Family"), ("crates/engines/src/", "Engine")];
/// Marks of unfinished work. Split, so that this file does not find itself.
const UNFINISHED: &[&str] = &[concat!("FIX", "ME"), concat!("TO", "DO"), concat!("XX", "X")];

/// Whether the text rules apply: code, scripts, configuration and prose, but no data files.
pub(super) fn is_ours(name: &str) -> bool {
    let prose = ["md", "toml", "sh"];
    is_code(name)
        || prose.iter().any(|e| has_extension(name, e))
        || name == "Makefile"
        || name.starts_with("scripts/")
        || name.starts_with(".ci/")
}

/// Whether the file is code, with a limit on its length.
pub(super) fn is_code(name: &str) -> bool {
    ["rs", "py", "c", "h"].iter().any(|e| has_extension(name, e))
}

fn has_extension(name: &str, extension: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|e| e == extension)
}

/// Applies every rule to the file `name` (path from the root) with text `body`.
pub(super) fn check(name: &str, body: &str) -> Vec<RuleViolation> {
    let mut findings = unfinished(name, body);
    if is_code(name) {
        findings.extend(limits(name, body));
        findings.extend(first_line(name, body));
    }
    if has_extension(name, "rs") {
        findings.extend(rust(name, body));
    }
    if has_extension(name, "md") {
        findings.extend(headings(name, body));
    }
    if name.starts_with("python/") && has_extension(name, "py") {
        findings.extend(python_children(name, body));
    }
    findings
}

/// The only file with the command line that starts another Python.
const PYTHON_CHILD: &str = "python/flyloom/support/process.py";

/// Finds command lines that start a Python without `process.python`, whose `-P` keeps modules of
/// the working folder out of it.
fn python_children(name: &str, body: &str) -> Vec<RuleViolation> {
    let starts = |line: &str| line.contains("sys.executable");
    let safe = |line: &str| name == PYTHON_CHILD && line.contains("\"-P\"");
    let what = "a Python child is started by process.python(MODULE), which passes -P";
    (body.lines().enumerate())
        .filter(|(_, line)| starts(line) && !safe(line))
        .map(|(n, _)| RuleViolation::new(name, n + 1, what))
        .collect()
}

fn unfinished(name: &str, body: &str) -> Vec<RuleViolation> {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut findings = Vec::new();
    for (n, line) in body.lines().enumerate() {
        for mark in UNFINISHED {
            let whole = line.match_indices(mark).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                !is_word(before) && !is_word(line[at + mark.len()..].chars().next())
            });
            if whole {
                let what = format!("`{mark}`: finish it, or say what is true today");
                findings.push(RuleViolation::new(name, n + 1, what));
            }
        }
    }
    findings
}

/// Generated pages with a section for each part, which nobody reads from end to end.
const GENERATED: [&str; 4] =
    ["/_generated.py", "/_mappings.py", "/_measures.py", "/_simulators.py"];

fn limits(name: &str, body: &str) -> Vec<RuleViolation> {
    let mut findings = Vec::new();
    let lines = body.lines().count();
    if lines > LINES_MAX && !GENERATED.iter().any(|end| name.ends_with(end)) {
        let what = format!("{lines} lines; a file has at most {LINES_MAX} (aim: {LINES_AIM})");
        findings.push(RuleViolation::new(name, 0, what));
    }
    for (n, line) in body.lines().enumerate() {
        let columns = line.chars().count();
        // An address cannot be broken.
        if columns > COLUMNS_MAX && !line.contains("://") {
            let what = format!("{columns} columns; a line has at most {COLUMNS_MAX}");
            findings.push(RuleViolation::new(name, n + 1, what));
        }
    }
    findings
}

/// Line one says what the file is: `//!`, a docstring, or a C comment.
fn first_line(name: &str, body: &str) -> Option<RuleViolation> {
    let first = body.lines().find(|l| !l.starts_with("#!")).unwrap_or_default();
    let (starts, wanted): (&[&str], &str) = if has_extension(name, "rs") {
        (&["//! "], "`//! what this file is`")
    } else if has_extension(name, "py") {
        (&["\"\"\"", "r\"\"\""], "a docstring")
    } else {
        (&["/*", "//"], "a comment saying what this file is")
    };
    let says = starts.iter().any(|s| first.strip_prefix(s).is_some_and(|r| !r.trim().is_empty()));
    (!says).then(|| RuleViolation::new(name, 1, format!("the first line must be {wanted}")))
}

/// Rules on Rust code, outside tests.
fn rust(name: &str, body: &str) -> Vec<RuleViolation> {
    let file = match source::parse(body) {
        Ok(file) => file,
        Err(why) => return vec![RuleViolation::new(name, 0, format!("not Rust: {why}"))],
    };
    let mut findings: Vec<RuleViolation> = cites(name, body, &file).into_iter().collect();
    let test_file = ["/tests/", "/benches/", "/examples/"].iter().any(|f| name.contains(f));
    let impure = IMPURE.iter().any(|p| name.starts_with(p));
    if name.starts_with("crates/") && !test_file && !impure {
        let named = source::std_modules(&file);
        let found = named.into_iter().filter(|(_, m)| IMPURE_MODULES.contains(&m.as_str()));
        findings.extend(found.map(|(line, module)| {
            let what = format!("`std::{module}` below lab: no I/O and no clock on this floor");
            RuleViolation::new(name, line, what)
        }));
    }
    findings
}

/// The finding where a family or an engine does not cite its source.
fn cites(name: &str, body: &str, file: &syn::File) -> Option<RuleViolation> {
    let (_, implements) = SOURCED.iter().find(|(folder, _)| name.starts_with(folder))?;
    let member = !source::impls_of(file, implements).is_empty();
    let cited = body.lines().any(|line| {
        let text = line.trim_start();
        let comment = text.strip_prefix("//!").or_else(|| text.strip_prefix("///"));
        comment.is_some_and(|c| {
            c.trim_start().strip_prefix("Source:").is_some_and(|r| !r.trim().is_empty())
        })
    });
    let what = format!("implements `{implements}` without a `Source:` line in its comments");
    (member && !cited).then(|| RuleViolation::new(name, 0, what))
}

/// A page of Markdown has one title, outside its code blocks.
fn headings(name: &str, body: &str) -> Vec<RuleViolation> {
    let mut titles = 0;
    let mut fence: Option<&str> = None;
    let mut findings = Vec::new();
    for (n, line) in body.lines().enumerate() {
        let text = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|m| text.starts_with(m));
        match (fence, mark) {
            (None, Some(m)) => fence = Some(m),
            (Some(open), Some(m)) if open == m => fence = None,
            _ => {}
        }
        if fence.is_none() && line.starts_with("# ") {
            titles += 1;
            if titles > 1 {
                findings.push(RuleViolation::new(name, n + 1, "a second title (`# `) on one page"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines found by all rules, as `line: message`.
    fn found(name: &str, body: &str) -> Vec<String> {
        check(name, body).iter().map(|f| format!("{}: {}", f.line, f.what)).collect()
    }

    #[track_caller]
    fn fires(name: &str, body: &str, line: usize, part: &str) {
        let all = found(name, body);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].starts_with(&format!("{line}: ")) && all[0].contains(part), "{all:?}");
    }

    #[track_caller]
    fn quiet(name: &str, body: &str) {
        assert_eq!(found(name, body), Vec::<String>::new());
    }

    #[test]
    fn first_lines() {
        quiet("crates/plan/src/a.rs", "//! A file.\n");
        fires("crates/plan/src/a.rs", "use x;\n", 1, "//!");
        fires("crates/plan/src/a.rs", "", 1, "//!");
        quiet("python/flyloom/a.py", "\"\"\"A module.\"\"\"\n");
        quiet("bench/a.py", "#!/usr/bin/env python3\n\"\"\"A script.\"\"\"\n");
        fires("python/flyloom/a.py", "import x\n", 1, "docstring");
        quiet("runtime/a.c", "/* A file. */\n");
        fires("runtime/a.c", "int x;\n", 1, "comment");
    }

    #[test]
    fn lengths() {
        let rust = |n: usize| format!("//! A file.\n{}", "fn f() {}\n".repeat(n - 1));
        quiet("a.rs", &rust(LINES_MAX));
        fires("a.rs", &rust(LINES_MAX + 1), 0, "701 lines");
        quiet("a.md", &"text\n".repeat(2 * LINES_MAX));
        let line = |n: usize| format!("\"\"\"A.\"\"\"\nx = {}\n", "é".repeat(n - 4));
        quiet("a.py", &line(COLUMNS_MAX));
        fires("a.py", &line(COLUMNS_MAX + 1), 2, "101 columns");
        quiet("a.py", &format!("\"\"\"A.\"\"\"\n# https://{}\n", "x".repeat(120)));
    }

    #[test]
    fn unfinished_work() {
        for mark in UNFINISHED {
            fires("docs/a.md", &format!("one\n\nand {mark}: later\n"), 3, mark);
            fires("a.py", &format!("\"\"\"A.\"\"\"\n# ({mark})\n"), 2, mark);
            quiet("a.py", &format!("\"\"\"A.\"\"\"\nA{mark} = {mark}S\n"));
        }
    }

    #[test]
    fn pure_floors() {
        for bad in ["use std::fs;", "use std::{fmt, fs};", "fn f() { std::time::Instant::now(); }"]
        {
            fires("crates/plan/src/a.rs", &format!("//! A.\n{bad}\n"), 2, "below lab");
            quiet("crates/lab/src/a.rs", &format!("//! A.\n{bad}\n"));
        }
        quiet("crates/base/src/a.rs", "//! A.\nuse std::fmt::{self, Write};\n// std::fs\n");
        quiet("crates/base/src/a.rs", "//! A.\n#[cfg(test)]\nmod t { use std::fs; }\n");
    }

    #[test]
    fn sources() {
        let family = |doc: &str| format!("//! A.\n{doc}\nimpl Family for Ring {{}}\n");
        for none in ["", "// Source: x", "/// Source:"] {
            fires("crates/families/src/ring.rs", &family(none), 0, "Source:");
        }
        quiet("crates/families/src/ring.rs", &family("/// Source: SC14"));
        quiet("crates/families/src/helper.rs", "//! A.\n");
        let engine = "//! A.\nimpl Engine for Dor {}\n";
        fires("crates/engines/src/dor.rs", engine, 0, "Source:");
        quiet("crates/engines/src/dor.rs", &engine.replace("A.", "A.\n//! Source: SC14"));
    }

    #[test]
    fn python_children_without_the_working_folder() {
        let body = |words: &str| format!("\"\"\"A.\"\"\"\nchild = [sys.executable, {words}]\n");
        fires("python/flyloom/solve/a.py", &body("\"-m\", \"flyloom.a\""), 2, "process.python");
        fires("python/flyloom/solve/a.py", &body("\"-P\", \"-m\", \"a\""), 2, "process.python");
        fires(PYTHON_CHILD, &body("\"-m\", module"), 2, "-P");
        quiet(PYTHON_CHILD, &body("\"-P\", \"-m\", module"));
        quiet("tests/test_a.py", &body("\"-m\", \"flyloom.cli\""));
    }

    #[test]
    fn titles() {
        quiet("docs/a.md", "# One\n\n## Two\n\n```sh\n# a comment\n```\n");
        fires("docs/a.md", "# One\n\n# Two\n", 3, "second title");
    }

    #[test]
    fn data_is_left_alone() {
        assert!(!is_ours("tests/data/ib/a.net") && !is_ours("LICENSE"));
        assert!(is_ours("scripts/setup") && is_ours("Makefile") && is_ours(".ci/run"));
    }
}
