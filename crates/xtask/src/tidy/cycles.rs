//! No files of a crate need one another.
//!
//! A file needs another when code outside of tests names an item of it: see [`super::names`]. Names
//! are resolved by the tree of modules and by what each imports and passes on.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::RuleViolation;
use super::graph;
use super::names::{NamePath, SourceFileNames};
use crate::outside::{read, rust_files};
use crate::source::parse;

/// The modules of one crate: its files by the path of their module.
#[derive(Default)]
struct CrateModules {
    modules: BTreeMap<NamePath, SourceModule>,
}

/// A module: the place of its file, and its source.
struct SourceModule {
    file: String,
    names: SourceFileNames,
}

/// Checks every crate below `root`.
///
/// # Errors
/// When a file cannot be read or is not Rust.
pub(super) fn check(root: &std::path::Path) -> Result<Vec<RuleViolation>, String> {
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
            found.extend(CrateModules::of(&files)?.cycles().iter().map(finding));
        }
    }
    Ok(found)
}

fn finding((files, path): &(Vec<String>, Vec<String>)) -> RuleViolation {
    let what = format!(
        "{} files need one another: {} ({} > {}); let the shared part be a file of its own",
        files.len(),
        files.join(", "),
        path.join(" > "),
        path[0]
    );
    RuleViolation::new(&files[0], 0, what)
}

impl CrateModules {
    fn of(files: &[(String, String)]) -> Result<Self, String> {
        let mut all = Self::default();
        let (mut test_modules, mut test_files) = (Vec::new(), BTreeSet::new());
        for (file, text) in files {
            let (folder, inside) = file.split_once("/src/").unwrap_or(("", file));
            let mut path: NamePath =
                inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            if path.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
                path.pop();
            }
            let names = SourceFileNames::of(&parse(text).map_err(|why| format!("{file}: {why}"))?);
            test_modules.extend(names.test_modules.iter().map(|name| join(&path, name)));
            let beside = inside.rsplit_once('/').map_or("", |(beside, _)| beside);
            let full = |name| format!("{folder}/src/{beside}/{name}").replace("//", "/");
            test_files.extend(names.test_files.iter().map(full));
            all.modules.insert(path, SourceModule { file: file.clone(), names });
        }
        all.modules.retain(|path, module| {
            let is_test = |test: &NamePath| path.starts_with(test);
            !test_modules.iter().any(is_test) && !test_files.contains(&module.file)
        });
        Ok(all)
    }

    /// The module that a path from the root of the crate belongs to: the deepest one on it, or the
    /// one from which that imports the next name. `None` where it imports the name from another
    /// crate.
    fn target(&self, path: &[String], depth: usize) -> Option<&[String]> {
        let length = (0..=path.len()).rev().find(|&n| self.modules.contains_key(&path[..n]))?;
        let (here, SourceModule { names, .. }) = self.modules.get_key_value(&path[..length])?;
        let name = path.get(length).filter(|name| depth < 8 && !names.defined.contains(*name));
        let Some(name) = name else { return Some(here) };
        if let Some(from) = names.import(name) {
            if self.is_elsewhere(here, from) {
                return None;
            }
            let next: NamePath = absolute(here, from)
                .into_iter()
                .chain(path[length + 1..].iter().cloned())
                .collect();
            return self.target(&next, depth + 1);
        }
        let by_glob = self.by_glob(here, &path[length..], depth);
        Some(by_glob.unwrap_or(here))
    }

    /// The module from which `here` has the first name of a path by a glob import.
    fn by_glob(&self, here: &[String], path: &[String], depth: usize) -> Option<&[String]> {
        let ours = |glob: &&NamePath| !self.is_elsewhere(here, glob);
        self.modules[here].names.globs().filter(ours).find_map(|glob| {
            let next: NamePath =
                absolute(here, glob).into_iter().chain(path.iter().cloned()).collect();
            let found = self.target(&next, depth + 1)?;
            self.modules[found].names.defined.contains(&path[0]).then_some(found)
        })
    }

    /// Whether a path as it is written in module `here` leads out of the crate.
    fn is_elsewhere(&self, here: &[String], path: &[String]) -> bool {
        let Some(first) = path.first() else { return false };
        let names = &self.modules[here].names;
        !["crate", "self", "super"].contains(&first.as_str())
            && !self.modules.contains_key(&join(here, first))
            && !names.defined.contains(first)
            && names.import(first).is_none_or(|from| from == path)
    }

    /// The module of a path that the code of module `here` names.
    fn needed(&self, here: &NamePath, path: &[String]) -> Option<&[String]> {
        let first = path.first()?;
        if ["crate", "self", "super"].contains(&first.as_str())
            || self.modules.contains_key(&join(here, first))
        {
            return self.target(&absolute(here, path), 0);
        }
        let names = &self.modules[here].names;
        if names.defined.contains(first) {
            return None;
        }
        match names.import(first) {
            Some(_) => self.target(&absolute(here, path), 0),
            None => self.by_glob(here, path, 0),
        }
    }

    /// Every cycle: its files in order, and a shortest cycle through the first of them.
    fn cycles(&self) -> Vec<(Vec<String>, Vec<String>)> {
        let numbers: BTreeMap<&[String], usize> =
            self.modules.keys().enumerate().map(|(n, path)| (path.as_slice(), n)).collect();
        let mut needs: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); numbers.len()];
        for (n, (here, module)) in self.modules.iter().enumerate() {
            let found = module.names.named.iter().filter_map(|path| self.needed(here, path));
            needs[n].extend(found.map(|other| numbers[other]).filter(|&other| other != n));
        }
        let files: Vec<&String> = self.modules.values().map(|module| &module.file).collect();
        let named = |all: Vec<usize>| all.into_iter().map(|n| files[n].clone()).collect();
        graph::cycles(&needs).into_iter().map(|c| (named(c.members), named(c.path))).collect()
    }
}

