//! Files of a crate that need each other in a cycle: known ones may shrink, new ones are findings.
//!
//! A file needs another when code outside of tests names an item of it. Names are resolved by the
//! tree of modules and by `pub use`, as text: what a macro expands to is not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Item, UseTree};

use super::finding::Finding;
use crate::outside::{read, rust_files};
use crate::source::{is_test, parse};

/// The cycles that there are: the folder that all files of one share, and how many files it has.
/// The list may only shrink.
const KNOWN: &[(&str, usize)] = &[
    ("crates/formats/src/booksim", 6),
    ("crates/formats/src/dumpi", 2),
    ("crates/formats/src/dumpi", 2),
    ("crates/formats/src/ib/fabric_file", 4),
    ("crates/formats/src/liballprof", 3),
];

/// One crate: its files by the path of their module.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Vec<String>, Module>,
}

/// One file: where it is, the paths that its code names, and the names that it passes on.
#[derive(Default)]
struct Module {
    file: String,
    named: BTreeSet<Vec<String>>,
    /// `pub use`: the name here and the path of what it is; a glob has the name `*`.
    passed_on: Vec<(String, Vec<String>)>,
    /// The items that it defines.
    defined: BTreeSet<String>,
    /// Modules of other files that are compiled for tests alone.
    test_modules: BTreeSet<String>,
}

/// Checks every crate below `root`.
///
/// # Errors
/// When a file cannot be read or is not Rust.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let mut found = Vec::new();
    let folder = root.join("crates");
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    for entry in std::fs::read_dir(&folder).map_err(fail)? {
        let source = entry.map_err(fail)?.path().join("src");
        if source.is_dir() {
            let mut files = Vec::new();
            for path in rust_files(&source)? {
                let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                files.push((name, read(&path)?));
            }
            found.extend(Crate::of(&files)?.cycles());
        }
    }
    found.sort();
    Ok(judged(&found, KNOWN))
}

/// The findings among `cycles`: those that are not known, and rows of `known` that are too large.
fn judged(cycles: &[Vec<String>], known: &[(&str, usize)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut left: Vec<(&str, usize)> = known.to_vec();
    for cycle in cycles {
        let folder = shared_folder(cycle);
        let at = left.iter().position(|&(name, size)| name == folder && size == cycle.len());
        if let Some(at) = at {
            left.remove(at);
        } else {
            let what = format!(
                "{} files need each other: {}; let the shared part be a file of its own",
                cycle.len(),
                cycle.join(", ")
            );
            findings.push(Finding::new(&cycle[0], 0, what));
        }
    }
    for (folder, size) in left {
        let what = format!("no cycle of {size} files any more; change KNOWN of tidy/cycles.rs");
        findings.push(Finding::new(folder, 0, what));
    }
    findings
}

fn shared_folder(files: &[String]) -> String {
    let mut parts: Vec<&str> = files[0].split('/').collect();
    parts.pop();
    while !files.iter().all(|file| file.starts_with(&(parts.join("/") + "/"))) {
        parts.pop();
    }
    parts.join("/")
}

impl Crate {
    fn of(files: &[(String, String)]) -> Result<Self, String> {
        let mut all = Self::default();
        for (file, text) in files {
            let inside = file.split_once("/src/").map_or(file.as_str(), |(_, inside)| inside);
            let mut path: Vec<String> =
                inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            if path.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
                path.pop();
            }
            let parsed = parse(text).map_err(|why| format!("{file}: {why}"))?;
            let mut module = Module { file: file.clone(), ..Module::default() };
            Reader { module: &mut module }.visit_file(&parsed);
            all.modules.insert(path, module);
        }
        let tests: Vec<Vec<String>> = all
            .modules
            .iter()
            .flat_map(|(path, module)| module.test_modules.iter().map(|name| join(path, name)))
            .collect();
        all.modules.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
        Ok(all)
    }

    /// The module that a path of names belongs to: the deepest on it, or where that passes the next
    /// name on from.
    fn target(&self, path: &[String], depth: usize) -> Option<&[String]> {
        let length = (0..=path.len()).rev().find(|&n| self.modules.contains_key(&path[..n]))?;
        let (here, module) = self.modules.get_key_value(&path[..length])?;
        let Some(name) = path.get(length).filter(|_| depth < 8) else { return Some(here) };
        for (passed, from) in &module.passed_on {
            let from = absolute(here, from);
            let next: Vec<String> = if passed == "*" {
                from.into_iter().chain([name.clone()]).collect()
            } else if passed == name {
                from.into_iter().chain(path[length + 1..].iter().cloned()).collect()
            } else {
                continue;
            };
            let found = self.target(&next, depth + 1);
            if passed == name || found.is_some_and(|at| self.modules[at].defined.contains(name)) {
                return found;
            }
        }
        Some(here)
    }

    /// Every set of two files or more that need each other, by their names in order.
    fn cycles(&self) -> Vec<Vec<String>> {
        let numbers: BTreeMap<&[String], usize> =
            self.modules.keys().enumerate().map(|(n, path)| (path.as_slice(), n)).collect();
        let mut needs: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); numbers.len()];
        for (n, (here, module)) in self.modules.iter().enumerate() {
            for path in &module.named {
                let found = self.target(&absolute(here, path), 0);
                let other = found.and_then(|found| numbers.get(found)).copied();
                needs[n].extend(other.filter(|&other| other != n));
            }
        }
        let reached: Vec<BTreeSet<usize>> = (0..needs.len()).map(|n| reach(&needs, n)).collect();
        let files: Vec<&String> = self.modules.values().map(|module| &module.file).collect();
        let mut found = BTreeSet::new();
        for n in 0..needs.len() {
            let cycle: Vec<usize> =
                reached[n].iter().copied().filter(|&other| reached[other].contains(&n)).collect();
            if cycle.len() > 1 {
                let mut names: Vec<String> = cycle.iter().map(|&n| files[n].clone()).collect();
                names.sort();
                found.insert(names);
            }
        }
        found.into_iter().collect()
    }
}

