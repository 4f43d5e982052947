//! `cargo xtask gen`: the registry tables in `lib.rs`, then what follows from the compiled table.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::outside::{cargo, output, read, rust_files};
use crate::{reference, sheet, source};

/// The lines around the generated part of a file: in Rust; then in Markdown.
const RUST: GeneratedMarks = ("// gen:begin", "// gen:end");
const TEXT: GeneratedMarks = ("<!-- gen:begin -->", "<!-- gen:end -->");
/// The two lines around the generated part of a file.
type GeneratedMarks = (&'static str, &'static str);

/// The mode of `gen`: whether it rewrites stale files or reports them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum GenerateMode {
    /// Rewrite.
    Write,
    /// Report, and fail when anything is stale.
    Check,
}

/// A folder whose files each add types with one trait to one table.
struct TraitTableFolder {
    /// Folder of the members, relative to the root; its `lib.rs` holds the marks.
    folder: &'static str,
    /// Name of the trait the members implement.
    implements: &'static str,
    /// Name of the generated static.
    table: &'static str,
    /// Name of the type of its rows.
    row: &'static str,
}

const REGISTRIES: &[TraitTableFolder] = &[
    TraitTableFolder {
        folder: "crates/families/src",
        implements: "Family",
        table: "FAMILIES",
        row: "FamilyEntry",
    },
    TraitTableFolder {
        folder: "crates/engines/src",
        implements: "Engine",
        table: "ENGINES",
        row: "EngineEntry",
    },
];

/// A folder whose files each have a row of one table, as the constant `ENTRY`.
struct TableRowFolder {
    /// Folder of the members, relative to the root; its `mod.rs` holds the marks.
    folder: &'static str,
    /// What the members are, in the plural.
    what: &'static str,
    /// The declaration of the generated table.
    table: &'static str,
    /// Whether modules are public, as others use more of them than their rows.
    open: bool,
}

const LISTED: &[TableRowFolder] = &[
    TableRowFolder {
        folder: "crates/mapping/src/method",
        what: "steps of mappings",
        table: "pub static METHODS: &[MappingMethodEntry]",
        open: false,
    },
    TableRowFolder {
        folder: "crates/formats/src/communication",
        what: "formats of communication graphs",
        table: "pub static FORMATS: &[CommunicationFormat]",
        open: false,
    },
    TableRowFolder {
        folder: "crates/formats/src/counters",
        what: "formats of port counters",
        table: "pub static FORMATS: &[CounterFormat]",
        open: false,
    },
    TableRowFolder {
        folder: "crates/formats/src/export",
        what: "formats that networks are written in",
        table: "pub static FORMATS: &[ExportFormatEntry]",
        open: false,
    },
    TableRowFolder {
        folder: "crates/formats/src/graph_file",
        what: "formats that networks are read from",
        table: "pub static FORMATS: &[GraphFileFormat]",
        open: true,
    },
    TableRowFolder {
        folder: "crates/formats/src/trace",
        what: "formats of workloads",
        table: "pub static FORMATS: &[TraceFormat]",
        open: true,
    },
    TableRowFolder {
        folder: "crates/traffic/src/pattern",
        what: "patterns",
        table: "const ENTRIES: &[PatternKindEntry]",
        open: false,
    },
    TableRowFolder {
        folder: "crates/traffic/src/placement",
        what: "placements",
        table: "pub static PLACEMENTS: &[PlacementMethodEntry]",
        open: false,
    },
    TableRowFolder {
        folder: "crates/traffic/src/workload/application",
        what: "applications",
        table: "pub const APPLICATIONS: &[ApplicationEntry]",
        open: false,
    },
    TableRowFolder {
        folder: "crates/traffic/src/workload/collective",
        what: "algorithms of collective operations",
        table: "pub const ALGORITHMS: &[CollectiveAlgorithmEntry]",
        open: false,
    },
];

/// The folder of the models of packets. These run in the innermost loop, so that they are not a
/// table of rows but a list from which a macro makes types.
const MODELS: &str = "crates/packet/src/models";

/// The folder of selections, from whose list a macro makes an enum.
const SELECTIONS: &str = "crates/paths/src/select";

/// Folders of which every measure is a module of its own.
const MEASURES: &[&str] = &["crates/measure/src/load", "crates/measure/src/structure"];

