//! Times as tools write them.

/// Seconds since 1970 of a time in words or as a number: `2026-11-28 10:00:00 UTC`,
/// `2026-11-28T10:00:00+01:00`, `1795860000`, also in milliseconds, microseconds or nanoseconds.
/// Without a zone it is UTC.
pub(super) fn time_of(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return epoch(number);
    }
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix([' ', 'T'])?;
    let mut parts = date.split('-').map(str::parse::<i64>);
    let mut part = || parts.next().and_then(Result::ok);
    let (year, month, day) = (part()?, part()?, part()?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let end = rest.find(|c: char| !c.is_ascii_digit() && !":.,".contains(c));
    let (clock, zone) = rest.split_at(end.unwrap_or(rest.len()));
    let mut parts = clock.split(':');
    let hours: f64 = parts.next()?.parse().ok()?;
    let minutes: f64 = parts.next()?.parse().ok()?;
    let seconds: f64 = parts.next().unwrap_or("0").replace(',', ".").parse().ok()?;
    if hours >= 24.0 || minutes >= 60.0 || seconds >= 61.0 {
        return None;
    }
    let days = days_from_epoch(year, month, day) as f64;
    Some(days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds - zone_s(zone))
}

/// Seconds since 1970 of a number that counts seconds or parts of them.
fn epoch(number: f64) -> Option<f64> {
    let scales = [1.0, 1e3, 1e6, 1e9];
    // from 2001 to 2096
    scales.into_iter().map(|scale| number / scale).find(|s| (1e9..4e9).contains(s))
}

/// The offset of a zone in seconds: `+0100`, `UTC +01:00`, `Z`.
fn zone_s(zone: &str) -> f64 {
    let Some(at) = zone.find(['+', '-']) else { return 0.0 };
    let (sign, digits) = zone[at..].split_at(1);
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    let number = |range: std::ops::Range<usize>| {
        digits.get(range).and_then(|d| d.parse::<f64>().ok()).unwrap_or(0.0)
    };
    let offset = number(0..2) * 3600.0 + number(2..4) * 60.0;
    if sign == "-" { -offset } else { offset }
}

/// Days from 1970-01-01 in the Gregorian calendar.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    // a year that begins in March has its leap day at its end
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, within) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + within * 365 + within / 4 - within / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        // by `date -u -d ... +%s`
        for (text, seconds) in [
            ("1970-01-01 00:00:00", 0.0),
            ("2000-02-29 12:00:00 UTC", 951_825_600.0),
            ("2026-11-28T10:00:00Z", 1_795_860_000.0),
            ("2026-11-28T10:00:00+01:00", 1_795_856_400.0),
            ("2022-08-25 17:45:38 UTC +0000", 1_661_449_538.0),
            ("2026-11-28 10:00:00.5 -0530", 1_795_879_800.5),
            ("1795860000", 1_795_860_000.0),
            ("1264494583.110014", 1_264_494_583.110_014),
            ("1795860000000000", 1_795_860_000.0),
        ] {
            assert_eq!(time_of(text), Some(seconds), "{text}");
        }
        for text in ["", "10", "yesterday", "2026-13-01 00:00:00", "2026-11-28", "éééééé x"] {
            assert_eq!(time_of(text), None, "{text}");
        }
    }
}
