//! Just enough reading of Rust source: code without comments and strings, and where tests lie.

/// The same text with the contents of comments, strings and character literals replaced by
/// spaces. Every line keeps its number and every byte its place, so that a hit in the masked
/// text is a hit in code. O(length).
///
/// Knows line and nested block comments, plain, byte, C and raw strings, characters and lifetimes.
pub(crate) fn mask(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => line_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => block_end(bytes, at),
            b'"' => string_end(bytes, at),
            b'r' if !is_word(bytes, at.wrapping_sub(1)) || starts_byte_raw(bytes, at) => {
                raw_end(bytes, at)
            }
            b'\'' => char_end(bytes, at),
            _ => at + 1,
        };
        if end > at + 1 {
            for b in &mut out[at..end] {
                if *b != b'\n' {
                    *b = b' ';
                }
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8(out).expect("whole literals are replaced by ASCII, so UTF-8 stays intact")
}

fn is_word(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

/// The `r` of `br"..."` or `cr"..."` follows a letter, and only that letter.
fn starts_byte_raw(bytes: &[u8], at: usize) -> bool {
    at > 0 && matches!(bytes[at - 1], b'b' | b'c') && !is_word(bytes, at.wrapping_sub(2))
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| from + n)
}

fn block_end(bytes: &[u8], from: usize) -> usize {
    let (mut depth, mut at) = (0, from);
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'*')) => (depth, at) = (depth + 1, at + 2),
            (b'*', Some(b'/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of `r"..."` or `r#"..."#`; `from + 1` when no raw string starts here.
fn raw_end(bytes: &[u8], from: usize) -> usize {
    let hashes = bytes[from + 1..].iter().take_while(|b| **b == b'#').count();
    let open = from + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return from + 1;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let rest = &bytes[open + 1..];
    rest.windows(close.len())
        .position(|w| w == close)
        .map_or(bytes.len(), |n| open + 1 + n + close.len())
}

/// The end of a character literal; `from + 1` for a lifetime.
fn char_end(bytes: &[u8], from: usize) -> usize {
    if bytes.get(from + 1) == Some(&b'\\') {
        let close = bytes[(from + 3).min(bytes.len())..].iter().position(|b| *b == b'\'');
        return close.map_or(bytes.len(), |n| from + 3 + n + 1);
    }
    // One character of one to four bytes, then the closing quote.
    let width = match bytes.get(from + 1) {
        Some(b) if *b >= 0xF0 => 4,
        Some(b) if *b >= 0xE0 => 3,
        Some(b) if *b >= 0xC0 => 2,
        _ => 1,
    };
    if bytes.get(from + 1 + width) == Some(&b'\'') { from + width + 2 } else { from + 1 }
}

/// For every line of a masked text, whether it belongs to an item under `#[cfg(test)]`
/// (attribute, head and body). O(length).
pub(crate) fn test_lines(masked: &str) -> Vec<bool> {
    let mut marks = vec![false; masked.lines().count()];
    let line_of = |at: usize| masked[..at].matches('\n').count();
    for (at, _) in masked.match_indices("#[cfg(test)]") {
        let rest = &masked[at..];
        let end = at + item_end(rest);
        for mark in &mut marks[line_of(at)..=line_of(end.min(masked.len() - 1))] {
            *mark = true;
        }
    }
    marks
}

/// Length of the item at the start of `rest`: up to its closing brace, or its `;` when that
/// comes before any brace.
fn item_end(rest: &str) -> usize {
    let mut depth = 0usize;
    for (n, c) in rest.char_indices() {
        match c {
            ';' if depth == 0 => return n,
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return n;
                }
            }
            _ => {}
        }
    }
    rest.len()
}

/// The types `X` of every `impl [path::]NAME for X` in a masked text outside tests, in order.
pub(crate) fn impls_of(masked: &str, name: &str) -> Vec<String> {
    let tests = test_lines(masked);
    let mut found = Vec::new();
    for (at, _) in masked.match_indices("impl ") {
        let line = masked[..at].matches('\n').count();
        let starts = masked[..at].rsplit('\n').next().is_some_and(|s| s.trim().is_empty());
        if !starts || tests[line] {
            continue;
        }
        let mut words = masked[at + 5..].split_whitespace();
        let path = words.next().unwrap_or_default();
        if path.rsplit("::").next() == Some(name) && words.next() == Some("for") {
            let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
            let who: String =
                words.next().unwrap_or_default().chars().take_while(is_name).collect();
            if !who.is_empty() {
                found.push(who);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mask_keeps_code_and_places() {
        let text =
            "let a = \"x.unwrap()\"; // y.unwrap()\nlet b = 'q'; /* a /* b */ c */ d(\"é\")\n";
        let masked = mask(text);
        assert_eq!(masked.len(), text.len());
        assert!(!masked.contains("unwrap"));
        assert!(masked.contains("let a =") && masked.contains("let b ="));
        assert!(masked.contains("d(") && !masked.contains('c') && !masked.contains('q'));
    }

    #[test]
    fn mask_knows_raw_strings_lifetimes_and_escapes() {
        let text =
            r##"fn f<'a>(x: &'a str) { r#"say "FIRE" "#, br"no", '\'', '"', "\"END"; kept }"##;
        let masked = mask(text);
        for gone in ["FIRE", "no", "END", "say"] {
            assert!(!masked.contains(gone), "{gone} survived: {masked}");
        }
        assert!(masked.contains("fn f<'a>(x: &'a str)") && masked.ends_with("kept }"));
    }

    #[test]
    fn mask_survives_unfinished_text() {
        for text in ["\"", "'", "'\\", "/*", "r#\"", "r#", "b'", "\"\\"] {
            assert_eq!(mask(text).len(), text.len());
        }
    }

    #[test]
    fn test_items_end_where_their_brace_does() {
        let text = "fn a() {}\n#[cfg(test)]\nmod t {\n  fn b() {}\n}\nfn c() {}\n\
                    #[cfg(test)]\nuse x;\nfn d() {}\n";
        let want = [false, true, true, true, true, false, true, true, false];
        assert_eq!(test_lines(&mask(text)), want);
    }

    #[test]
    fn impls_are_found_outside_tests_only() {
        let code = "// impl Family for Comment {}\nimpl Family for Torus {\n}\n";
        let more =
            "impl super::Family for Mesh {}\nimpl Other for No {}\nimpl Familiar for No {}\n";
        let test = "#[cfg(test)]\nmod t {\n    impl Family for Fake {}\n}\n";
        let text = format!("{code}{more}{test}");
        assert_eq!(impls_of(&mask(&text), "Family"), ["Torus", "Mesh"]);
    }
}
