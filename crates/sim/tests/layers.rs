//! Every folder imports only folders of lower layers: the imports have no circle.

use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up. Modules of one layer do not import each other.
const LAYERS: [&[&str]; 16] = [
    &["ids", "scenario", "algorithms", "hash"],
    &["earth"],
    &["packet", "mobility", "orbit"],
    &["routing", "metrics"],
    &["engine"],
    &["qdisc", "radio"],
    &["link", "wireless"],
    &["network"],
    &["host", "constellation", "connectivity"],
    &["workload"],
    &["expand", "series"],
    &["world"],
    &["assemble", "summary", "invariants"],
    &["simulation"],
    &["analysis", "memory", "parallel"],
    &["lib"],
];

fn layer(module: &str) -> usize {
    let layer = LAYERS.iter().position(|modules| modules.contains(&module));
    layer.unwrap_or_else(|| panic!("module {module} has no layer"))
}

/// The files below a folder, tests excluded.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| !path.ends_with("tests.rs")).collect()
}

#[test]
fn modules_import_lower_layers_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut violations = Vec::new();
    for file in sources(&root) {
        let path = file.strip_prefix(&root).unwrap();
        let module = path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("\nmod tests {").next().unwrap().lines().filter(|line| !line.trim().starts_with("//"));
        let imports = code.flat_map(|line| line.split("crate::").skip(1));
        for import in imports.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap()) {
            if import != module && layer(import) >= layer(module) {
                violations.push(format!("{} imports {import}", path.display()));
            }
        }
    }
    assert!(violations.is_empty(), "{violations:#?}");
}