/// The table of measures, and the crates that they stand in.
const STAGE_TABLE: &str = "crates/lab/src/stages.rs";
const STAGE_CRATES: &[&str] = &["engines", "measure", "plan", "verify"];

/// The table of formats of companion files, and the crate whose constants are its rows.
const COMPANION_TABLE: &str = "crates/formats/src/companion/mod.rs";
const COMPANION_CRATE: &str = "formats";

/// The folder of the Python package that has the verbs.
const VERBS: &str = "python/flyloom/verbs";

/// Folder of the catalogues that come with flyloom, and the file that lists them.
const CATALOGS: &str = "data/catalogs";
const CATALOG_TABLE: &str = "crates/plan/src/catalog.rs";

/// A member of a folder: the module it lives in and its type.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TraitImplementor {
    module: String,
    name: String,
}

/// Runs the whole generation. Returns a line to print, or what is wrong: in `Check` mode the
/// stale files, in both modes unreadable sources, missing marks or an empty registry.
pub(crate) fn run(root: &Path, mode: GenerateMode) -> Result<String, String> {
    let mut stale = Vec::new();
    for registry in REGISTRIES {
        let path = root.join(registry.folder).join("lib.rs");
        let members = members(&root.join(registry.folder), registry.implements)?;
        let now = read(&path)?;
        let fresh = splice(&now, RUST, &block(registry, &members))
            .map_err(|why| format!("{}/lib.rs: {why}", registry.folder))?;
        settle(&path, &fresh, mode, &mut stale)?;
    }
    for listed in LISTED {
        let path = root.join(listed.folder).join("mod.rs");
        let fresh = splice(&read(&path)?, RUST, &listed.block(root)?)
            .map_err(|why| format!("{}/mod.rs: {why}", listed.folder))?;
        settle(&path, &fresh, mode, &mut stale)?;
    }
    let path = root.join(MODELS).join("mod.rs");
    let fresh = splice(&read(&path)?, RUST, &models(&root.join(MODELS))?)
        .map_err(|why| format!("{MODELS}/mod.rs: {why}"))?;
    settle(&path, &fresh, mode, &mut stale)?;
    let path = root.join(SELECTIONS).join("mod.rs");
    let fresh = splice(&read(&path)?, RUST, &selections(&root.join(SELECTIONS))?)
        .map_err(|why| format!("{SELECTIONS}/mod.rs: {why}"))?;
    settle(&path, &fresh, mode, &mut stale)?;
    for folder in MEASURES {
        let path = root.join(folder).join("mod.rs");
        let modules = modules(&members(&root.join(folder), "ExperimentStage")?);
        let fresh = splice(&read(&path)?, RUST, &modules)
            .map_err(|why| format!("{folder}/mod.rs: {why}"))?;
        settle(&path, &fresh, mode, &mut stale)?;
    }
    let path = root.join(STAGE_TABLE);
    let fresh = splice(&read(&path)?, RUST, &stages(root)?)
        .map_err(|why| format!("{STAGE_TABLE}: {why}"))?;
    settle(&path, &fresh, mode, &mut stale)?;
    let path = root.join(COMPANION_TABLE);
    let fresh = splice(&read(&path)?, RUST, &companions(root)?)
        .map_err(|why| format!("{COMPANION_TABLE}: {why}"))?;
    settle(&path, &fresh, mode, &mut stale)?;
    let path = root.join(CATALOG_TABLE);
    let fresh = splice(&read(&path)?, RUST, &catalogs(&root.join(CATALOGS))?)
        .map_err(|why| format!("{CATALOG_TABLE}: {why}"))?;
    settle(&path, &fresh, mode, &mut stale)?;
    let path = root.join(sheet::FILE);
    let fresh = splice(&read(&path)?, TEXT, &sheet::text(root)?)
        .map_err(|why| format!("{}: {why}", sheet::FILE))?;
    settle(&path, &fresh, mode, &mut stale)?;
    // The compiled table is worth asking only when it is fresh.
    if stale.is_empty() || mode == GenerateMode::Write {
        let json = output(root, &cargo(), REGISTRY_DUMP)?;
        for (name, fresh) in reference::files(&json, &verbs(root)?)? {
            settle(&root.join(name), &fresh, mode, &mut stale)?;
        }
    }
    report(root, mode, &stale)
}

