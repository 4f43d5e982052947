//! Formats of export: each writes a network, the same bytes every time, or says why it cannot.

use formats::export::{ExportInput, FORMATS};
use serde_json::{Map, json};

const NETWORKS: [&str; 5] = [
    "slim_fly:q=5,p=2",
    "fat_tree:levels=2,k=4",
    "ring:n=4,p=1",
    "ring:n=5,p=0",
    "multi_plane:planes=2,of=ring:n=4",
];

#[test]
fn every_format_writes_or_says_why_not() {
    for format in FORMATS {
        let name = format.part.name;
        let mut written = 0;
        for net in NETWORKS {
            let recipe = fabric::network::parse_inline(net).expect("well formed");
            let family = families::family(&recipe.family).expect("a family");
            let network = family.build(&recipe.params).expect("a member");
            let source = ExportInput { network: &network, routing: None, places: None };
            let options = Map::new();
            match format.write(&source, &options) {
                Ok(text) => {
                    written += 1;
                    assert!(text.ends_with('\n'), "{name} of {net}: the last line has no end");
                    assert_eq!(format.write(&source, &options), Ok(text), "{name} of {net}");
                }
                Err(why) => assert!(!why.help.is_empty(), "{name} of {net}: {why}"),
            }
            let strange = json!({ "no_such_option": 1 });
            let strange = strange.as_object().expect("a table");
            assert!(format.write(&source, strange).is_err(), "{name} takes any option");
        }
        assert!(written > 0, "{name} writes none of these networks");
        assert!(!format.part.doc.is_empty() && !format.networks.is_empty(), "{name}");
    }
}
