//! Digests of the sources that the compiled module stands on, for the keys of finished points.
//!
//! The nodes are every crate of the workspace, every file of this one, and the packages from
//! outside. Each has a digest and the nodes that it uses; Python follows them from the names that
//! it imports. The profile by which the module is built is passed on as well: that of releases or
//! that of set-up and tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A digest and the nodes it uses.
type DigestNode = (u128, BTreeSet<String>);

fn main() {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = here.ancestors().nth(2).expect("the crate lies in crates/py").to_owned();
    let crates = crates(&root);
    let mut nodes: BTreeMap<String, DigestNode> = BTreeMap::new();
    nodes.insert("outside".into(), (outside(&root.join("Cargo.lock")), BTreeSet::new()));
    for (name, folder) in &crates {
        let mut uses = dependencies(&folder.join("Cargo.toml"), &crates);
        uses.insert("outside".into());
        nodes.insert(name.clone(), (digest(&root, folder), uses));
    }
    let files = rust_files(&here.join("src"));
    let module = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let modules: BTreeSet<String> =
        files.iter().map(|f| module(f)).filter(|name| name != "lib").collect();
    let below = dependencies(&here.join("Cargo.toml"), &crates);
    let ours = files.iter().filter(|f| modules.contains(&module(f)));
    let texts: BTreeMap<String, String> = ours.map(|file| (module(file), read(file))).collect();
    for (name, text) in &texts {
        let mut uses = words_before_colons(text, &below);
        let methods = methods_elsewhere(text, &texts);
        let used = modules_used(text, &modules).into_iter().chain(methods);
        uses.extend(used.filter(|other| other != name).map(|other| format!("py/{other}")));
        uses.insert("outside".into());
        nodes.insert(format!("py/{name}"), (hash(text.as_bytes()), uses));
    }
    let names = exported(&read(&here.join("src/lib.rs")), &modules);
    println!("cargo:rustc-env=FLYLOOM_SOURCES={}", json(&nodes, &names));
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    println!("cargo:rustc-env=FLYLOOM_BUILD={}", if release { "release" } else { "dev" });
}

/// The folder of every crate of the workspace that others may use, by its name in code.
fn crates(root: &Path) -> BTreeMap<String, PathBuf> {
    let lines =
        section(&watched(&root.join("Cargo.toml")), |name| name == "workspace.dependencies");
    let folder = |line: &str| {
        let path = line.split("path = \"").nth(1)?.split('"').next()?;
        Some((key(line), root.join(path)))
    };
    lines.iter().filter_map(|line| folder(line)).collect()
}

/// The crates of `crates` that a manifest names, except in its dependencies for tests.
fn dependencies(manifest: &Path, crates: &BTreeMap<String, PathBuf>) -> BTreeSet<String> {
    let wanted = |name: &str| name.ends_with("dependencies") && !name.contains("dev-");
    let lines = section(&watched(manifest), wanted);
    lines.iter().map(|line| key(line)).filter(|name| crates.contains_key(name)).collect()
}

/// The lines of the tables of a manifest that are `wanted`.
fn section(manifest: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            inside = wanted(header.trim_matches(['[', ']']));
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            lines.push(line.to_owned());
        }
    }
    lines
}

/// The name that a line of a table is about, as code writes it.
fn key(line: &str) -> String {
    line.split(['.', '=', ' ']).next().unwrap_or_default().replace('-', "_")
}

/// The digest of the packages from outside: the blocks of the lock file with a source.
fn outside(lock: &Path) -> u128 {
    let text = watched(lock);
    let blocks = text.split("[[package]]").filter(|block| block.contains("\nsource = "));
    hash(blocks.collect::<Vec<_>>().concat().as_bytes())
}

/// The digest of a crate's own files: manifest, sources and what these include as text.
fn digest(root: &Path, folder: &Path) -> u128 {
    let mut files = rust_files(&folder.join("src"));
    files.push(folder.join("Cargo.toml"));
    let mut all = String::new();
    for file in &files {
        let text = read(file);
        let named = file.strip_prefix(root).unwrap_or(file).display();
        let _ = write!(all, "{named}\n{}\n{text}", text.len());
        for part in text.split("include_str!(\"").skip(1) {
            let beside = file.with_file_name(part.split('"').next().unwrap_or_default());
            all.push_str(&watched(&beside));
        }
    }
    hash(all.as_bytes())
}

