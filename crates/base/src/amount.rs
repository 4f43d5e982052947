//! Whole numbers as people write large ones: `10k`, `64KiB`, `1.5M`, `2e6`.

/// Units with their factors; `k`, `M` and `G` are powers of 1,000, `Ki`, `Mi` and `Gi` of 1,024.
const UNITS: [(&str, i128); 7] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
];

/// The whole number that `text` stands for: digits with a unit, behind which `B` may follow
/// (`64KiB`, `1.5MB`), or with an exponent (`2e6`). `None` for anything else, also for digits alone
/// and for what is no whole number.
pub fn whole_amount(text: &str) -> Option<i64> {
    let bare = text.strip_suffix('B').unwrap_or(text);
    let unit = UNITS.iter().find_map(|(unit, times)| Some((bare.strip_suffix(unit)?, *times)));
    if unit.is_none() && bare.len() < text.len() {
        return None; // bytes without a unit are digits alone
    }
    let (number, times) = unit.unwrap_or((bare, 1));
    let exponent = number.split_once(['e', 'E']);
    if unit.is_none() && exponent.is_none() {
        return None;
    }
    let (digits, power) = match exponent {
        Some((digits, power)) => (digits, unsigned(power.strip_prefix('+').unwrap_or(power))?),
        None => (number, 0),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((_, "")) => return None,
        Some((whole, fraction)) => (whole, fraction.trim_end_matches('0')),
        None => (digits, ""),
    };
    let both = format!("{}{fraction}", if unsigned(whole).is_some() { whole } else { return None });
    let shift = u32::try_from(power).ok().filter(|power| *power < 20)?;
    let part = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let value = unsigned(&both)?.checked_mul(times)?.checked_mul(10_i128.pow(shift))?;
    (value % part == 0).then(|| i64::try_from(value / part).ok()).flatten()
}

/// Digits as a number.
fn unsigned(digits: &str) -> Option<i128> {
    digits.bytes().all(|c| c.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::whole_amount;

    #[test]
    fn large_numbers_have_units_and_exponents() {
        for (text, number) in [
            ("64k", 64_000),
            ("64KiB", 65_536),
            ("3MB", 3_000_000),
            ("2Mi", 2_097_152),
            ("1G", 1_000_000_000),
            ("4GiB", 4_294_967_296),
            ("1.5M", 1_500_000),
            ("0.032k", 32),
            ("1.50k", 1_500),
            ("2.5Ki", 2_560),
            ("2e6", 2_000_000),
            ("1.5E+3", 1_500),
            ("9e18", 9_000_000_000_000_000_000),
            ("0k", 0),
        ] {
            assert_eq!(whole_amount(text), Some(number), "{text}");
        }
    }

    #[test]
    fn everything_else_is_no_amount() {
        for text in [
            "",
            "k",
            "B",
            "4",
            "4B",
            "1.5",
            "4kk",
            "4Mb",
            "9223372036854775807k",
            "1e19",
            "1e99999999999",
            "x4k",
            "Gi",
            "-4k",
            "+4k",
            "4 k",
            ".5k",
            "5.k",
            "1.0005k",
            "1.5e0",
            "e6",
            "2e",
            "2e-3",
            "nan",
            "1e3.5",
        ] {
            assert_eq!(whole_amount(text), None, "{text}");
        }
    }
}
