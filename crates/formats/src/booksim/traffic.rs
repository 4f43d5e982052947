//! Traffic patterns as they are written: `uniform`, `tornado(8,2,1)`, `hotspot({0,9},{4,2})`.

use super::settings::BookSimConfigValues;
use super::text::{call, list, split};
use ::traffic::pattern::booksim::BookSimPattern as Pattern;
use base::Refusal;
use base::words::did_you_mean;

const NAMES: [&str; 14] = [
    "uniform",
    "background",
    "bitcomp",
    "bitrev",
    "shuffle",
    "transpose",
    "tornado",
    "neighbor",
    "diagonal",
    "asymmetric",
    "taper64",
    "bad_dragon",
    "hotspot",
    "randperm",
];

/// The pattern that `text` names, and a remark where it reads as something else.
pub(super) fn pattern(
    s: &BookSimConfigValues<'_>,
    text: &str,
) -> Result<(Pattern, Option<String>), Refusal> {
    let wrong = |why: String, help: &str| s.refusal("traffic", why, help);
    let (Some((name, shown)), (_, inside)) =
        (call(text), text.split_once('(').unwrap_or((text, "")))
    else {
        let why = format!("the brackets of {text} do not match, or an item is empty");
        return Err(wrong(why, "a pattern like hotspot({{0,9},{4,2}})"));
    };
    let most = match name {
        "tornado" | "neighbor" => 3,
        "hotspot" | "bad_dragon" => 2,
        "background" | "randperm" => 1,
        _ => 0,
    };
    if !NAMES.contains(&name) {
        let why = format!("there is no pattern {name}");
        let help = did_you_mean(name, NAMES) + "patterns are " + &NAMES.join(", ");
        return Err(wrong(why, &help));
    }
    if shown.len() > most {
        let why = format!("{} arguments for {name}", shown.len());
        return Err(wrong(why, &format!("{name} takes {most}")));
    }
    // BookSim splits the inside as it splits lists, and drops arguments that the pattern does not
    // use
    let mut arguments = split(inside.strip_suffix(')').unwrap_or(inside));
    let flat = |arguments: &[&str]| arguments.len() > 1 && !arguments[0].starts_with('{');
    let listed = matches!(name, "hotspot" | "background") && flat(&arguments);
    arguments.truncate(most);
    let first = |argument: &str| {
        let end = argument.find(',').filter(|_| !argument.starts_with('{'));
        argument[..end.unwrap_or(argument.len())].to_owned()
    };
    let arguments: Vec<String> = arguments.into_iter().map(first).collect();
    let remark = (shown.len() > 1 || listed).then(|| {
        format!(
            "{text} is read as {name}({{{}}}), as in BookSim: parameters stand in braces of their \
             own, as in hotspot({{{{0,9}},{{4,2}}}}) and tornado({{8,2,1}})",
            arguments.join(",")
        )
    });
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Ok((named(s, name, &arguments)?, remark))
}

/// The pattern of a name with its parameters.
fn named(
    settings: &BookSimConfigValues<'_>,
    name: &str,
    arguments: &[&str],
) -> Result<Pattern, Refusal> {
    Ok(match name {
        "uniform" => Pattern::Uniform,
        "bitcomp" => Pattern::BitComplement,
        "bitrev" => Pattern::BitReverse,
        "shuffle" => Pattern::Shuffle,
        "transpose" => Pattern::Transpose,
        "diagonal" => Pattern::Diagonal,
        "asymmetric" => Pattern::Asymmetric,
        "taper64" => Pattern::Taper64,
        "background" => Pattern::Background { without: without(settings, arguments)? },
        "hotspot" => hotspot(settings, arguments)?,
        "randperm" => Pattern::RandomPermutation { seed: perm_seed(settings, arguments)? },
        "bad_dragon" => {
            let k = argument(settings, arguments, 0, "k")?;
            argument(settings, arguments, 1, "n")?;
            let group = 2 * u64::from(k) * u64::from(k);
            Pattern::BadDragon { group: fits(settings, group)? }
        }
        _ => {
            let k = argument(settings, arguments, 0, "k")?;
            let digits = argument(settings, arguments, 1, "n")?;
            let xr = argument(settings, arguments, 2, "xr")?;
            let base = fits(settings, u64::from(k) * u64::from(xr))?;
            match name {
                "tornado" => Pattern::Tornado { base, digits },
                _ => Pattern::Neighbor { base, digits },
            }
        }
    })
}

