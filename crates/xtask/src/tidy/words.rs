//! Words that are refused in names, comments, messages and pages: known ones may shrink, new ones
//! are findings.
//!
//! The field has a better word for each, or the sentence is plainer without it. STYLE.md says so to
//! people.

use std::collections::BTreeMap;

use super::finding::RuleViolation;

/// What is refused, and what to say instead. The list may only grow.
const REFUSED: &[(&[&str], &str)] = &[
    (&["way"], "path, route, hop, direction"),
    (&["ways"], "paths, routes, hops, directions"),
    (&["circle"], "cycle"),
    (&["circles"], "cycles"),
    (&["birth"], "injection"),
    (&["births"], "injections"),
    (&["born"], "injected, made"),
    (&["dealt"], "assigned, drawn"),
    (&["for", "ever"], "without end, unbounded"),
    (&["told"], "reported, given"),
    (&["mend"], "repair, correct"),
    (&["mends"], "repairs, corrects"),
    (&["mended"], "repaired, corrected"),
    (&["mending"], "repairing, correcting"),
    (&["so", "many"], "the number, `N` of them"),
];

/// How a comment must not begin.
const OPENINGS: &[&[&str]] = &[&["of"], &["the", "same", "where"], &["of", "those"]];

/// The rooms that still have some, and how many. The list may only shrink.
const KNOWN: &[(&str, usize)] = &[
    ("changes", 3),
    ("crates/conformance", 3),
    ("crates/flit", 3),
    ("crates/formats", 5),
    ("crates/lab", 5),
    ("crates/mapping", 1),
    ("crates/measure", 1),
    ("crates/packet", 3),
    ("crates/plan", 1),
    ("crates/py", 1),
    ("crates/traffic", 4),
    ("data", 5),
    ("docs", 11),
    ("python", 19),
    ("runtime", 1),
    ("tests", 23),
];

/// Files that may hold refused words: those of papers, programs and licences, generated ones, and
/// the lists of these words.
const OTHERS: &[&str] = &[
    "CHANGELOG.md",
    "STYLE.md",
    "crates/xtask/src/tidy/words.rs",
    "docs/glossary.md",
    "docs/json-reference.md",
    "docs/parts-reference.md",
    "tests/data/",
    "tests/published/",
];

/// A refused word: where it is, and what to say instead.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefusedWord {
    line: usize,
    what: String,
}

/// The refused words of the file `name` with text `body`.
pub(super) fn uses(name: &str, body: &str) -> Vec<RefusedWord> {
    if OTHERS.iter().any(|other| name.starts_with(other)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut before = None;
    for (n, line) in body.lines().enumerate() {
        let words = words_of(line);
        for (refused, instead) in REFUSED {
            let count = words.windows(refused.len()).filter(|run| begins(run, refused)).count();
            for _ in 0..count {
                let what = format!("`{}`: {instead}", refused.join(" "));
                found.push(RefusedWord { line: n + 1, what });
            }
        }
        let here = comment(name, line);
        if before.is_none_or(str::is_empty)
            && let Some(words) = here.map(words_of)
            && let Some(opening) = OPENINGS.iter().find(|opening| begins(&words, opening))
        {
            let what = format!("a comment that begins with `{}`: a sentence", opening.join(" "));
            found.push(RefusedWord { line: n + 1, what });
        }
        before = here;
    }
    found
}

/// The words of a line in small letters. Names are taken apart at `_` and at capitals. A word
/// behind a hyphen is part of a term, as in "k-way".
fn words_of(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in line.chars() {
        let continues = before.is_alphabetic() && !(before.is_lowercase() && c.is_uppercase());
        if c.is_alphabetic() {
            match words.last_mut() {
                Some(word) if continues || before == '-' && !word.is_empty() => {
                    word.extend(c.to_lowercase());
                }
                _ => words.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    words
}

fn begins(words: &[String], opening: &[&str]) -> bool {
    words.len() >= opening.len() && words.iter().zip(opening).all(|(word, other)| word == other)
}

/// The text of a comment on this line of code.
fn comment<'a>(name: &str, line: &'a str) -> Option<&'a str> {
    let text = line.trim_start();
    let marks: &[&str] = if std::path::Path::new(name).extension().is_some_and(|end| end == "py") {
        &["# ", "\"\"\""]
    } else {
        &["///", "//!", "//", "/* "]
    };
    let is_code = super::text::is_code(name);
    marks.iter().filter(|_| is_code).find_map(|mark| text.strip_prefix(mark)).map(str::trim)
}

/// The room that a file's uses are counted in: a crate, or the folder at the top.
fn room(name: &str) -> String {
    let depth = if name.starts_with("crates/") { 2 } else { 1 };
    let parts: Vec<&str> = name.split('/').collect();
    if parts.len() <= depth { ".".into() } else { parts[..depth].join("/") }
}

/// The findings among the uses of all files: those of rooms that have more than is known.
pub(super) fn judged(all: &[(String, Vec<RefusedWord>)]) -> Vec<RuleViolation> {
    by(all, KNOWN)
}

fn by(all: &[(String, Vec<RefusedWord>)], known: &[(&str, usize)]) -> Vec<RuleViolation> {
    let mut rooms: BTreeMap<String, Vec<RuleViolation>> = BTreeMap::new();
    for (name, uses) in all {
        let of_room = rooms.entry(room(name)).or_default();
        of_room.extend(uses.iter().map(|one| RuleViolation::new(name, one.line, &one.what)));
    }
    let mut findings = Vec::new();
    for (room, uses) in &rooms {
        let allowed = known.iter().find(|(name, _)| name == room).map_or(0, |row| row.1);
        if uses.len() > allowed && allowed == 0 {
            findings.extend(uses.iter().cloned());
        } else if uses.len() != allowed {
            let what = format!(
                "{} refused words; KNOWN of tidy/words.rs has {allowed}, which may only shrink",
                uses.len()
            );
            findings.push(RuleViolation::new(room, 0, what));
        }
    }
    for (name, _) in known.iter().filter(|(name, _)| !rooms.contains_key(*name)) {
        findings.push(RuleViolation::new(name, 0, "no refused words any more: change KNOWN"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(body: &str) -> Vec<usize> {
        uses("crates/a/src/b.rs", body).iter().map(|one| one.line).collect()
    }

    #[test]
    fn names_and_sentences_are_taken_apart() {
        assert_eq!(lines("let all_ways = ShortWay::new();"), [1, 1]);
        assert_eq!(lines("// This lasts for ever,\n// and so many times."), [1, 2]);
        assert_eq!(lines("// a k-way split, always anyway"), [] as [usize; 0]);
        assert_eq!(lines("let retold = toldest;"), [] as [usize; 0]);
    }

    #[test]
    fn a_comment_does_not_begin_so() {
        assert_eq!(lines("/// Of UGAL the path.\nlet a = 1;"), [1]);
        assert_eq!(lines("/// The entry\n/// of a table."), [] as [usize; 0]);
    }

    #[test]
    fn known_ones_may_only_shrink() {
        let all = |count: usize| {
            let uses = (0..count).map(|line| RefusedWord { line, what: "x".into() }).collect();
            [("crates/a/src/b.rs".to_owned(), uses)]
        };
        let known: &[(&str, usize)] = &[("crates/a", 2)];
        assert!(by(&all(2), known).is_empty());
        assert_eq!(by(&all(3), known).len(), 1);
        assert_eq!(by(&all(1), known).len(), 1);
        assert_eq!(by(&all(3), &[]).len(), 3);
        assert_eq!(by(&[], known).len(), 1);
    }
}
