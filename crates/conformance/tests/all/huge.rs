//! Parameters of any size: a promise or a refusal, never an overflow, and at once.

use families::FAMILIES;
use serde_json::{Map, Value, json};

/// Numbers at which products of a few factors leave 32 or 64 bits; primes and powers among them.
const HUGE: [u64; 14] = [
    0,
    1,
    255,
    4096,
    46_337,
    65_521,
    65_536,
    1_000_003,
    16_777_216,
    2_147_483_647,
    2_147_483_648,
    4_294_967_291,
    4_294_967_295,
    18_446_744_073_709_551_615,
];

/// `value` with its numbers made `huge`; `None` where it has none.
fn enlarged(value: &Value, huge: u64) -> Option<Value> {
    match value {
        Value::Number(_) => Some(huge.into()),
        Value::Array(items) => Some(items.iter().map(|_| Value::from(huge)).collect()),
        _ => None,
    }
}

#[test]
fn no_parameter_is_too_large_to_be_answered() {
    let mut promised = 0;
    for entry in FAMILIES {
        for recipe in entry.examples() {
            let mut cases: Vec<Map<String, Value>> = Vec::new();
            for huge in HUGE {
                let all = recipe
                    .params
                    .iter()
                    .map(|(k, v)| (k.clone(), enlarged(v, huge).unwrap_or_else(|| v.clone())));
                cases.push(all.collect());
                for (key, value) in &recipe.params {
                    let Some(more) = enlarged(value, huge) else { continue };
                    let mut params = recipe.params.clone();
                    params.insert(key.clone(), more);
                    cases.push(params);
                }
            }
            for params in cases {
                let Ok(promise) = entry.promise(&params) else { continue };
                promised += 1;
                // every switch with endpoints has one, every link two ends
                let shown = json!(params);
                assert!(promise.edge_switches <= promise.switches, "{} {shown}", entry.part.name);
                let ports = u128::from(promise.switches) * u128::from(promise.network_radix);
                assert!(2 * u128::from(promise.links) <= ports, "{} {shown}", entry.part.name);
            }
        }
    }
    assert!(promised > 500, "{promised}: some of these are members");
}
