//! The text of a configuration: `key = value;` again and again, with comments to the line end.

use base::Refusal;

/// The value to the right of a `=`, by its kind, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueLiteral<'a> {
    /// `8`, `-1`.
    Int(&'a str),
    /// `0.5`, `.5`, `1e-3`.
    Decimal(&'a str),
    /// `torus`, `hotspot({0,9},{4,2})`.
    Word(&'a str),
    /// `{1,4}`.
    List(&'a str),
}

/// One `key = value;` and the line where its key stands, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConfigAssignment<'a> {
    pub(super) key: &'a str,
    pub(super) value: ValueLiteral<'a>,
    pub(super) line: usize,
}

/// All assignments of a text, in order; `place` gives the name of a line for refusals. Where
/// `open`, the last `;` may be missing. O(text).
///
/// # Errors
/// Where something else stands than the grammar allows.
pub(super) fn assignments(
    text: &str,
    open: bool,
    place: impl Fn(usize) -> String,
) -> Result<Vec<ConfigAssignment<'_>>, Refusal> {
    let mut scan = BookSimScanner { text, at: 0, line: 1 };
    let mut found = Vec::new();
    while let Some(first) = scan.token() {
        let line = scan.line;
        let wrong = |line: usize, why: String| Err(Refusal::new(place(line), why, GRAMMAR));
        let BookSimToken::Value(ValueLiteral::Word(key)) = first else {
            return wrong(line, format!("{} where a key should stand", first.shown()));
        };
        match scan.token() {
            Some(BookSimToken::Mark('=')) => {}
            other => return wrong(scan.line, after(key, '=', other)),
        }
        let value = match scan.token() {
            Some(BookSimToken::Value(value)) => value,
            other => return wrong(scan.line, after(&format!("{key} ="), 'v', other)),
        };
        match scan.token() {
            Some(BookSimToken::Mark(';')) => {}
            None if open => {}
            other => {
                let before = format!("{key} = {}", value.shown());
                return wrong(scan.line, after(&before, ';', other));
            }
        }
        found.push(ConfigAssignment { key, value, line });
    }
    Ok(found)
}

const GRAMMAR: &str = "key = value; with an integer (8), a decimal (0.5, not 5.), a word that \
     begins with a letter or one of _ - / . or a list ({1,4}), without blanks inside";

fn after(what: &str, wanted: char, found: Option<BookSimToken<'_>>) -> String {
    let found = found.map_or("the end".to_owned(), BookSimToken::shown);
    let wanted = if wanted == 'v' { "a value".to_owned() } else { format!("`{wanted}`") };
    format!("after `{what}` there is {found} where {wanted} should stand")
}

impl<'a> ValueLiteral<'a> {
    /// The value as it is written.
    pub(super) fn shown(self) -> &'a str {
        let (Self::Int(s) | Self::Decimal(s) | Self::Word(s) | Self::List(s)) = self;
        s
    }
}

/// A token of the text of a `BookSim` configuration.
#[derive(Clone, Copy)]
enum BookSimToken<'a> {
    Value(ValueLiteral<'a>),
    Mark(char),
}

impl BookSimToken<'_> {
    fn shown(self) -> String {
        match self {
            Self::Value(value) => format!("`{}`", value.shown()),
            Self::Mark(mark) => format!("`{}`", mark.escape_default()),
        }
    }
}

/// A scanner of the text of a `BookSim` configuration.
struct BookSimScanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> BookSimScanner<'a> {
    /// The next token: the longest that fits, a number before a word of the same length.
    fn token(&mut self) -> Option<BookSimToken<'a>> {
        self.skip();
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let list = list_len(rest);
        let (int, decimal, word) = (int_len(rest), decimal_len(rest), word_len(rest));
        let longest = list.max(int).max(decimal).max(word);
        if longest == 0 {
            self.at += first.len_utf8();
            return Some(BookSimToken::Mark(first));
        }
        self.at += longest;
        let shown = &rest[..longest];
        Some(BookSimToken::Value(match longest {
            n if n == list => ValueLiteral::List(shown),
            n if n == int => ValueLiteral::Int(shown),
            n if n == decimal => ValueLiteral::Decimal(shown),
            _ => ValueLiteral::Word(shown),
        }))
    }

    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            match rest.as_bytes().first() {
                Some(b'\n') => self.line += 1,
                Some(b' ' | b'\t' | b'\r') => {}
                _ => return,
            }
            self.at += 1;
        }
    }
}