const REGISTRY_DUMP: &[&str] = &["run", "-q", "-p", "flyloom-lab", "--example", "registry"];

/// Compares a file with its fresh text; notes it when stale and, in `Write` mode, writes it.
fn settle(
    path: &Path,
    fresh: &str,
    mode: GenerateMode,
    stale: &mut Vec<PathBuf>,
) -> Result<(), String> {
    if std::fs::read_to_string(path).is_ok_and(|now| now == fresh) {
        return Ok(());
    }
    stale.push(path.to_owned());
    match mode {
        GenerateMode::Check => Ok(()),
        GenerateMode::Write => {
            std::fs::write(path, fresh).map_err(|e| format!("{}: {e}", path.display()))
        }
    }
}

fn report(root: &Path, mode: GenerateMode, stale: &[PathBuf]) -> Result<String, String> {
    let mut text = String::new();
    for path in stale {
        let name = path.strip_prefix(root).unwrap_or(path).display();
        let word = if mode == GenerateMode::Check { "stale" } else { "wrote" };
        let _ = writeln!(text, "gen: {word} {name}");
    }
    match mode {
        GenerateMode::Check if !stale.is_empty() => Err(text + "gen: run `cargo xtask gen`"),
        _ if stale.is_empty() => Ok("gen: everything is fresh".to_owned()),
        _ => Ok(text.trim_end().to_owned()),
    }
}

impl TableRowFolder {
    /// The text between the marks: the modules, then the table.
    fn block(&self, root: &Path) -> Result<String, String> {
        let modules = with_entry(&root.join(self.folder))?;
        let word = if self.open { "pub mod " } else { "mod " };
        let declared = modules.iter().fold(String::new(), |text, name| text + word + name + ";\n");
        let rows = modules.iter().map(|module| format!("{module}::ENTRY"));
        let what = format!("All {}, by file", self.what);
        Ok(declared + "\n" + &table(&what, self.table, rows))
    }
}

/// The modules of a folder whose files have a constant `ENTRY`, in order.
fn with_entry(folder: &Path) -> Result<Vec<String>, String> {
    let mut modules = Vec::new();
    for (module, file) in files_of(folder)? {
        if source::has_const(&parsed(&file)?, "ENTRY") {
            modules.push(module);
        }
    }
    if modules.is_empty() {
        return Err(format!("{}: no file has a constant `ENTRY`", folder.display()));
    }
    Ok(modules)
}

/// A line `mod NAME;` for each module.
fn declared(modules: &[String]) -> String {
    modules.iter().fold(String::new(), |text, name| text + "mod " + name + ";\n")
}

/// The modules of the models of packets, and the list that the macro of that folder takes.
fn models(folder: &Path) -> Result<String, String> {
    let modules = with_entry(folder)?;
    let mut text = declared(&modules);
    text += "\n// All models of packets besides our own, by file; written by `cargo xtask gen`.\n";
    text += "models! {\n";
    for module in &modules {
        let file = folder.join(module).with_extension("rs");
        let types = source::impls_of(&parsed(&file)?, "PacketPaths");
        let [paths] = types.as_slice() else {
            return Err(format!("{}: one type implements `PacketPaths`", file.display()));
        };
        let _ = writeln!(text, "    {}: {module}::{paths};", camel(module));
    }
    Ok(text + "}\n")
}

/// The modules of the selections, and the list that the macro of that folder takes.
fn selections(folder: &Path) -> Result<String, String> {
    let modules = with_entry(folder)?;
    let mut text = declared(&modules);
    text += "\n// All selections, by file; written by `cargo xtask gen`.\nselections! {\n";
    for module in &modules {
        let _ = writeln!(text, "    {}: {module};", camel(module));
    }
    Ok(text + "}\n")
}

/// The name of a type, from that of a module: `SlimFly` of `slim_fly`.
fn camel(module: &str) -> String {
    let word = |word: &str| word.chars().take(1).flat_map(char::to_uppercase).collect::<String>();
    module.split('_').map(|part| word(part) + part.get(1..).unwrap_or_default()).collect()
}