/// A path as it is written in module `here`, from the root of the crate.
fn absolute(here: &[String], path: &[String]) -> Vec<String> {
    let mut at = here.to_vec();
    let mut rest = path;
    match path.first().map(String::as_str) {
        Some("crate") => {
            at.clear();
            rest = &path[1..];
        }
        Some("self") => rest = &path[1..],
        _ => {}
    }
    while rest.first().is_some_and(|word| word == "super") {
        at.pop();
        rest = &rest[1..];
    }
    at.extend(rest.iter().cloned());
    at
}

/// All that can be reached from `start` by one step or more.
fn reach(needs: &[BTreeSet<usize>], start: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<usize> = needs[start].iter().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(needs[next].iter().copied());
        }
    }
    reached
}

fn join(path: &[String], name: &str) -> Vec<String> {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// The name of an item that others can import.
fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(i) => &i.ident,
        Item::Enum(i) => &i.ident,
        Item::Fn(i) => &i.sig.ident,
        Item::Static(i) => &i.ident,
        Item::Struct(i) => &i.ident,
        Item::Trait(i) => &i.ident,
        Item::Type(i) => &i.ident,
        Item::Union(i) => &i.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Collects what a file names, outside of tests.
struct Reader<'a> {
    module: &'a mut Module,
}

impl Reader<'_> {
    /// Notes every path that a `use` brings, and what it passes on.
    fn used(&mut self, tree: &UseTree, before: &[String], public: bool) {
        let mut brought = |name: String, path: Vec<String>| {
            if public {
                self.module.passed_on.push((name, path));
            } else {
                self.module.named.insert(path);
            }
        };
        match tree {
            UseTree::Path(path) => {
                let before = join(before, &path.ident.to_string());
                self.used(&path.tree, &before, public);
            }
            UseTree::Name(name) if name.ident == "self" => {
                brought(before.last().cloned().unwrap_or_default(), before.to_vec());
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                let path = join(before, &name);
                brought(name, path);
            }
            UseTree::Rename(name) => {
                brought(name.rename.to_string(), join(before, &name.ident.to_string()));
            }
            UseTree::Glob(_) => brought("*".to_owned(), before.to_vec()),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.used(tree, before, public);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if let (Item::Mod(module), true) = (item, is_test(item)) {
            if module.content.is_none() {
                self.module.test_modules.insert(module.ident.to_string());
            }
        } else if !is_test(item) {
            self.module.defined.extend(name_of(item));
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let public = !matches!(item.vis, syn::Visibility::Inherited);
        self.used(&item.tree, &[], public);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let words = path.segments.iter().map(|segment| segment.ident.to_string());
            self.module.named.insert(words.collect());
        }
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files: Vec<_> =
            files.iter().map(|(f, text)| (format!("c/src/{f}"), (*text).to_owned())).collect();
        Crate::of(&files).expect("Rust").cycles()
    }

    #[test]
    fn a_trait_beside_the_table_of_its_parts_is_a_cycle() {
        let torus = ("torus.rs", "use super::Family;\npub struct Torus;\nimpl Family for Torus {}");
        let table = "mod torus;\npub static ALL: &[Entry] = &[Entry::of::<torus::Torus>()];\n";
        let together = format!("{table}pub trait Family {{}}");
        assert_eq!(cycles(&[("lib.rs", &together), torus]), [["c/src/lib.rs", "c/src/torus.rs"]]);
        let apart = format!("mod family;\npub use family::Family;\n{table}");
        let family = ("family.rs", "pub trait Family {}");
        assert_eq!(cycles(&[("lib.rs", &apart), family, torus]), Vec::<Vec<String>>::new());
    }

    #[test]
    fn names_are_followed_through_folders_globs_and_renames() {
        let found = cycles(&[
            ("lib.rs", "mod a;\nmod b;"),
            ("a/mod.rs", "mod deep;\npub use deep::*;"),
            ("a/deep.rs", "pub fn f() { crate::b::g(); }"),
            ("b.rs", "use crate::a::f as again;\npub fn g() { again(); }"),
        ]);
        assert_eq!(found, [["c/src/a/deep.rs", "c/src/b.rs"]]);
    }

    #[test]
    fn tests_and_a_chain_close_no_cycle() {
        let found = cycles(&[
            ("lib.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod tests;"),
            ("a.rs", "use crate::b::B;\n"),
            ("b.rs", "pub struct B;\n#[cfg(test)]\nmod inner { use crate::a::f; }"),
            ("tests.rs", "use crate::a::x;\npub fn help() {}"),
        ]);
        assert_eq!(found, Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_known_cycle_may_only_shrink() {
        let cycle = vec!["c/src/a.rs".to_owned(), "c/src/b.rs".to_owned()];
        assert!(judged(std::slice::from_ref(&cycle), &[("c/src", 2)]).is_empty());
        let new = judged(std::slice::from_ref(&cycle), &[]);
        assert!(new[0].to_string().starts_with("c/src/a.rs: 2 files need each other: "));
        for (cycles, known) in [(vec![cycle], 3), (vec![], 2)] {
            let stale = judged(&cycles, &[("c/src", known)]);
            assert!(stale.iter().any(|f| f.what.contains(&format!("no cycle of {known} files"))));
        }
    }
}