/// The argument at a place, else the key's value: at least 1.
fn argument(
    s: &BookSimConfigValues<'_>,
    given: &[&str],
    at: usize,
    key: &str,
) -> Result<u32, Refusal> {
    match given.get(at) {
        None => s.at_least(key, 1),
        Some(text) => match text.parse::<i32>() {
            Ok(n) if n >= 1 => Ok(n.unsigned_abs()),
            _ => {
                let why = format!("{text} is no {key}");
                Err(s.refusal("traffic", why, format!("{key} is an integer of at least 1")))
            }
        },
    }
}

fn fits(settings: &BookSimConfigValues<'_>, n: u64) -> Result<u32, Refusal> {
    u32::try_from(n).ok().filter(|n| i32::try_from(*n).is_ok()).ok_or_else(|| {
        settings.refusal("traffic", format!("{n} does not fit into 32 bits"), "smaller arguments")
    })
}

fn numbers(
    settings: &BookSimConfigValues<'_>,
    text: &str,
    what: &str,
) -> Result<Vec<i32>, Refusal> {
    let parsed = list(text)
        .and_then(|items| items.into_iter().map(|i| i.parse::<i32>().ok()).collect::<Option<_>>());
    parsed.ok_or_else(|| {
        let why = format!("{text} is no list of {what}");
        settings.refusal("traffic", why, "integers like {0,9}")
    })
}

fn without(settings: &BookSimConfigValues<'_>, given: &[&str]) -> Result<Vec<u32>, Refusal> {
    let Some(text) = given.first() else {
        let help = "background({0,9}): the endpoints that nobody sends to";
        return Err(settings.refusal("traffic", "background without endpoints", help));
    };
    let mut found = Vec::new();
    for e in numbers(settings, text, "endpoints")? {
        let Ok(e) = u32::try_from(e) else {
            let why = format!("there is no endpoint {e}");
            return Err(settings.refusal("traffic", why, "endpoints count from 0"));
        };
        found.push(e);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn hotspot(settings: &BookSimConfigValues<'_>, given: &[&str]) -> Result<Pattern, Refusal> {
    let at = match given.first() {
        None => vec![-1],
        Some(text) => numbers(settings, text, "endpoints")?,
    };
    let mut weights = match given.get(1) {
        None => vec![1],
        Some(text) => numbers(settings, text, "weights")?,
    };
    if weights.len() > at.len() {
        let why = format!("{} weights for {} endpoints", weights.len(), at.len());
        return Err(settings.refusal("traffic", why, "at most one for each"));
    }
    let last = weights.last().copied().unwrap_or(1);
    weights.resize(at.len(), last);
    let total: i64 = weights.iter().map(|w| i64::from(*w)).sum();
    if weights.iter().any(|w| *w < 0) || total == 0 || total > i64::from(i32::MAX) {
        let why = format!("the weights {weights:?} choose nothing");
        return Err(settings.refusal("traffic", why, "integers from 0, one of them above 0"));
    }
    let at = at.into_iter().map(|e| u32::try_from(e).ok()).collect();
    let weights = weights.into_iter().map(i32::unsigned_abs).collect();
    Ok(Pattern::Hotspot { at, weights })
}

fn perm_seed(settings: &BookSimConfigValues<'_>, given: &[&str]) -> Result<i32, Refusal> {
    match given.first() {
        None => settings.seed("perm_seed"),
        Some(text) => text.parse::<i32>().map_err(|_| {
            let why = format!("{text} is no seed");
            settings.refusal("traffic", why, "an integer: results are to be the same next time")
        }),
    }
}