/// Every `x.rs` and `x/mod.rs` of a folder beside its own file, with the names of their modules, in
/// order.
fn files_of(folder: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned();
        let file = if path.is_dir() { path.join("mod.rs") } else { path };
        let is_rust = file.extension().is_some_and(|e| e == "rs");
        if !["lib", "mod"].contains(&stem.as_str()) && is_rust && file.is_file() {
            found.push((stem, file));
        }
    }
    found.sort();
    Ok(found)
}

/// The members of a folder, sorted by module, then type: every file beside its own that implements
/// the trait outside its tests.
fn members(folder: &Path, implements: &str) -> Result<Vec<TraitImplementor>, String> {
    let mut found = Vec::new();
    for (module, file) in files_of(folder)? {
        for name in source::impls_of(&parsed(&file)?, implements) {
            found.push(TraitImplementor { module: module.clone(), name });
        }
    }
    if found.is_empty() {
        return Err(format!("{}: no file implements `{implements}`", folder.display()));
    }
    found.sort();
    Ok(found)
}

/// The modules of members.
fn modules(members: &[TraitImplementor]) -> String {
    let mut modules: Vec<&str> = members.iter().map(|m| m.module.as_str()).collect();
    modules.dedup();
    modules.iter().fold(String::new(), |text, module| text + "pub mod " + module + ";\n")
}

/// The text between the marks: the modules, then the table.
fn block(registry: &TraitTableFolder, members: &[TraitImplementor]) -> String {
    let what = format!("Every `{}` of this folder, by file and name", registry.implements);
    let row = registry.row;
    let declared = format!("pub static {}: &[{row}]", registry.table);
    let rows = members
        .iter()
        .map(|TraitImplementor { module, name }| format!("{row}::of::<{module}::{name}>()"));
    modules(members) + "\n" + &table(&what, &declared, rows)
}

/// The text of a table: a comment that says `what` it has, its declaration `declared`, and its
/// `rows`.
fn table(what: &str, declared: &str, rows: impl Iterator<Item = String>) -> String {
    let mut text =
        format!("/// {what}; written by `cargo xtask gen`.\n#[rustfmt::skip]\n{declared} = &[\n");
    for row in rows {
        let _ = writeln!(text, "    {row},");
    }
    text + "];\n"
}

/// The verbs that are written by hand in Python: they replace the functions generated for measures.
fn verbs(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join(VERBS);
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|e| e == "py") {
            let text = read(&path)?;
            let names = text.lines().filter_map(|line| line.strip_prefix("def "));
            found.extend(names.filter_map(|rest| rest.split('(').next()).map(str::to_owned));
        }
    }
    found.sort();
    Ok(found)
}

/// The table of the measures: every file of [`STAGE_CRATES`] that implements `ExperimentStage`.
fn stages(root: &Path) -> Result<String, String> {
    let mut found = Vec::new();
    for name in STAGE_CRATES {
        for (module, file) in modules_of(root, name)? {
            for member in source::impls_of(&file, "ExperimentStage") {
                found.push(format!("{name}::{module}::{member}"));
            }
        }
    }
    found.sort();
    let rows = found.iter().map(|path| format!("StageEntry::of::<{path}>()"));
    Ok(table(
        "Every `ExperimentStage`, by crate and file",
        "pub static STAGES: &[StageEntry]",
        rows,
    ))
}

/// The table of the formats of companion files: every constant of type `CompanionFileFormat`.
fn companions(root: &Path) -> Result<String, String> {
    let mut rows = Vec::new();
    for (module, file) in modules_of(root, COMPANION_CRATE)? {
        for name in source::consts_of(&file, "CompanionFileFormat") {
            rows.push(format!("crate::{module}::{name}"));
        }
    }
    rows.sort();
    let what = "All formats of companion files, by file";
    Ok(table(what, "pub static FORMATS: &[CompanionFileFormat]", rows.into_iter()))
}

/// The files of a crate, parsed, each with the path of its module within the crate.
fn modules_of(root: &Path, name: &str) -> Result<Vec<(String, syn::File)>, String> {
    let top = root.join("crates").join(name).join("src");
    let mut found = Vec::new();
    for path in rust_files(&top)? {
        let inside = path.strip_prefix(&top).unwrap_or(&path).with_extension("");
        let module: Vec<String> = inside
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .filter(|part| part != "mod")
            .collect();
        found.push((module.join("::"), parsed(&path)?));
    }
    Ok(found)
}

