//! The house rules that a text shows (CONTRIBUTING.md): the length of files and functions, no bare truth value in a call, nothing shared
//! that changes, and no name of a simulator but where it belongs.

use std::fs;
use std::path::Path;

const LINES_OF_A_FILE: usize = 400;
const LINES_OF_A_FUNCTION: usize = 60;

/// Functions of the language's library that take a truth value.
const OF_THE_LIBRARY: &[&str] = &["replace", "store"];

/// Words of other simulators, of reports and of those who wrote them.
const WORDS: &[&str] = &["ns-2", "ns2", "ns-3", "ns3", "netsim", "author", "report's", "the study"];
/// Files in which all of these words may stand: other simulators' senders, and the tables of settings.
const FREE: &[&str] = &["compat/", "settings.rs", "config.rs"];
/// In an algorithm a table of a profile's values, an entry of its profiles, the name of a parameter and its source may have them.
const ENTRIES: &[&str] = &["Profile {", ".source(", "name: \"", ".flag(\"", "::flag(\""];

/// State that several owners could change. An `Arc` of settings that nobody changes is none.
const SHARED: &[&str] =
    &["rc::Rc", "Cell<", "Mutex", "make_mut(", "get_mut_unchecked", "static mut", "thread::", "async "];

/// The source files by their paths, each without its unit tests.
fn sources() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut found, mut folders) = (Vec::new(), vec![src.clone()]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("tests.rs") {
                found.push((name(&src, &path), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(found.len() > 80, "only {} files were found", found.len());
    found
}

fn name(src: &Path, path: &Path) -> String {
    path.strip_prefix(src).unwrap().to_str().unwrap().to_owned()
}

fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap()
}

/// Functions that are too long, with their lengths.
fn long_functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = without_tests(text).lines().collect();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let head = line.trim_start();
        let is_function = head
            .split_once("fn ")
            .is_some_and(|(before, _)| before.is_empty() || before.starts_with("pub") || before.starts_with("const "));
        if !is_function || head.starts_with("//") {
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - head.len()]);
        let length = lines[first..].iter().position(|line| *line == end).map_or(0, |last| last + 1);
        if length > LINES_OF_A_FUNCTION {
            found.push((head.to_owned(), length));
        }
    }
    found
}

/// Calls with a bare truth value: `f(x, true)`.
fn bare_truth_values(text: &str) -> Vec<String> {
    let lines = without_tests(text).lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.filter(|line| is_called_with_a_truth_value(line)).map(|line| line.trim().to_owned()).collect()
}

fn is_called_with_a_truth_value(line: &str) -> bool {
    ["true", "false"].iter().flat_map(|value| line.match_indices(*value)).any(|(at, value)| {
        let ends = line[at + value.len()..].starts_with([',', ')']);
        let before = line[..at].trim_end();
        if !ends || !before.ends_with(['(', ',']) {
            return false;
        }
        // What is called: the name before the last parenthesis that is still open.
        let mut open = 0;
        let place = before.char_indices().rev().find(|(_, letter)| {
            open += i32::from(*letter == '(') - i32::from(*letter == ')');
            open > 0
        });
        let Some((place, _)) = place else { return false };
        let called: String = before[..place].chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let called: String = called.chars().rev().collect();
        let is_function = called.starts_with(|letter: char| letter.is_ascii_lowercase());
        let of_a_table = before[..place].ends_with("Param::flag");
        is_function && !of_a_table && !OF_THE_LIBRARY.contains(&called.as_str()) && called != "matches"
    })
}

/// Lines of `file` that name a simulator where none belongs.
fn words(file: &str, text: &str) -> Vec<String> {
    if FREE.iter().any(|start| file.starts_with(start)) {
        return Vec::new();
    }
    let (mut found, mut in_table, mut in_entry) = (Vec::new(), false, false);
    for line in without_tests(text).lines() {
        let lower = line.to_lowercase();
        in_table |= line.starts_with("const ");
        in_entry |= ENTRIES.iter().any(|start| line.contains(start));
        let belongs = file.starts_with("cc/") && (in_table || in_entry);
        if WORDS.iter().any(|word| lower.contains(word)) && !belongs {
            found.push(format!("{file}: {}", line.trim()));
        }
        in_table &= !line.ends_with(';');
        in_entry &= !(line.ends_with("},") || line.ends_with("),"));
    }
    found
}

#[test]
fn files_and_functions_are_short() {
    for (file, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= LINES_OF_A_FILE, "{file} has {lines} lines");
        assert_eq!(long_functions(&text), [], "{file}");
    }
}

#[test]
fn no_call_has_a_bare_truth_value() {
    for (file, text) in sources() {
        assert_eq!(bare_truth_values(&text), [] as [String; 0], "{file}");
    }
}

#[test]
fn simulators_are_named_where_they_belong() {
    let found: Vec<String> = sources().iter().flat_map(|(file, text)| words(file, text)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn nothing_is_shared_that_changes() {
    for (file, text) in sources() {
        for word in SHARED {
            assert!(!without_tests(&text).contains(word), "{file} has {word}");
        }
    }
}

#[test]
fn violations_are_found() {
    let long = format!("fn long() {{\n{}}}\n", "    step();\n".repeat(60));
    assert_eq!(long_functions(&long), [("fn long() {".to_owned(), 62)]);
    assert_eq!(bare_truth_values("    look(now, true, x);\n    std::mem::replace(&mut a, true);\n").len(), 1);
    assert_eq!(bare_truth_values("    look(of(now), false);\n    let a = (1, true);\n    Some(true);\n").len(), 1);
    assert_eq!(words("sender/core.rs", "/// As in ns-2.\n").len(), 1);
    assert_eq!(words("cc/reno.rs", "        // As ns-3 does.\n").len(), 1);
    assert_eq!(words("cc/reno.rs", "    Profile { name: \"ns2\", set: NS2, recovery: None },\n"), [] as [String; 0]);
}
