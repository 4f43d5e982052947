//! Which crate may use which: a crate uses what stands below it, never beside or above.

use serde_json::Value;

use super::Finding;

/// Every crate with the crates below it.
const FLOORS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("net", &["base"]),
    ("des", &["base"]),
    ("sim", &["base", "net", "des"]),
    ("lab", &["base", "net", "des", "sim"]),
    ("py", &["base", "net", "des", "sim", "lab"]),
    ("xtask", &["base", "net", "des", "sim", "lab"]),
];

/// Checks the answer of `cargo metadata --no-deps`: normal, build and test dependencies alike.
///
/// # Errors
/// Metadata that is not what cargo writes.
pub(super) fn check(metadata: &str) -> Result<Vec<Finding>, String> {
    let bad = |what: &str| format!("cargo metadata: {what}");
    let value: Value = serde_json::from_str(metadata).map_err(|e| bad(&e.to_string()))?;
    let root = value["workspace_root"].as_str().ok_or_else(|| bad("no workspace_root"))?;
    let packages = value["packages"].as_array().ok_or_else(|| bad("no packages"))?;
    let mut findings = Vec::new();
    for package in packages {
        let name = package["name"].as_str().ok_or_else(|| bad("a package without name"))?;
        let manifest = package["manifest_path"].as_str().unwrap_or(name);
        let path = manifest.strip_prefix(root).unwrap_or(manifest).trim_start_matches('/');
        let Some(below) = below(short(name)) else {
            let what = format!("crate `{name}` has no floor; give it one in FLOORS of xtask");
            findings.push(Finding::new(path, 0, what));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let other = dependency["name"].as_str().unwrap_or_default();
            let ours = !dependency["path"].is_null() || below_known(short(other));
            if ours && !below.contains(&short(other)) {
                let may = if below.is_empty() { "no crate".to_owned() } else { below.join(", ") };
                let what = format!("`{name}` uses `{other}`; it may use {may} of the workspace");
                findings.push(Finding::new(path, 0, what));
            }
        }
    }
    Ok(findings)
}

/// The crate's name in this table: `flyloom-net` is `net`.
fn short(name: &str) -> &str {
    name.strip_prefix("flyloom-").unwrap_or("")
}

fn below(name: &str) -> Option<&'static [&'static str]> {
    FLOORS.iter().find(|(n, _)| *n == name).map(|(_, below)| *below)
}

fn below_known(name: &str) -> bool {
    below(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(package: &str, uses: &[&str]) -> String {
        let uses: Vec<Value> = uses
            .iter()
            .map(|n| (n, n.starts_with("flyloom").then_some("/r")))
            .map(|(n, path)| serde_json::json!({"name": n, "path": path}))
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
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn downward_and_foreign_edges_are_free() {
        assert!(found("flyloom-lab", &["flyloom-sim", "flyloom-base", "serde"]).is_empty());
        assert!(found("flyloom-py", &["flyloom-lab", "pyo3"]).is_empty());
        assert!(
            found("flyloom-base", &["rayon", "net", "base"]).is_empty(),
            "other people's names"
        );
    }

    #[test]
    fn upward_and_sideward_edges_are_found() {
        for (package, other) in [
            ("flyloom-base", "flyloom-net"),
            ("flyloom-net", "flyloom-des"),
            ("flyloom-des", "flyloom-net"),
            ("flyloom-net", "flyloom-sim"),
            ("flyloom-sim", "flyloom-lab"),
            ("flyloom-py", "flyloom-xtask"),
            ("flyloom-net", "flyloom-net"),
        ] {
            let lines = found(package, &["serde", other]);
            assert_eq!(lines.len(), 1, "{package} -> {other}");
            let says = format!("crates/x/Cargo.toml: `{package}` uses `{other}`");
            assert!(lines[0].starts_with(&says), "{}", lines[0]);
        }
    }

    #[test]
    fn a_crate_without_floor_is_found() {
        assert!(found("flyloom-attic", &[])[0].contains("has no floor"));
        assert!(found("loose", &[])[0].contains("has no floor"));
    }

    #[test]
    fn not_metadata_is_an_error() {
        assert!(check("{}").is_err() && check("no").is_err());
    }
}
