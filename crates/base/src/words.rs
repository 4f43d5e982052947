//! Suggestions for mistyped words: the name of a list that is nearest to what the user typed.

/// The one of `names` that the user probably meant by `word`: it differs only in case, blanks, `-`
/// and `_`, or else it is the first with the least number of inserted, omitted, changed or swapped
/// letters, at most a third of the longer word. O(names * letters^2).
pub fn meant<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = plain(word);
    if typed.is_empty() || typed.len() > 64 {
        return None;
    }
    let near = |name: &'a str| {
        let known = plain(name);
        let far = distance(&typed, &known);
        (3 * far <= typed.len().max(known.len())).then_some((far, name))
    };
    names.into_iter().filter_map(near).min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

/// `did you mean NAME? ` where one of `names` is near `word`; `did you mean NAME, NAME or NAME? `
/// where `word` is what a few of them begin with, such as `alltoall` or `ugal`. Where `word` begins
/// with one of them, of three letters or more, as `simulate` with `sim`, it is that one, or those
/// that begin with it as a word of their own; else nothing.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let begun_names = begun(word, &names);
    let likely = match meant(word, names.iter().copied()) {
        Some(name) if !begun_names.contains(&name) => vec![name],
        None if begun_names.is_empty() => over(word, &names),
        _ => begun_names,
    };
    match likely.split_last() {
        None => String::new(),
        Some((name, [])) => format!("did you mean {name}? "),
        Some((name, others)) => format!("did you mean {} or {name}? ", others.join(", ")),
    }
}

/// The longest of `names` that `word` begins with, or what begins with that name in turn.
fn over<'a>(word: &str, names: &[&'a str]) -> Vec<&'a str> {
    let starts = names.iter().copied().filter(|name| name.len() > 2 && word.starts_with(name));
    starts.max_by_key(|name| name.len()).map_or_else(Vec::new, |root| match begun(root, names) {
        found if found.is_empty() => vec![root],
        found => found,
    })
}

/// The first six of `names` that begin with `word` and a `_`, a `-` or a blank.
fn begun<'a>(word: &str, names: &[&'a str]) -> Vec<&'a str> {
    let begins = |name: &&str| {
        let rest = name.strip_prefix(word).filter(|_| word.len() > 2);
        rest.is_some_and(|rest| rest.starts_with(['_', '-', ' ']))
    };
    names.iter().copied().filter(begins).take(6).collect()
}

fn plain(word: &str) -> Vec<char> {
    let skipped = |c: &char| !matches!(c, '-' | '_' | ' ');
    word.chars().filter(skipped).flat_map(char::to_lowercase).collect()
}

/// The edit distance of two words: letters inserted, omitted or changed, and neighbours swapped
/// (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                let swapped: &Vec<usize> = &before;
                least = least.min(swapped[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["slim_fly", "dfsssp", "torus", "sssp", "fat_tree"];

    #[test]
    fn what_was_meant_is_found() {
        for (word, name) in [
            ("SlimFly", "slim_fly"),
            ("slimfly", "slim_fly"),
            ("slim-fly", "slim_fly"),
            ("dfssp", "dfsssp"),
            ("DFSSSP", "dfsssp"),
            ("tours", "torus"),
            ("fattree", "fat_tree"),
            ("sssp", "sssp"),
        ] {
            assert_eq!(meant(word, NAMES), Some(name), "{word}");
        }
        for word in ["", "nothing", "x", "_", "butterfly"] {
            assert_eq!(meant(word, NAMES), None, "{word}");
        }
    }

    #[test]
    fn words_that_names_begin_with_stand_for_all_of_them() {
        let selections = ["ugal_g", "ugal_l", "valiant"];
        assert_eq!(did_you_mean("ugal", selections), "did you mean ugal_g or ugal_l? ");
        assert_eq!(did_you_mean("ugall", selections), "did you mean ugal_l? ");
        let names = ["ring", "tree_binary", "tree_flat-top", "tree_deep", "treetop", "ab_initio"];
        let said = |word: &str| did_you_mean(word, names);
        assert_eq!(said("tree"), "did you mean tree_binary, tree_flat-top or tree_deep? ");
        assert_eq!(said("tree_flat"), "did you mean tree_flat-top? ");
        assert_eq!(said("rng"), "did you mean ring? ");
        for word in ["ab", "tre", "", "nothing", "tree_b"] {
            assert_eq!(said(word), "", "{word}");
        }
        let many: Vec<String> = (0..9).map(|i| format!("long_number_{i}")).collect();
        let said = did_you_mean("long", many.iter().map(String::as_str));
        assert_eq!(
            said,
            "did you mean long_number_0, long_number_1, long_number_2, long_number_3, \
             long_number_4 or long_number_5? "
        );
    }

    #[test]
    fn a_word_that_begins_with_a_name_stands_for_what_that_name_has() {
        let names = ["sim", "sim flit", "sim packet", "workload", "cost", "to"];
        let said = |word: &str| did_you_mean(word, names);
        assert_eq!(said("simulate"), "did you mean sim flit or sim packet? ");
        assert_eq!(said("simflit"), "did you mean sim flit? ");
        assert_eq!(said("workloads-of-mpi"), "did you mean workload? ");
        assert_eq!((said("topology"), said("consts")), (String::new(), said("cost")));
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        let far = |a: &str, b: &str| distance(&plain(a), &plain(b));
        assert_eq!(far("kitten", "sitting"), 3); // Levenshtein's example
        assert_eq!(far("ab", "ba"), 1); // one swap
        assert_eq!(far("ca", "abc"), 3); // aligned, not Damerau's 2
        assert_eq!((far("", "abc"), far("abc", "")), (3, 3));
    }
}