/// The Rust files below a folder, in order.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(&next).unwrap_or_else(|e| panic!("{}: {e}", next.display()));
        for path in entries.map(|entry| entry.expect("a name in a folder").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Those of `names` that a text has as the first word of a path, `name::`.
fn words_before_colons(text: &str, names: &BTreeSet<String>) -> BTreeSet<String> {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = BTreeSet::new();
    for before in text.split("::") {
        let start = before.trim_end_matches(part_of_word).len();
        found.extend(names.get(&before[start..]).cloned());
    }
    found
}

/// The files of this crate that one of them uses; all where that cannot be seen.
fn modules_used(text: &str, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let paths = text.split("crate::").skip(1);
    let named: Option<BTreeSet<String>> = paths
        .map(|path| path.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
        .map(|name| name.and_then(|name| modules.get(name).cloned()))
        .collect();
    if text.contains("super::") { modules.clone() } else { named.unwrap_or(modules.clone()) }
}

/// The files of this crate with methods of the classes that a text defines: whoever is given an
/// object of a class can call them.
fn methods_elsewhere<'a>(
    text: &str,
    texts: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = String> + use<'a> {
    let classes = names_after(text, "#[pyclass", "pub struct ");
    let has = move |text: &str| !names_after(text, "#[pymethods]", "impl ").is_disjoint(&classes);
    texts.iter().filter(move |(_, text)| has(text)).map(|(name, _)| name.clone())
}

/// The names in a text that follow `word` after each `mark`.
fn names_after(text: &str, mark: &str, word: &str) -> BTreeSet<String> {
    let name = |part: &str| {
        let (_, rest) = part.split_once(word)?;
        Some(rest.chars().take_while(char::is_ascii_alphanumeric).collect())
    };
    text.split(mark).skip(1).filter_map(name).collect()
}

/// The file of this crate behind each name that Python sees, as `lib.rs` adds them.
fn exported(lib: &str, modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut names = BTreeMap::new();
    for line in lib.lines().filter(|line| line.trim_start().starts_with("m.add")) {
        for (at, _) in line.match_indices("::") {
            let start = line[..at].trim_end_matches(part_of_word).len();
            let name: String = line[at + 2..].chars().take_while(|&c| part_of_word(c)).collect();
            if modules.contains(&line[start..at]) {
                names.insert(name, format!("py/{}", &line[start..at]));
            }
        }
    }
    names
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The text of a file outside of the folders that are watched as a whole.
fn watched(path: &Path) -> String {
    println!("cargo:rerun-if-changed={}", path.display());
    read(path)
}

/// FNV-1a of 128 bits: it distinguishes versions of a file, and need not resist forgery.
fn hash(bytes: &[u8]) -> u128 {
    const PRIME: u128 = (1 << 88) + 0x13b;
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    bytes.iter().fold(start, |so_far, &byte| (so_far ^ u128::from(byte)).wrapping_mul(PRIME))
}

/// `{"nodes": {name: [digest, [names used]]}, "names": {exported: node}}`; no name needs escaping.
fn json(nodes: &BTreeMap<String, DigestNode>, names: &BTreeMap<String, String>) -> String {
    let node = |(name, (digest, uses)): (&String, &DigestNode)| {
        let uses: Vec<String> = uses.iter().map(|name| format!("\"{name}\"")).collect();
        format!("\"{name}\":[\"{digest:032x}\",[{}]]", uses.join(","))
    };
    let nodes: Vec<String> = nodes.iter().map(node).collect();
    let names: Vec<String> = names.iter().map(|(k, v)| format!("\"{k}\":\"{v}\"")).collect();
    format!("{{\"nodes\":{{{}}},\"names\":{{{}}}}}", nodes.join(","), names.join(","))
}
