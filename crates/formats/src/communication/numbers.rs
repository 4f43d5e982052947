//! Words of lines as numbers, refused with the line.

use base::Refusal;

/// Lines with their numbers from 1, without those that are blank or begin with one of `marks`.
pub(super) fn lines<'a>(
    text: &'a str,
    marks: &'a [char],
) -> impl Iterator<Item = (usize, &'a str)> + 'a {
    let all = (1..).zip(text.lines().map(str::trim));
    all.filter(move |(_, line)| !line.is_empty() && !line.starts_with(marks))
}

/// Reads a word as a whole number.
pub(super) fn whole(line: usize, what: &str, word: Option<&str>) -> Result<u64, Refusal> {
    let found = word.map(str::parse);
    match found {
        Some(Ok(number)) => Ok(number),
        _ => Err(refuse(line, &format!("{} is no {what}", quoted(word)), "a whole number from 0")),
    }
}

/// Reads a word as a number of bytes: 0 or more, finite.
pub(super) fn amount(line: usize, what: &str, word: Option<&str>) -> Result<f64, Refusal> {
    let found: Option<f64> = word.and_then(|word| word.parse().ok());
    found.filter(|n| n.is_finite() && *n >= 0.0).ok_or_else(|| {
        refuse(line, &format!("{}: no {what}", quoted(word)), "a number from 0, finite")
    })
}

/// A number of any sign, finite; Fortran writes `1.5D+00` for `1.5e+00`.
pub(super) fn value(line: usize, word: Option<&str>) -> Result<f64, Refusal> {
    let found: Option<f64> = word
        .and_then(|word| word.parse().ok().or_else(|| word.replace(['d', 'D'], "e").parse().ok()));
    found
        .filter(|n| n.is_finite())
        .ok_or_else(|| refuse(line, &format!("{}: no value", quoted(word)), "a number, finite"))
}

/// Reads a word as a vertex that is counted from `base`; its number from 0 is below `count`.
pub(super) fn vertex(
    line: usize,
    what: &str,
    word: Option<&str>,
    base: u64,
    count: u32,
) -> Result<u32, Refusal> {
    let number = whole(line, what, word)?;
    let within = number >= base && number - base < u64::from(count);
    if within {
        return Ok((number - base) as u32);
    }
    let help = format!("{base} to {}", u64::from(count) + base - 1);
    Err(refuse(line, &format!("there is no {what} {number}"), &help))
}

pub(super) fn refuse(line: usize, why: &str, help: &str) -> Refusal {
    Refusal::new(format!("line {line}"), why, help)
}

fn quoted(word: Option<&str>) -> String {
    match word {
        Some(word) => format!("'{}'", word.chars().take(40).collect::<String>()),
        None => "nothing".to_owned(),
    }
}
