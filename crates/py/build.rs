//! Names the build of the engine: a hash of its sources, of the tables that they include, and of the versions of what it
//! uses. Two builds with one name give the same bits; results of another one are not mixed with them. And says how it was
//! optimised.

use std::fs;
use std::path::{Path, PathBuf};

const SOURCES: [&str; 4] = ["../tcp/src", "../sim/src", "../sim/data", "src"];
/// Sources and tables.
const ENDINGS: [&str; 3] = ["rs", "csv", "txt"];
const LOCK: &str = "../../Cargo.lock";
/// Versions of everything else cannot change what a run gives. PyO3 turns the numbers of an algorithm in Python into ours.
const COUNTED: [&str; 2] = ["libm", "pyo3"];

/// FNV-1a (RFC 9923) with 64 bits.
struct Hash(u64);

impl Hash {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The files of a folder and those below, tests left out.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|end| ENDINGS.iter().any(|counted| end == *counted))
            && path.file_stem().is_some_and(|name| name != "tests")
        {
            into.push(path);
        }
    }
}

fn main() {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    for folder in SOURCES {
        println!("cargo::rerun-if-changed={folder}");
        let mut files = Vec::new();
        sources(Path::new(folder), &mut files);
        files.sort();
        for file in files {
            hash.add(&file.to_string_lossy());
            let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            // What a comment says changes nothing.
            let counts = |line: &&str| !line.is_empty() && !line.starts_with("//");
            text.lines().map(str::trim).filter(counts).for_each(|line| hash.add(line));
        }
    }
    println!("cargo::rerun-if-changed={LOCK}");
    let lock = fs::read_to_string(LOCK).unwrap_or_else(|error| panic!("{LOCK}: {error}"));
    for package in lock.split("[[package]]") {
        if COUNTED.iter().any(|name| package.contains(&format!("name = \"{name}\""))) {
            hash.add(package.trim());
        }
    }
    println!("cargo::rustc-env=TONOPAH_ENGINE_BUILD={:016x}", hash.0);
    println!("cargo::rustc-env=TONOPAH_BUILD_PROFILE={}", profile());
}

/// The Cargo profile: the folder under the target directory, as Cargo's own variable tells `dev` from `release` only. It says how
/// fast the engine is; the bits of results do not depend on it.
fn profile() -> String {
    println!("cargo::rerun-if-env-changed=TONOPAH_PROFILE_GUIDED");
    if std::env::var_os("TONOPAH_PROFILE_GUIDED").is_some() {
        return "profile-guided".to_owned();
    }
    // TARGET/PROFILE/build/PACKAGE/out
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    let folder = out.ancestors().nth(3).and_then(Path::file_name).expect("Cargo's layout");
    folder.to_string_lossy().into_owned()
}
