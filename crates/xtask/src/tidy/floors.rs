//! Which crate may use which: what its arrows name, and what that uses.

use serde_json::Value;

use super::finding::RuleViolation;

/// Every crate with the crates that its arrows point to.
const ARROWS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("fabric", &["base"]),
    ("families", &["fabric"]),
    ("verify", &["fabric"]),
    ("traffic", &["fabric"]),
    ("engines", &["traffic"]),
    ("measure", &["traffic", "verify"]),
    ("mapping", &["traffic"]),
    ("plan", &["fabric"]),
    ("formats", &["traffic"]),
    ("design", &["families", "measure"]),
    ("des", &["base"]),
    ("des-mpi", &["des"]),
    ("paths", &["traffic", "verify"]),
    ("flit", &["paths"]),
    ("message", &["paths"]),
    ("packet", &["message", "des"]),
    ("capi", &["families", "formats", "mapping"]),
    ("lab", &["engines", "plan", "formats", "design", "flit", "packet", "mapping"]),
    ("py", &["lab", "des-mpi", "capi"]),
    ("xtask", &["lab"]),
    ("conformance", &["lab"]),
];

/// Crates that nothing stands on, not even tests.
const TOPS: &[&str] = &["py", "xtask", "conformance"];

/// Checks the answer of `cargo metadata --no-deps`: normal and build dependencies must follow the
/// arrows, and tests may depend on every crate but the tops.
///
/// # Errors
/// Metadata that is not what cargo writes.
pub(super) fn check(metadata: &str) -> Result<Vec<RuleViolation>, String> {
    let bad = |what: &str| format!("cargo metadata: {what}");
    let value: Value = serde_json::from_str(metadata).map_err(|e| bad(&e.to_string()))?;
    let root = value["workspace_root"].as_str().ok_or_else(|| bad("no workspace_root"))?;
    let packages = value["packages"].as_array().ok_or_else(|| bad("no packages"))?;
    let mut findings = Vec::new();
    for package in packages {
        let name = package["name"].as_str().ok_or_else(|| bad("a package without name"))?;
        let manifest = package["manifest_path"].as_str().unwrap_or(name);
        let path = manifest.strip_prefix(root).unwrap_or(manifest).trim_start_matches('/');
        if arrows(short(name)).is_none() {
            let what = format!("crate `{name}` has no arrows; give it some in ARROWS of xtask");
            findings.push(RuleViolation::new(path, 0, what));
            continue;
        }
        let below = below(short(name));
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let other = dependency["name"].as_str().unwrap_or_default();
            let known = arrows(short(other)).is_some();
            let free = dependency["kind"] == "dev" && known && !TOPS.contains(&short(other));
            let ours = known || !dependency["path"].is_null();
            if ours && !free && !below.contains(&short(other)) {
                let may = if below.is_empty() { "no crate".to_owned() } else { below.join(", ") };
                let what = format!("`{name}` uses `{other}`; it may use {may} of the workspace");
                findings.push(RuleViolation::new(path, 0, what));
            }
        }
    }
    Ok(findings)
}

/// The crate's name in this table: `flyloom-plan` is `plan`.
fn short(name: &str) -> &str {
    name.strip_prefix("flyloom-").unwrap_or("")
}

fn arrows(name: &str) -> Option<&'static [&'static str]> {
    ARROWS.iter().find(|(n, _)| *n == name).map(|(_, to)| *to)
}

/// All that stands below crate `name`, in the order of the table.
fn below(name: &str) -> Vec<&'static str> {
    let direct = arrows(name).unwrap_or_default();
    let all: Vec<&str> = direct.iter().flat_map(|n| below(n)).chain(direct.to_vec()).collect();
    ARROWS.iter().map(|(n, _)| *n).filter(|n| all.contains(n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(package: &str, uses: &[&str]) -> String {
        let uses: Vec<Value> = uses
            .iter()
            .map(|n| (n.strip_prefix("dev "), *n))
            .map(|(dev, n)| (dev.map(|_| "dev"), dev.unwrap_or(n)))
            .map(|(kind, n)| (kind, n, n.starts_with("flyloom").then_some("/r")))
            .map(|(kind, n, path)| serde_json::json!({"name": n, "path": path, "kind": kind}))
            .collect();
        serde_json::json!({
            "workspace_root": "/r",
            "packages": [{
                "name": package, "manifest_path": "/r/crates/x/Cargo.toml", "dependencies": uses,
            }],
        })
        .to_string()
    }

    fn found(package: &str, uses: &[&str]) -> Vec<String> {
        let findings = check(&metadata(package, uses)).expect("good metadata");
        findings.iter().map(RuleViolation::to_string).collect()
    }

    #[test]
    fn downward_and_foreign_edges_are_free() {
        assert!(found("flyloom-lab", &["flyloom-packet", "flyloom-paths", "serde"]).is_empty());
        assert!(found("flyloom-py", &["flyloom-lab", "pyo3"]).is_empty());
        assert!(
            found("flyloom-base", &["rayon", "net", "base"]).is_empty(),
            "other people's names"
        );
    }

    #[test]
    fn tests_may_use_what_something_may_stand_on() {
        assert!(found("flyloom-verify", &["dev flyloom-engines"]).is_empty());
        assert_eq!(found("flyloom-verify", &["dev flyloom-py", "dev flyloom-attic"]).len(), 2);
    }

    #[test]
    fn upward_and_sideward_edges_are_found() {
        for (package, other) in [
            ("flyloom-base", "flyloom-fabric"),
            ("flyloom-fabric", "flyloom-families"),
            ("flyloom-verify", "flyloom-engines"),
            ("flyloom-engines", "flyloom-verify"),
            ("flyloom-measure", "flyloom-families"),
            ("flyloom-des", "flyloom-fabric"),
            ("flyloom-flit", "flyloom-packet"),
            ("flyloom-message", "flyloom-des"),
            ("flyloom-paths", "flyloom-flit"),
            ("flyloom-py", "flyloom-xtask"),
            ("flyloom-verify", "flyloom-verify"),
        ] {
            let lines = found(package, &["serde", other]);
            assert_eq!(lines.len(), 1, "{package} -> {other}");
            let says = format!("crates/x/Cargo.toml: `{package}` uses `{other}`");
            assert!(lines[0].starts_with(&says), "{}", lines[0]);
        }
    }

    #[test]
    fn a_crate_without_arrows_is_found() {
        assert!(found("flyloom-attic", &[])[0].contains("has no arrows"));
        assert!(found("loose", &[])[0].contains("has no arrows"));
    }

    #[test]
    fn not_metadata_is_an_error() {
        assert!(check("{}").is_err() && check("no").is_err());
    }
}