fn run(text: &str, of: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|b| of(*b)).count()
}

fn digits(text: &str) -> usize {
    run(text, |b| b.is_ascii_digit())
}

fn sign(text: &str) -> usize {
    usize::from(text.starts_with('-'))
}

fn int_len(text: &str) -> usize {
    let at = sign(text);
    match digits(&text[at..]) {
        0 => 0,
        n => at + n,
    }
}

/// The length of `-? (digits? .)? digits exponent?`, where it is longer than an integer.
fn decimal_len(text: &str) -> usize {
    let at = sign(text);
    let whole = digits(&text[at..]);
    let mut end = at + whole;
    let fraction = text[end..].strip_prefix('.').map_or(0, digits);
    if fraction > 0 {
        end += 1 + fraction;
    } else if whole == 0 {
        return 0;
    }
    let rest = &text[end..];
    if rest.starts_with(['e', 'E']) {
        let signed = usize::from(rest[1..].starts_with(['+', '-']));
        match digits(&rest[1 + signed..]) {
            0 => {}
            n => end += 1 + signed + n,
        }
    }
    end
}

fn word_len(text: &str) -> usize {
    match text.bytes().next() {
        Some(b) if b.is_ascii_alphabetic() || b"_-/.".contains(&b) => {
            run(text, |b| b.is_ascii_alphanumeric() || b"_-/.+({,)}".contains(&b))
        }
        _ => 0,
    }
}

/// The length of a list: from `{` to the last `}` before a letter that no list may have.
fn list_len(text: &str) -> usize {
    if !text.starts_with('{') {
        return 0;
    }
    let end = run(text, |b| b.is_ascii_alphanumeric() || b"_-.({,)}".contains(&b));
    match text[..end].rfind('}') {
        Some(last) if last >= 2 => last + 1,
        _ => 0,
    }
}

