//! What was meant: the known names that are most like a word that is unknown.

/// Longer words are no slip of the pen.
const MAX_LETTERS: usize = 60;

/// The names most like `word`: the ones with the fewest edits, if these are few, else those of which it is a part.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let written = word.to_lowercase();
    let letters = written.chars().count();
    if letters == 0 || letters > MAX_LETTERS {
        return Vec::new();
    }
    let names: Vec<&str> = names.into_iter().collect();
    let distances: Vec<usize> = names.iter().map(|name| edits(&written, &name.to_lowercase())).collect();
    let least = distances.iter().copied().min().unwrap_or(usize::MAX);
    if least <= (letters / 3).max(1) && least < letters {
        return names.iter().zip(distances).filter(|(_, d)| *d == least).map(|(name, _)| *name).take(3).collect();
    }
    let is_part = |name: &&str| letters > 2 && name.split('_').any(|piece| piece == written);
    names.into_iter().filter(is_part).take(3).collect()
}

/// A question for the name that was meant; nothing if none is near.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let near = nearest(word, names);
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")))
}

/// Letters to insert, remove, replace, or exchange with the next to make one text the other (optimal string alignment).
pub(crate) fn edits(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(MAX_LETTERS).collect();
    let b: Vec<char> = b.chars().take(MAX_LETTERS).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
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

    #[test]
    fn edits_are_counted() {
        for (a, b, count) in
            [("", "", 0), ("ab", "", 2), ("", "ab", 2), ("delay", "dealy", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(edits(a, b), count, "{a} {b}");
        }
        // However long a text is, its beginning decides.
        assert_eq!(edits(&"x".repeat(1_000_000), "x"), MAX_LETTERS - 1);
    }

    #[test]
    fn a_slip_finds_the_name_and_another_word_finds_none() {
        let names = ["reno", "cubic", "bbr", "bbr3", "min_rtt", "srtt"];
        assert_eq!(nearest("CUBIC", names), ["cubic"]);
        assert_eq!(nearest("bbrv3", names), ["bbr3"]);
        assert_eq!(nearest("bbr2", names), ["bbr", "bbr3"]);
        assert_eq!(nearest("rtt", names), ["srtt"]);
        assert_eq!(nearest("rstt", names), ["srtt"]);
        assert_eq!(nearest("min", names), ["min_rtt"]);
        assert_eq!(did_you_mean("sprout", names), None);
        assert_eq!(did_you_mean("x", names), None);
        assert_eq!(did_you_mean(&"cubic".repeat(1000), names), None);
    }
}
