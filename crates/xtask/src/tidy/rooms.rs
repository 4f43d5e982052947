//! Which room (folder) of the Python package may import which; and that no files import one
//! another.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::RuleViolation;
use super::graph::{self, FileCycle};
use crate::python::{FileImport, PythonPackage, room};

/// Every room, and every file beside the rooms, with those that it may import: all of these are
/// listed above it, so that there is no cycle. Every file may import the compiled core.
const ROOMS: &[(&str, &[&str])] = &[
    ("_generated", &[]),
    ("certificate_check", &[]),
    ("support", &[]),
    ("draw", &["support"]),
    ("plugins", &["support"]),
    ("inputs", &["support", "plugins"]),
    ("_measures", &["support", "inputs"]),
    ("solve", &["support"]),
    ("ranks", &["support"]),
    ("measuring", &["support", "ranks"]),
    ("deploy", &["support", "inputs"]),
    ("cabling", &["support", "draw", "inputs"]),
    (
        "verbs",
        &[
            "support",
            "plugins",
            "inputs",
            "solve",
            "ranks",
            "measuring",
            "deploy",
            "cabling",
            "_measures",
        ],
    ),
    ("_simulators", &["support", "inputs", "verbs"]),
    ("_mappings", &["support", "inputs", "verbs"]),
    ("report", &["support", "draw", "verbs"]),
    ("lab", &["support", "plugins", "inputs", "deploy", "verbs", "report"]),
    ("published", &["support", "plugins", "inputs", "verbs", "_measures"]),
    (
        "cli",
        &[
            "support",
            "draw",
            "plugins",
            "inputs",
            "solve",
            "ranks",
            "deploy",
            "cabling",
            "verbs",
            "report",
            "lab",
            "published",
            "_measures",
        ],
    ),
    ("__main__", &["cli"]),
    ("published_cost", &["published"]),
    ("search", &["solve"]),
    (
        "flyloom",
        &[
            "_generated",
            "_measures",
            "_simulators",
            "_mappings",
            "support",
            "plugins",
            "inputs",
            "deploy",
            "verbs",
            "lab",
            "published",
        ],
    ),
];

/// Checks every import of the package.
pub(super) fn check(package: &PythonPackage) -> Vec<RuleViolation> {
    let mut findings = unknown(package);
    for import in &package.imports {
        let (from, to) = (room(&import.from), room(&import.to));
        let Some(may) = may(from) else { continue };
        if from != to && !may.contains(&to) {
            let may = if may.is_empty() { "no room".to_owned() } else { may.join(", ") };
            let what =
                format!("`{from}` imports `{}` of the room `{to}`; it may import {may}", import.to);
            findings.push(at(package, import, what));
        }
    }
    findings.extend(cycles(package));
    findings
}

fn may(name: &str) -> Option<&'static [&'static str]> {
    ROOMS.iter().find(|(room, _)| *room == name).map(|(_, may)| *may)
}

/// The first file of every room that the table does not have.
fn unknown(package: &PythonPackage) -> Vec<RuleViolation> {
    let mut first = BTreeMap::new();
    for (module, (path, _)) in &package.files {
        first.entry(room(module)).or_insert(path);
    }
    first.retain(|room, _| may(room).is_none());
    let what = |room: &str| format!("room `{room}` has no row; give it one in ROOMS of xtask");
    first.into_iter().map(|(room, path)| RuleViolation::new(path, 0, what(room))).collect()
}

fn at(package: &PythonPackage, import: &FileImport, what: String) -> RuleViolation {
    let path = package.files.get(&import.from).map_or("", |(path, _)| path);
    RuleViolation::new(path, import.line, what)
}

/// One finding for each set of files that import one another, at an import that closes a cycle.
fn cycles(package: &PythonPackage) -> Vec<RuleViolation> {
    let names: Vec<&String> = package.files.keys().collect();
    let number = |name: &String| names.binary_search(&name).ok();
    let mut needs = vec![BTreeSet::new(); names.len()];
    for import in &package.imports {
        if let (Some(from), Some(to)) = (number(&import.from), number(&import.to)) {
            needs[from].insert(to);
        }
    }
    let finding = |cycle: FileCycle| {
        let path: Vec<&str> = cycle.path.iter().map(|&n| names[n].as_str()).collect();
        let closes = |i: &&FileImport| Some(&i.from.as_str()) == path.last() && i.to == path[0];
        let import = package.imports.iter().find(closes)?;
        let what = format!("cycle of imports: {} > {}", path.join(" > "), path[0]);
        Some(at(package, import, what))
    };
    graph::cycles(&needs).into_iter().filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::PACKAGE;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let texts = files.iter().map(|(p, t)| (format!("{PACKAGE}/{p}"), (*t).to_owned()));
        check(&PythonPackage::of(texts.collect())).iter().map(RuleViolation::to_string).collect()
    }

    #[test]
    fn the_table_has_no_cycle() {
        for (n, (room, may)) in ROOMS.iter().enumerate() {
            for other in *may {
                let above = ROOMS[..n].iter().any(|(name, _)| name == other);
                assert!(above, "{room} may import {other}, which stands below it");
            }
        }
    }

    #[test]
    fn arrows_of_the_table_are_free() {
        let files = [
            ("support/files.py", ""),
            ("support/words.py", "from flyloom.support.files import x\nfrom flyloom import _core"),
            ("inputs/networks.py", "from flyloom.support import files, words"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn other_edges_are_found_with_file_and_line() {
        let files = [
            ("lab/store.py", ""),
            ("support/__init__.py", "\"\"\"All.\"\"\"\n"),
            ("support/files.py", "import os\ndef f():\n    from flyloom.lab import store\n"),
        ];
        assert_eq!(
            found(&files),
            ["python/flyloom/support/files.py:3: `support` imports `flyloom.lab.store` of the \
              room `lab`; it may import no room"]
        );
        let lazy = found(&[("verbs/a.py", "from flyloom import structure"), ("__init__.py", "")]);
        assert_eq!(lazy.len(), 1, "{lazy:?}");
        assert!(lazy[0].contains("of the room `flyloom`; it may import support, plugins"));
    }

    #[test]
    fn a_room_without_row_is_found() {
        let lines = found(&[("attic/__init__.py", ""), ("attic/old.py", ""), ("loose.py", "")]);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("python/flyloom/attic/__init__.py: room `attic` has no row"));
        assert!(lines[1].starts_with("python/flyloom/loose.py: room `loose` has no row"));
    }

    #[test]
    fn cycles_of_files_are_found_once() {
        let files = [
            ("deploy/a.py", "from .b import x"),
            ("deploy/b.py", "import os\nfrom . import c"),
            ("deploy/c.py", "def f():\n    if TYPE_CHECKING:\n        from .a import y"),
            ("deploy/d.py", "from . import a, c"),
        ];
        assert_eq!(
            found(&files),
            ["python/flyloom/deploy/c.py:3: cycle of imports: flyloom.deploy.a > \
              flyloom.deploy.b > flyloom.deploy.c > flyloom.deploy.a"]
        );
        assert_eq!(found(&files[1..]), Vec::<String>::new());
        let own = found(&[("deploy/a.py", "from flyloom.deploy import a")]);
        assert_eq!(own.len(), 1, "{own:?}");
    }
}