fn join(path: &[String], name: &str) -> NamePath {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// A path as it is written in module `here`, from the root of the crate.
fn absolute(here: &[String], path: &[String]) -> NamePath {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files: Vec<_> =
            files.iter().map(|(f, text)| (format!("c/src/{f}"), (*text).to_owned())).collect();
        CrateModules::of(&files)
            .expect("Rust")
            .cycles()
            .into_iter()
            .map(|(files, _)| files)
            .collect()
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
    fn names_in_macros_attributes_and_calls_count() {
        let b = ("b.rs", "use crate::a::A;\npub fn g() {}\npub struct B;");
        for code in [
            "fn f() { println!(\"{}\", x.y(crate::b::g())); }",
            "fn f() { assert!(matches!(x, crate::b::B)); }",
            "macro_rules! m { ($x:ident) => { $crate::b::g($x) }; }",
            "use crate::b;\nfn f() { b::g(); }",
            "#[derive(crate::b::B)]\nstruct X;",
            "fn f() -> impl Fn() { crate::b::g }",
            "mod inner { fn f() { super::super::b::g(); } }",
        ] {
            let a = format!("pub struct A;\n{code}");
            assert_eq!(cycles(&[("lib.rs", "mod a;\nmod b;"), ("a.rs", &a), b]).len(), 1, "{code}");
        }
        for code in [
            "fn f() { println!(\"crate::b::g\"); }",
            "pub(in crate::b) fn f() {}",
            "fn f() { x.crate_b_g(); }",
            "mod inner { fn f() { super::f(); } }",
        ] {
            let a = format!("pub struct A;\n{code}");
            assert!(cycles(&[("lib.rs", "mod a;\nmod b;"), ("a.rs", &a), b]).is_empty(), "{code}");
        }
    }

    #[test]
    fn what_a_folder_passes_on_and_uses_itself_it_needs() {
        let deep = ("a/deep.rs", "use super::Shared;\npub struct Deep;\npub fn dig() {}");
        for (code, is_cycle) in [
            ("pub use deep::Deep;\npub struct Shared(Deep);", true),
            ("pub use deep::dig;\npub fn f() { dig(); }\npub struct Shared;", true),
            ("pub use deep::*;\npub struct Shared(Deep);", true),
            ("pub use deep::Deep;\npub struct Shared(u8);", false),
            ("pub use deep::dig;\npub fn f() { let dig = 1; x(dig); }\npub struct Shared;", false),
        ] {
            let a = format!("mod deep;\n{code}");
            let found = cycles(&[("lib.rs", "mod a;"), ("a/mod.rs", &a), deep]);
            assert_eq!(!found.is_empty(), is_cycle, "{code}: {found:?}");
        }
    }

    #[test]
    fn a_glob_of_the_folder_above_brings_what_that_imports() {
        let a = ("a.rs", "use super::*;\npub fn f() -> Shared { g() }");
        let b = ("b.rs", "pub fn g() { crate::a::f(); }");
        let found = cycles(&[("lib.rs", "mod a;\nmod b;\npub use b::g;\nstruct Shared;"), a, b]);
        assert_eq!(found, [["c/src/a.rs", "c/src/b.rs"]]);
        // importing what the folder above has from another crate is no need of that folder
        let other = ("a.rs", "use super::Map;\npub fn f(_: Map) {}");
        let above = "mod a;\nuse std::collections::BTreeMap as Map;\nfn x() { a::f(); }";
        assert!(cycles(&[("lib.rs", above), other]).is_empty());
    }

    #[test]
    fn tests_in_files_of_another_name_are_left_out() {
        let a = "pub struct A;\n#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;";
        let tests = ("deep/a_tests.rs", "use super::A;\npub fn help() {}");
        let b = ("deep/b.rs", "use super::a_tests::help;");
        let files = [("lib.rs", "mod deep;"), ("deep/mod.rs", "mod a;\nmod b;"), ("deep/a.rs", a)];
        assert!(cycles(&[&files[..], &[tests, b]].concat()).is_empty());
    }

    #[test]
    fn a_finding_names_the_files_and_a_shortest_cycle() {
        let files = ["c/src/a.rs", "c/src/b.rs", "c/src/d.rs"].map(str::to_owned).to_vec();
        assert_eq!(
            finding(&(files.clone(), files[..2].to_vec())).to_string(),
            "c/src/a.rs: 3 files need one another: c/src/a.rs, c/src/b.rs, c/src/d.rs \
             (c/src/a.rs > c/src/b.rs > c/src/a.rs); let the shared part be a file of its own"
        );
    }
}
