//! Every folder imports only folders of lower layers: the imports have no circle.

use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up. Modules of one layer do not import each other.
const LAYERS: [&[&str]; 19] = [
    &["foreign"],
    &["ids", "scenario", "algorithms", "hash"],
    &["earth"],
    &["packet", "mobility", "orbit"],
    &["routing", "metrics"],
    &["engine"],
    &["qdisc"],
    &["radio"],
    &["link", "wireless"],
    &["network"],
    &["host", "constellation", "connectivity"],
    &["workload"],
    &["expand", "series"],
    &["world"],
    &["assemble", "summary", "invariants"],
    &["simulation"],
    &["analysis", "memory", "parallel", "outside"],
    &["limits"],
    &["lib"],
];

/// Files of `compat/`, which other simulators alone need, and the module that declares each by its path: it is of that one's layer.
const COMPAT: [(&str, &str, &str); 5] = [
    ("lrwpan_ns2.rs", "radio", "radio/lrwpan/mod.rs"),
    ("dsdv_ns3.rs", "routing", "routing/dsdv/mod.rs"),
    ("dsr_flows.rs", "routing", "routing/dsr/mod.rs"),
    ("arp_ns3.rs", "wireless", "wireless/mod.rs"),
    ("sink_agents.rs", "assemble", "assemble/mod.rs"),
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
        let owner = COMPAT.iter().find(|(name, ..)| module == "compat" && path.ends_with(name));
        let module = owner.map_or(module, |(_, owner, _)| owner);
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

/// What stands in `compat/` is declared once, by the file that calls it.
#[test]
fn compat_is_declared_by_its_owners() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut there: Vec<_> = fs::read_dir(root.join("compat")).unwrap().map(|entry| entry.unwrap().path()).collect();
    there.retain(|path| path.is_file());
    let mut names: Vec<_> = there.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    let mut listed: Vec<_> = COMPAT.iter().map(|(name, ..)| *name).collect();
    names.sort_unstable();
    listed.sort_unstable();
    assert_eq!(names, listed);
    for (name, _, by) in COMPAT {
        let text = fs::read_to_string(root.join(by)).unwrap();
        assert!(text.contains(&format!("compat/{name}\"]")), "{by} does not declare {name}");
    }
}
