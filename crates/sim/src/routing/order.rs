//! The order of nodes by their names, by which ties among equal paths are broken: it does not hang on the order of a file.

/// The place of each node among all in the order of their names; numbers in names count as numbers, so that n2 is before n10.
pub(crate) fn by_name<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let names: Vec<&str> = names.collect();
    let mut sorted: Vec<usize> = (0..names.len()).collect();
    sorted.sort_by_cached_key(|node| (parts(names[*node]), names[*node]));
    let mut places = vec![0; names.len()];
    (0..).zip(sorted).for_each(|(place, node)| places[node] = place);
    places
}

/// Of each run of digits, and of each run of other letters, what it is compared by.
fn parts(name: &str) -> Vec<(bool, usize, &[u8])> {
    let runs = name.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    runs.map(|run| {
        let digits = &run[run.iter().take_while(|letter| **letter == b'0').count()..];
        if run[0].is_ascii_digit() { (false, digits.len(), digits) } else { (true, 0, run) }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::by_name;

    #[test]
    fn numbers_in_names_are_numbers() {
        let names = ["n10", "n2", "m", "n02", "n", "agg1_10", "agg1_9", "7", "70000000000000000000000000", "71"];
        let mut sorted = names;
        by_name(names.into_iter()).iter().zip(names).for_each(|(place, name)| sorted[*place as usize] = name);
        let right = ["7", "71", "70000000000000000000000000", "agg1_9", "agg1_10", "m", "n", "n02", "n2", "n10"];
        assert_eq!(sorted, right);
    }
}
