//! A reader of Python source, as far as needed: the rooms (folders) of the package, and all
//! imports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::outside::read;

/// Folder of the package.
pub(crate) const PACKAGE: &str = "python/flyloom";
/// Name of the package.
const NAME: &str = "flyloom";
/// The compiled module: it is no file of the package, and every file may import it.
const CORE: &str = "flyloom._core";

/// An import of a file of the package by another.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileImport {
    /// Module that imports, as in `flyloom.cli.common`.
    pub(crate) from: String,
    /// Line of the statement.
    pub(crate) line: usize,
    /// Module that is imported.
    pub(crate) to: String,
}

/// The Python package: its files, and what they import of each other.
pub(crate) struct PythonPackage {
    /// Path from the root and text of every module, by its dotted name.
    pub(crate) files: BTreeMap<String, (String, String)>,
    /// All imports, also those inside functions and for types alone, by file and line.
    pub(crate) imports: Vec<FileImport>,
}

impl PythonPackage {
    /// Reads the package under `root`.
    ///
    /// # Errors
    /// A file or folder that cannot be read.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut texts = BTreeMap::new();
        for path in python_files(&root.join(PACKAGE))? {
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            texts.insert(name, read(&path)?);
        }
        Ok(Self::of(texts))
    }

    /// The package of files with these paths and texts.
    pub(crate) fn of(texts: BTreeMap<String, String>) -> Self {
        let files: BTreeMap<_, _> =
            texts.into_iter().map(|(path, text)| (module(&path), (path, text))).collect();
        let mut imports = Vec::new();
        for (from, (path, text)) in &files {
            for (line, to, names) in statements(text, &home(from, path)) {
                for to in targets(&to, &names, |name| files.contains_key(name)) {
                    if to != CORE {
                        imports.push(FileImport { from: from.clone(), line, to });
                    }
                }
            }
        }
        imports.sort();
        imports.dedup();
        Self { files, imports }
    }
}

/// The room of a module: its folder in the package; a file beside the folders is a room of its own,
/// and so is the package's own file.
pub(crate) fn room(module: &str) -> &str {
    module.split('.').nth(1).unwrap_or(NAME)
}

fn python_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            found.extend(python_files(&path)?);
        } else if path.extension().is_some_and(|e| e == "py") {
            found.push(path);
        }
    }
    Ok(found)
}

/// The dotted name of the module in a file: `python/flyloom/cli/__init__.py` is `flyloom.cli`.
fn module(path: &str) -> String {
    let inside = path.strip_prefix("python/").unwrap_or(path);
    let stem = inside.strip_suffix(".py").unwrap_or(inside);
    stem.strip_suffix("/__init__").unwrap_or(stem).replace('/', ".")
}

/// The package that relative imports of a module start from.
fn home(module: &str, path: &str) -> String {
    if path.ends_with("/__init__.py") {
        return module.to_owned();
    }
    module.rsplit_once('.').map_or(module, |(home, _)| home).to_owned()
}

/// The modules of the package that `from to import names` or `import to` loads.
fn targets(to: &str, names: &[String], known: impl Fn(&str) -> bool) -> Vec<String> {
    if to != NAME && !to.starts_with("flyloom.") {
        return Vec::new();
    }
    if names.is_empty() {
        return vec![to.to_owned()];
    }
    let full = |name: &String| {
        let full = format!("{to}.{name}");
        if full == CORE || known(&full) { full } else { to.to_owned() }
    };
    names.iter().map(full).collect()
}

