//! The sheet in ARCHITECTURE.md: what each crate and each folder of the Python package hides and
//! uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::outside::{cargo, output, read};
use crate::python::{PACKAGE, PythonPackage, room};

/// The file that has the sheet between its marks.
pub(crate) const FILE: &str = "ARCHITECTURE.md";

/// A row of the sheet: what a folder hides, the file that says so, and what it uses.
#[derive(Debug, Default, PartialEq, Eq)]
struct RoomSheetRow {
    file: String,
    hides: String,
    uses: BTreeSet<String>,
}

/// The text between the marks.
///
/// # Errors
/// What cargo says of the crates, or a file, cannot be read.
pub(crate) fn text(root: &Path) -> Result<String, String> {
    let metadata = ["metadata", "--format-version", "1", "--no-deps"];
    let crates = crates(root, &output(root, &cargo(), &metadata)?)?;
    let rooms = python(&PythonPackage::read(root)?);
    Ok(format!("\n{}\n{}\n", table("crate", &crates), table(&format!("in {PACKAGE}"), &rooms)))
}

/// The crates of the workspace by their short names, from the answer of `cargo metadata`.
fn crates(root: &Path, metadata: &str) -> Result<BTreeMap<String, RoomSheetRow>, String> {
    let bad = |what: &str| format!("cargo metadata: {what}");
    let value: Value = serde_json::from_str(metadata).map_err(|e| bad(&e.to_string()))?;
    let top = value["workspace_root"].as_str().ok_or_else(|| bad("no workspace_root"))?;
    let short = |name: &str| name.strip_prefix("flyloom-").unwrap_or(name).to_owned();
    let mut found = BTreeMap::new();
    for package in value["packages"].as_array().ok_or_else(|| bad("no packages"))? {
        let name = package["name"].as_str().ok_or_else(|| bad("a package without name"))?;
        let path = package["targets"].as_array().and_then(|targets| main_file(targets));
        let path = path.ok_or_else(|| bad(&format!("{name} has no file to begin with")))?;
        let file = path.strip_prefix(top).unwrap_or(path).trim_start_matches('/');
        let body = read(&root.join(file))?;
        let hides = body.lines().next().unwrap_or_default().trim_start_matches("//!").trim();
        let uses = package["dependencies"].as_array().into_iter().flatten();
        let uses = uses.filter(|d| !d["path"].is_null() && d["kind"] != "dev");
        let uses = uses.filter_map(|d| d["name"].as_str().map(short)).collect();
        found.insert(
            short(name),
            RoomSheetRow { file: file.to_owned(), hides: hides.to_owned(), uses },
        );
    }
    Ok(found)
}

/// The file that a crate's targets begin with: of its library, else its program, else its tests.
fn main_file(targets: &[Value]) -> Option<&str> {
    let kinds = |target: &Value| target["kind"].as_array().cloned().unwrap_or_default();
    let of = |wanted: &[&str]| {
        targets
            .iter()
            .find(|t| kinds(t).iter().any(|k| k.as_str().is_some_and(|k| wanted.contains(&k))))
    };
    of(&["lib", "rlib", "cdylib", "proc-macro"])
        .or_else(|| of(&["bin"]))
        .or_else(|| of(&["test"]))?["src_path"]
        .as_str()
}

/// The folders of the Python package, each a row of the sheet.
fn python(package: &PythonPackage) -> BTreeMap<String, RoomSheetRow> {
    let mut found: BTreeMap<String, RoomSheetRow> = BTreeMap::new();
    for (module, (path, text)) in &package.files {
        if module.matches('.').count() <= 1 {
            let quoted = text.lines().next().unwrap_or_default();
            let room = found.entry(room(module).to_owned()).or_default();
            room.file.clone_from(path);
            quoted.trim_matches('"').clone_into(&mut room.hides);
        }
    }
    for import in &package.imports {
        let (from, to) = (room(&import.from), room(&import.to));
        if from != to {
            found.entry(from.to_owned()).or_default().uses.insert(to.to_owned());
        }
    }
    found
}

/// The rows as a table of Markdown, those that use no other first.
fn table(what: &str, rooms: &BTreeMap<String, RoomSheetRow>) -> String {
    let mut text = format!("| {what} | hides | uses |\n|---|---|---|\n");
    let mut order: Vec<_> =
        rooms.iter().map(|(name, room)| (height(rooms, name, 0), name, room)).collect();
    order.sort_by_key(|(height, name, _)| (*height, *name));
    for (_, name, RoomSheetRow { file, hides, uses }) in order {
        let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
        let _ = writeln!(
            text,
            "| [{name}]({file}) | {} | {} |",
            hides.replace('|', "\\|"),
            uses.join(", ")
        );
    }
    text
}