/// Reads and parses a file of Rust.
fn parsed(path: &Path) -> Result<syn::File, String> {
    source::parse(&read(path)?).map_err(|why| format!("{}: {why}", path.display()))
}

/// The table of the catalogues in `folder`, by name.
fn catalogs(folder: &Path) -> Result<String, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            names.push(path.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned());
        }
    }
    names.sort();
    let rows = names.iter().map(|name| {
        let file = format!("../../../{CATALOGS}/{name}.toml");
        format!("({name:?}, include_str!({file:?}))")
    });
    let what = format!("The catalogues of `{CATALOGS}`, name and text");
    Ok(table(&what, "const BUILT_IN: &[(&str, &str)]", rows))
}

/// Puts `block` between the two marks of `text`; the marks' own lines stay as they are.
fn splice(text: &str, (begin, end): GeneratedMarks, block: &str) -> Result<String, String> {
    let place = |mark: &str| {
        let mut hits = text.match_indices(mark).filter(|(at, _)| {
            let head = text[..*at].rsplit('\n').next().unwrap_or_default();
            let tail = text[at + mark.len()..].split('\n').next().unwrap_or_default();
            head.is_empty() && tail.trim().is_empty()
        });
        match (hits.next(), hits.next()) {
            (Some((at, _)), None) => Ok(at),
            (None, _) => Err(format!("no line `{mark}`; it must hold one, for `cargo xtask gen`")),
            _ => Err(format!("more than one line `{mark}`")),
        }
    };
    let (from, to) = (place(begin)?, place(end)?);
    if to < from {
        return Err(format!("`{end}` stands before `{begin}`"));
    }
    Ok(format!("{}{begin}\n{block}{}", &text[..from], &text[to..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("flyloom-gen-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        for (file, text) in files {
            let path = dir.join(file);
            std::fs::create_dir_all(path.parent().expect("inside dir")).expect("temp dir");
            std::fs::write(path, text).expect("temp file");
        }
        dir
    }

    #[test]
    fn members_are_sorted_and_helpers_left_out() {
        let dir = folder(
            "members",
            &[
                ("lib.rs", "impl Family for NotAMember {}"),
                ("torus.rs", "impl Family for Torus {}\nimpl Family for Mesh {}"),
                ("helper.rs", "pub fn f() {}"),
                ("hyper_x/mod.rs", "impl Family for HyperX {}"),
                ("notes.txt", "impl Family for Text {}"),
            ],
        );
        let found = members(&dir, "Family").expect("readable");
        let names: Vec<String> =
            found.iter().map(|m| format!("{}::{}", m.module, m.name)).collect();
        assert_eq!(names, ["hyper_x::HyperX", "torus::Mesh", "torus::Torus"]);
        assert!(members(&dir, "Engine").expect_err("none").contains("no file implements `Engine`"));
        std::fs::remove_dir_all(dir).expect("temp dir goes");
    }

    #[test]
    fn block_names_each_module_once() {
        let member = |m: &str, n: &str| TraitImplementor { module: m.into(), name: n.into() };
        let text = block(&REGISTRIES[0], &[member("torus", "Mesh"), member("torus", "Torus")]);
        assert_eq!(text.matches("pub mod torus;").count(), 1);
        let mesh = text.find("FamilyEntry::of::<torus::Mesh>(),").expect("mesh");
        let torus = text.find("FamilyEntry::of::<torus::Torus>(),").expect("torus");
        assert!(text.find("FAMILIES: &[FamilyEntry]").expect("table") < mesh && mesh < torus);
    }

    #[test]
    fn files_with_an_entry_are_listed_and_helpers_left_out() {
        let dir = folder(
            "listed",
            &[
                ("all/mod.rs", "const ENTRY: Entry = no();"),
                ("all/shift.rs", "pub(super) const ENTRY: Entry = Entry { name: \"shift\" };"),
                ("all/places.rs", "fn f() { const ENTRY: u8 = 0; }"),
                ("all/bit/mod.rs", "pub(super) const ENTRY: Entry = e();"),
            ],
        );
        let listed = TableRowFolder {
            folder: "all",
            what: "patterns",
            table: "const ALL: &[Entry]",
            open: false,
        };
        let text = listed.block(&dir).expect("readable");
        assert!(text.starts_with("mod bit;\nmod shift;\n\n/// All patterns, by file;"), "{text}");
        assert!(
            text.ends_with("const ALL: &[Entry] = &[\n    bit::ENTRY,\n    shift::ENTRY,\n];\n")
        );
        std::fs::remove_dir_all(dir).expect("temp dir goes");
    }

    #[test]
    fn models_are_modules_and_names_of_types() {
        let entry = "pub(crate) const ENTRY: Entry = usual();";
        let model = |paths: &str| format!("{entry}\nimpl PacketPaths for {paths} {{}}");
        let (fly, b) = (model("FlyPaths"), model("BPaths"));
        let dir = folder("models", &[("slim_fly.rs", &fly), ("b.rs", &b), ("kind.rs", "")]);
        let text = models(&dir).expect("readable");
        assert!(text.starts_with("mod b;\nmod slim_fly;\n\n//"), "{text}");
        assert!(
            text.ends_with("models! {\n    B: b::BPaths;\n    SlimFly: slim_fly::FlyPaths;\n}\n"),
            "{text}"
        );
        std::fs::remove_dir_all(dir).expect("temp dir goes");
    }

    #[test]
    fn selections_are_modules_and_names_of_variants() {
        let entry = "pub(super) const ENTRY: PathSelectionEntry = usual();";
        let dir = folder("selections", &[("ugal_l.rs", entry), ("b.rs", entry), ("kind.rs", "")]);
        let text = selections(&dir).expect("readable");
        assert!(text.starts_with("mod b;\nmod ugal_l;\n\n//"), "{text}");
        assert!(text.ends_with("selections! {\n    B: b;\n    UgalL: ugal_l;\n}\n"), "{text}");
        std::fs::remove_dir_all(dir).expect("temp dir goes");
    }

    #[test]
    fn catalogues_are_listed_by_name() {
        let dir = folder("catalogs", &[("b.toml", ""), ("a-2014.toml", ""), ("notes.md", "")]);
        let text = catalogs(&dir).expect("readable");
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("include_str!")).collect();
        assert_eq!(rows.len(), 2);
        assert!(rows[0].contains(r#"("a-2014", include_str!("../../../data/catalogs/a-2014"#));
        std::fs::remove_dir_all(dir).expect("temp dir goes");
    }

    #[test]
    fn splice_replaces_only_the_block_and_settles() {
        let text = "head\n// gen:begin\nold\n// gen:end\ntail\n";
        let once = splice(text, RUST, "new\n").expect("marks are there");
        assert_eq!(once, "head\n// gen:begin\nnew\n// gen:end\ntail\n");
        assert_eq!(splice(&once, RUST, "new\n").expect("marks are there"), once);
    }

    #[test]
    fn splice_refuses_missing_double_and_swapped_marks() {
        for (text, part) in [
            ("// gen:begin\n", "no line `// gen:end`"),
            ("// gen:begin\n// gen:begin\n// gen:end\n", "more than one line `// gen:begin`"),
            ("// gen:end\n// gen:begin\n", "stands before"),
            ("//! says // gen:begin and // gen:end\n", "no line `// gen:begin`"),
        ] {
            let why = splice(text, RUST, "").expect_err(text);
            assert!(why.contains(part), "{why}");
        }
    }

    #[test]
    fn check_reports_and_leaves_the_file_alone() {
        let dir = folder("settle", &[("a.txt", "old")]);
        let (path, mut stale) = (dir.join("a.txt"), Vec::new());
        settle(&path, "new", GenerateMode::Check, &mut stale).expect("readable");
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "old");
        let why = report(&dir, GenerateMode::Check, &stale).expect_err("stale");
        assert!(why.contains("stale a.txt") && why.contains("run `cargo xtask gen`"), "{why}");
        settle(&path, "new", GenerateMode::Write, &mut Vec::new()).expect("writable");
        let mut none = Vec::new();
        settle(&path, "new", GenerateMode::Check, &mut none).expect("readable");
        assert!(none.is_empty() && report(&dir, GenerateMode::Check, &none).is_ok());
        std::fs::remove_dir_all(dir).expect("temp dir goes");
    }
}
