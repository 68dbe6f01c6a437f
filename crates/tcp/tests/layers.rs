//! The layers of this crate: a file imports files of its own layer or of one below it, and no imports form a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// From the ground up; of several beginnings of a file's path the longest counts.
const LAYERS: &[&[&str]] = &[
    &["units", "seq.rs", "rng.rs", "round.rs", "event.rs", "timers.rs"],
    &["settings.rs", "segment.rs"],
    &["compat/mod.rs", "compat/signals.rs", "compat/clock.rs", "compat/tick_timer.rs"],
    &["cc/window.rs", "cc/signals.rs", "cc/parameters.rs"],
    &["cc/algorithm.rs", "cc/controller.rs", "cc/config.rs"],
    &["cc/", "compat/cc/"],
    &["compat/cc/mod.rs"],
    &["cc/registry.rs"],
    &["cc/mod.rs"],
    &["config"],
    &["options", "ecn", "rtt.rs", "told.rs"],
    &["scoreboard"],
    &["rate.rs"],
    &["recovery/"],
    &[
        "sender/ack_context.rs",
        "sender/cc_state.rs",
        "sender/cwnd_usage.rs",
        "sender/limits.rs",
        "sender/pacer.rs",
        "sender/validation.rs",
        "sender/observer.rs",
    ],
    &["sender/tso.rs"],
    &["sender/core.rs"],
    &["sender/rto.rs", "sender/segments.rs"],
    &["sender/sack_recovery", "sender/dupack_recovery.rs", "compat/"],
    &["compat/recovery.rs"],
    &["sender/loss_recovery.rs"],
    &["sender.rs"],
    &["sender/", "receiver"],
    &["connection"],
    &["lib.rs"],
];

/// For each file the files that it imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn imports_go_down_and_form_no_circle() {
    let imports = imports(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(imports.len() > 80, "only {} files were found", imports.len());
    for (file, imported) in &imports {
        let upwards: Vec<_> = imported.iter().filter(|other| layer(other) > layer(file)).collect();
        assert!(upwards.is_empty(), "{file} imports {upwards:?}, which lie above it");
    }
    let circle: Vec<_> = imports.keys().filter(|file| is_in_circle(file, &imports)).collect();
    assert!(circle.is_empty(), "imports lead from each of these files back to it: {circle:?}");
}

fn layer(file: &str) -> usize {
    let fit =
        |index: &usize| LAYERS[*index].iter().filter(|start| file.starts_with(**start)).map(|start| start.len()).max();
    let best = (0..LAYERS.len()).max_by_key(fit).filter(|best| fit(best).is_some());
    best.unwrap_or_else(|| panic!("{file} has no layer"))
}

/// True if a chain of imports leads from a file back to it.
fn is_in_circle(file: &String, imports: &Imports) -> bool {
    let (mut reached, mut next) = (BTreeSet::new(), vec![file]);
    while let Some(from) = next.pop() {
        next.extend(imports[from].iter().filter(|other| *other != from && reached.insert(*other)));
    }
    reached.contains(file)
}

fn imports(src: &Path) -> Imports {
    let mut texts = BTreeMap::new();
    read(src, src, &mut texts);
    let files: BTreeMap<String, &String> = texts.keys().map(|file| (module(file), file)).collect();
    // A path names a module or something in one.
    let file_of = |path: String| (0..=path.len()).rev().find_map(|end| files.get(path.get(..end)?).copied().cloned());
    let mut imports = Imports::new();
    for (file, text) in &texts {
        let imported = uses(&module(file), text).into_iter().filter_map(file_of).map(unit);
        imports.entry(unit(file.clone())).or_default().extend(imported);
    }
    imports
}

/// An algorithm counts as one file, however many it has. Forms of it that are other simulators' lie in `compat`.
fn unit(file: String) -> String {
    match file.as_str() {
        "compat/cc/linux26.rs" => return "cc/cubic.rs".to_owned(),
        "compat/cc/native_vegas.rs" => return "cc/vegas.rs".to_owned(),
        _ => {}
    }
    match file.split('/').collect::<Vec<_>>()[..] {
        ["cc", algorithm, _] => format!("cc/{algorithm}.rs"),
        _ => file,
    }
}

/// The texts of the files without their unit tests.
fn read(src: &Path, folder: &Path, texts: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(src, &path, texts);
        } else if !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let file = path.strip_prefix(src).unwrap().to_str().unwrap().to_owned();
            texts.insert(file, text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned());
        }
    }
}

/// `cc/mod.rs` is `crate::cc`, `sender/core.rs` is `crate::sender::core`.
fn module(file: &str) -> String {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
    if path == "lib" { "crate".to_owned() } else { format!("crate::{path}") }
}

/// The full paths of what a module uses. That it shows what its own submodules define is no use of it.
fn uses(module: &str, text: &str) -> Vec<String> {
    let parent = module.rsplit_once("::").map_or("crate", |(parent, _)| parent);
    let mut paths = Vec::new();
    for marker in ["\nuse ", "\npub use ", "\npub(crate) use "] {
        for tree in text.split(marker).skip(1).filter_map(|rest| rest.split(';').next()) {
            let (head, names) = tree.split_once('{').unwrap_or((tree, ""));
            assert!(!names.contains('{'), "{module} has nested imports, which are not read here: {tree}");
            let head = match head.split_once("::") {
                Some(("crate", _)) => head.to_owned(),
                Some(("super", rest)) => format!("{parent}::{rest}"),
                Some(("self", rest)) => format!("{module}::{rest}"),
                _ => format!("{module}::{head}"),
            };
            let is_face = marker != "\nuse " && head.starts_with(&format!("{module}::"));
            let names = names.trim_end_matches('}').split(',').map(str::trim);
            let named =
                names.filter(|name| !name.is_empty() || !head.ends_with("::")).map(|name| format!("{head}{name}"));
            paths.extend(named.filter(|_| !is_face));
        }
    }
    paths
}