/// The longest path down from a room; `depth` ends it where there is a cycle.
fn height(rooms: &BTreeMap<String, RoomSheetRow>, name: &str, depth: usize) -> usize {
    let Some(room) = rooms.get(name).filter(|_| depth <= rooms.len()) else { return 0 };
    room.uses.iter().map(|below| 1 + height(rooms, below, depth + 1)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room_of(file: &str, hides: &str, uses: &[&str]) -> RoomSheetRow {
        let uses = uses.iter().map(|u| (*u).to_owned()).collect();
        RoomSheetRow { file: file.to_owned(), hides: hides.to_owned(), uses }
    }

    #[test]
    fn python_rooms_have_their_first_line_and_their_arrows() {
        let texts = [
            ("support/__init__.py", "\"\"\"Tools.\"\"\"\n"),
            ("support/words.py", "\"\"\"Words.\"\"\"\nfrom flyloom._core import x\n"),
            ("cli/__init__.py", "\"\"\"Commands.\n\nMore.\n\"\"\"\n"),
            ("cli/a.py", "def f():\n    from flyloom.support import words\n"),
            ("check.py", "\"\"\"Alone.\"\"\"\n"),
        ];
        let texts = texts.iter().map(|(p, t)| (format!("{PACKAGE}/{p}"), (*t).to_owned()));
        let found = python(&PythonPackage::of(texts.collect()));
        assert_eq!(found.len(), 3);
        assert_eq!(
            found["cli"],
            room_of("python/flyloom/cli/__init__.py", "Commands.", &["support"])
        );
        assert_eq!(found["support"], room_of("python/flyloom/support/__init__.py", "Tools.", &[]));
        assert_eq!(found["check"], room_of("python/flyloom/check.py", "Alone.", &[]));
    }

    #[test]
    fn crates_come_from_the_metadata() {
        let dir = std::env::temp_dir().join(format!("flyloom-sheet-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("temp dir");
        std::fs::write(dir.join("lib.rs"), "//! Ground: ids.\n//! More.\n").expect("temp file");
        std::fs::write(dir.join("main.rs"), "//! Tools.\n").expect("temp file");
        let target = |kind: &str, file: &str| {
            let path = dir.join(file);
            serde_json::json!({"kind": [kind], "src_path": path})
        };
        let metadata = serde_json::json!({"workspace_root": dir, "packages": [
            {"name": "flyloom-base", "targets": [target("lib", "lib.rs")], "dependencies": [
                {"name": "serde", "path": null, "kind": null}]},
            {"name": "flyloom-xtask",
             "targets": [target("test", "no.rs"), target("bin", "main.rs")],
             "dependencies": [{"name": "flyloom-base", "path": "/b", "kind": null},
                              {"name": "flyloom-flit", "path": "/s", "kind": "dev"}]},
        ]});
        let found = crates(&dir, &metadata.to_string()).expect("good metadata");
        assert_eq!(found["base"], room_of("lib.rs", "Ground: ids.", &[]));
        assert_eq!(found["xtask"], room_of("main.rs", "Tools.", &["base"]));
        assert!(crates(&dir, "{}").is_err());
        std::fs::remove_dir_all(dir).expect("temp dir goes");
    }

    #[test]
    fn the_table_goes_from_the_ground_up() {
        let rooms = BTreeMap::from([
            ("a".to_owned(), room_of("a.rs", "Top.", &["b", "c"])),
            ("b".to_owned(), room_of("b.rs", "Middle.", &["c"])),
            ("c".to_owned(), room_of("c.rs", "Ground.", &[])),
        ]);
        let text = table("crate", &rooms);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| [c](c.rs) | Ground. |  |",
                "| [b](b.rs) | Middle. | c |",
                "| [a](a.rs) | Top. | b, c |",
            ]
        );
    }

    #[test]
    fn a_cycle_ends() {
        let rooms = BTreeMap::from([
            ("a".to_owned(), room_of("a.rs", "A.", &["b"])),
            ("b".to_owned(), room_of("b.rs", "B.", &["a"])),
        ]);
        assert_eq!(table("crate", &rooms).lines().count(), 4);
    }
}