/// Every import statement: line, absolute module, and the names that are taken from it.
fn statements(text: &str, home: &str) -> Vec<(usize, String, Vec<String>)> {
    let mut found = Vec::new();
    for (line, statement) in logical_lines(&mask(text)) {
        let words = statement.trim();
        if let Some(rest) = words.strip_prefix("import ") {
            for part in rest.split(',') {
                found.push((line, first_word(part), Vec::new()));
            }
        } else if let Some((source, names)) =
            words.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
        {
            let names = names.trim().trim_start_matches('(').trim_end_matches(')');
            let names = names.split(',').map(first_word).filter(|n| !n.is_empty()).collect();
            found.push((line, absolute(source.trim(), home), names));
        }
    }
    found
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

/// The module that `source` names in a file of the package `home`: each dot after the first is one
/// package up.
fn absolute(source: &str, home: &str) -> String {
    let rest = source.trim_start_matches('.');
    let dots = source.len() - rest.len();
    if dots == 0 {
        return source.to_owned();
    }
    let parts: Vec<&str> = home.split('.').collect();
    let kept = parts.len().saturating_sub(dots - 1);
    let up = parts[..kept].join(".");
    if rest.is_empty() { up } else { format!("{up}.{rest}") }
}

/// Statements with the number of their first line: lines joined inside brackets and after a
/// backslash, and parted at semicolons.
fn logical_lines(masked: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut depth, mut goes_on) = (0_usize, false);
    for (n, line) in masked.lines().enumerate() {
        let code = line.trim_end();
        let (code, continues) = match code.strip_suffix('\\') {
            Some(code) => (code, true),
            None => (code, false),
        };
        if depth > 0 || goes_on {
            if let Some((_, text)) = found.last_mut() {
                text.push(' ');
                text.push_str(code.trim_start());
            }
        } else {
            found.extend(code.split(';').map(|part| (n + 1, part.to_owned())));
        }
        goes_on = continues;
        for c in code.chars() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    found
}

/// `text` without comments and without the contents of strings; every line keeps its number.
fn mask(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => string_end(rest, c),
            _ => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        out.extend(rest[..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    out
}

/// Where the string that `text` begins with ends.
fn string_end(text: &str, quote: char) -> usize {
    let triple = quote.to_string().repeat(3);
    let mark = if text.starts_with(&triple) { triple } else { quote.to_string() };
    let mut at = mark.len();
    while at < text.len() {
        if text[at..].starts_with(&mark) {
            return at + mark.len();
        }
        let c = text[at..].chars().next().unwrap_or(' ');
        at += c.len_utf8();
        if c == '\\' {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn package(files: &[(&str, &str)]) -> PythonPackage {
        let texts = files.iter().map(|(p, t)| (format!("{PACKAGE}/{p}"), (*t).to_owned()));
        PythonPackage::of(texts.collect())
    }

    fn edges(files: &[(&str, &str)]) -> Vec<(usize, String)> {
        package(files).imports.into_iter().map(|i| (i.line, i.to)).collect()
    }

    #[test]
    fn every_form_of_import_is_read() {
        let text = "\
\"\"\"Says: import flyloom.no and

from flyloom import no
\"\"\"
import os, flyloom.b.two as two
from flyloom import b  # from flyloom import no
from flyloom.b import (
    two,  # a file
    Thing as Other,
)
from flyloom._core import Topology
from . import c
from .b.two import x
def f():
    text = 'import flyloom.no'
    from flyloom.b \\
        import two
    if TYPE_CHECKING: pass; from flyloom import c
";
        let found = edges(&[
            ("__init__.py", ""),
            ("a.py", text),
            ("b/__init__.py", ""),
            ("b/two.py", ""),
            ("c.py", ""),
        ]);
        let wanted = [
            (5, "flyloom.b.two"),
            (6, "flyloom.b"),
            (7, "flyloom.b"),
            (7, "flyloom.b.two"),
            (12, "flyloom.c"),
            (13, "flyloom.b.two"),
            (16, "flyloom.b.two"),
            (18, "flyloom.c"),
        ];
        let wanted: Vec<_> = wanted.iter().map(|(n, m)| (*n, (*m).to_owned())).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn relative_imports_start_from_the_package_of_the_file() {
        let rows = [
            ("b/__init__.py", "from .two import x", "flyloom.b.two"),
            ("b/one.py", "from .two import x", "flyloom.b.two"),
            ("b/one.py", "from ..c import x", "flyloom.c"),
            ("b/one.py", "from .. import c", "flyloom.c"),
            ("c.py", "from .b import two", "flyloom.b.two"),
        ];
        for (path, text, to) in rows {
            let mut files =
                vec![("b/__init__.py", ""), ("b/one.py", ""), ("b/two.py", ""), ("c.py", "")];
            files.retain(|(p, _)| *p != path);
            files.push((path, text));
            assert_eq!(edges(&files), [(1, to.to_owned())], "{path}: {text}");
        }
    }

    #[test]
    fn names_of_a_lazy_package_are_imports_of_its_file() {
        let files =
            [("__init__.py", ""), ("a.py", "from flyloom import throughput\nimport json\n")];
        assert_eq!(edges(&files), [(1, "flyloom".to_owned())]);
    }

    #[test]
    fn strings_and_comments_are_no_code() {
        assert_eq!(mask("a = 'x' # y\nb = \"\"\"m\n'n\"\"\" + r'\\'' c"), "a =  \nb = \n + r c");
        assert_eq!(mask("'it\\'s' d 'open"), " d ");
    }

    #[test]
    fn rooms_are_folders_or_files_beside_them() {
        assert_eq!(room("flyloom.cli.common"), "cli");
        assert_eq!(room("flyloom.cli"), "cli");
        assert_eq!(room("flyloom.search"), "search");
        assert_eq!(room("flyloom"), "flyloom");
    }
}