/// The items of a list's inside, split at the commas outside of brackets; none where brackets do
/// not match or an item is empty.
pub(super) fn items(inside: &str) -> Option<Vec<&str>> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    let mut start = 0;
    for (at, b) in inside.bytes().enumerate() {
        match b {
            b'{' | b'(' => open.push(b),
            b'}' if open.pop() != Some(b'{') => return None,
            b')' if open.pop() != Some(b'(') => return None,
            b',' if open.is_empty() => {
                found.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&inside[start..]);
    (open.is_empty() && found.iter().all(|i| !i.is_empty())).then_some(found)
}

/// The items of a list as `BookSim` splits it: what does not begin with `{` is one item, whatever
/// commas are in it; else it ends where the first brace closes, and parentheses do not count.
pub(super) fn split(text: &str) -> Vec<&str> {
    let Some(inside) = text.strip_prefix('{') else {
        return if text.is_empty() { Vec::new() } else { vec![text] };
    };
    let (mut found, mut start, mut nested) = (Vec::new(), 0, 0_u32);
    for (at, b) in inside.bytes().enumerate() {
        match b {
            b'{' => nested += 1,
            b'}' if nested > 0 => nested -= 1,
            b'}' | b',' if nested == 0 => {
                if at > start {
                    found.push(&inside[start..at]);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// The items of `{a,b}`, or the one item that something without braces is.
pub(super) fn list(text: &str) -> Option<Vec<&str>> {
    match text.strip_prefix('{') {
        None => Some(vec![text]),
        Some(rest) => items(rest.strip_suffix('}')?),
    }
}

/// `name(a,b)` as its name and what stands in its parentheses; a bare name has nothing there.
pub(super) fn call(text: &str) -> Option<(&str, Vec<&str>)> {
    match text.split_once('(') {
        None => Some((text, Vec::new())),
        Some((name, rest)) => Some((name, items(rest.strip_suffix(')')?)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, ValueLiteral<'_>, usize)>, String> {
        let found =
            assignments(text, false, |line| format!("line {line}")).map_err(|r| r.to_string())?;
        Ok(found.into_iter().map(|a| (a.key.to_owned(), a.value, a.line)).collect())
    }

    fn one(value: &str) -> Option<ValueLiteral<'_>> {
        let text: &'static str = Box::leak(format!("key={value};").into_boxed_str());
        read(text).ok().filter(|f| f.len() == 1).map(|f| f[0].1)
    }

    #[test]
    fn values_have_the_kind_that_the_grammar_gives_them() {
        for (text, kind) in [
            ("8", ValueLiteral::Int("8")),
            ("-1", ValueLiteral::Int("-1")),
            ("0.5", ValueLiteral::Decimal("0.5")),
            (".5", ValueLiteral::Decimal(".5")),
            ("-.5", ValueLiteral::Decimal("-.5")),
            ("1e-3", ValueLiteral::Decimal("1e-3")),
            ("-1.0", ValueLiteral::Decimal("-1.0")),
            ("sf_q5.anynet", ValueLiteral::Word("sf_q5.anynet")),
            ("../a+b/c", ValueLiteral::Word("../a+b/c")),
            ("a//b", ValueLiteral::Word("a//b")),
            ("-8x", ValueLiteral::Word("-8x")),
            ("hotspot({0,9},{4,2})", ValueLiteral::Word("hotspot({0,9},{4,2})")),
            ("{1,4}", ValueLiteral::List("{1,4}")),
            ("{{1,5}}", ValueLiteral::List("{{1,5}}")),
            ("{0.05,1e-3}", ValueLiteral::List("{0.05,1e-3}")),
        ] {
            assert_eq!(one(text), Some(kind), "{text}");
        }
        for text in ["5.", "8x8", "{}", "{a/b}", "{1, 4}", "+1", "", "a b", "\u{e9}", "a;b"] {
            assert_eq!(one(text), None, "{text}");
        }
    }

    #[test]
    fn comments_and_lines() {
        let text = "// a = 1;\na = 1; b=2;//c = 3;\n\n  d\n = 4 ;\r\n";
        let keys: Vec<_> = read(text).unwrap().into_iter().map(|(k, _, l)| (k, l)).collect();
        assert_eq!(keys, [("a".to_owned(), 2), ("b".to_owned(), 2), ("d".to_owned(), 4)]);
        let refused = read("a = 1;\nb = 5.;").unwrap_err();
        assert!(refused.starts_with("line 2: after `b = 5` there is `.` where `;`"), "{refused}");
        assert!(read("a = 1").unwrap_err().contains("the end where `;`"));
        let open = assignments("a=1;b=2", true, |_| String::new()).unwrap();
        assert_eq!(open.len(), 2);
        assert!(read("= 1;").unwrap_err().contains("where a key"));
    }

    #[test]
    fn brackets_are_counted() {
        assert_eq!(items("a,{b,c},d(e,{f})"), Some(vec!["a", "{b,c}", "d(e,{f})"]));
        for bad in ["", "a,", "{a", "a}", "{a)", "(a,b", ",a"] {
            assert_eq!(items(bad), None, "{bad}");
        }
        assert_eq!(list("{1,{2,3}}"), Some(vec!["1", "{2,3}"]));
        assert_eq!(list("a"), Some(vec!["a"]));
        assert_eq!(call("hotspot({0,9},{4,2})"), Some(("hotspot", vec!["{0,9}", "{4,2}"])));
        // config_utils of BookSim: tokenize_str
        assert_eq!(split("{0,9},{4,2}"), ["0", "9"]);
        assert_eq!(split("{{0,9},{4,2}}"), ["{0,9}", "{4,2}"]);
        assert_eq!(split("8,2,1"), ["8,2,1"]);
        assert_eq!(split("{a({1},{2}),b}"), ["a({1}", "{2})", "b"]);
        assert!(split("").is_empty());
        assert_eq!(call("uniform"), Some(("uniform", vec![])));
        assert_eq!((call("a("), call("a()"), call("a(b)c")), (None, None, None));
    }
}
