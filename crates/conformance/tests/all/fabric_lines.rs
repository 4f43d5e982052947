//! Lines of fabrics that real tools print, one kind a test.

use fabric::network::InfinibandLaneSpeed;
use formats::graph_file::read_any;

/// Two switches with a cable at `rate`, and an endpoint on each.
fn pair(rate: &str) -> String {
    format!(
        "switchguid=0x10(10)\nSwitch 4 \"S-10\" # \"a\" enhanced port 0 lid 1 lmc 0\n\
         [1] \"H-1\"[1](2) # \"x\" lid 3 4xHDR\n[2] \"S-20\"[2] # \"b\" lid 2 {rate}\n\n\
         switchguid=0x20(20)\nSwitch 4 \"S-20\" # \"b\" enhanced port 0 lid 2 lmc 0\n\
         [1] \"H-2\"[1](3) # \"y\" lid 4 4xHDR\n[2] \"S-10\"[2] # \"a\" lid 1 {rate}\n\n\
         caguid=0x1\nCa 1 \"H-1\" # \"x\"\n[1](2) \"S-10\"[1] # lid 3 lmc 0 \"a\" lid 1 4xHDR\n\n\
         caguid=0x2\nCa 1 \"H-2\" # \"y\"\n[1](3) \"S-20\"[1] # lid 4 lmc 0 \"b\" lid 2 4xHDR\n"
    )
}

/// The names that `ibnetdiscover` prints, with what the standard has for data: Gbit/s a lane.
#[test]
fn every_speed_is_read_by_its_name() {
    // 8 of 10 bits are data up to QDR, 64 of 66 from FDR10 to EDR
    let rates = [
        ("SDR", 0.8 * 2.5),
        ("DDR", 0.8 * 5.0),
        ("QDR", 0.8 * 10.0),
        ("FDR10", 10.3125 * 64.0 / 66.0),
        ("FDR", 14.0625 * 64.0 / 66.0),
        ("EDR", 25.0),
        ("HDR", 50.0),
        ("NDR", 100.0),
        ("XDR", 200.0),
    ];
    assert_eq!(
        InfinibandLaneSpeed::ALL.map(|s| s.to_string()),
        rates.map(|(name, _)| name.to_owned())
    );
    for (name, lane_gbps) in rates {
        for width in [1_u8, 2, 4, 8, 12] {
            let t = read_any(&pair(&format!("{width}x{name}")), "f", None).expect("a good file");
            let is = t.links()[0].cable.rate_gbps();
            assert!((is - lane_gbps * f64::from(width)).abs() < 1e-9, "{width}x{name}: {is}");
        }
        let json = format!(
            "{{\"flyloom\": 1, \"recipe\": {{\"family\": \"file\", \"params\": {{}}}},\
             \"switches\": [{{\"name\": \"a\"}}, {{\"name\": \"b\"}}],\
             \"links\": [[0, 0, 1, 0, {{\"speed\": \"{name}\"}}]],\
             \"endpoints\": []}}"
        );
        let t = read_any(&json, "j", None).expect("a good file");
        assert!((t.links()[0].cable.rate_gbps() - 4.0 * lane_gbps).abs() < 1e-9, "{name}");
    }
}

/// What `ibnetdiscover -s` shows before the fabric, and a rate that it has no name for (`??`, and
/// `???` of speeds).
#[test]
fn progress_is_left_out_and_unknown_rates_are_remarked() {
    let shown = "DR path slid 0; dlid 0; 0 -> new Switch {0000000000000010} portnum 0 lid 0-0 \
        \"\"\n\
        DR path slid 0; dlid 0; 0,1 -> known Channel Adapter {0000000000000001} portnum 1 lid 3-3 \
        \"x\"\n#\n# Topology file: generated on Fri Nov 27 12:30:07 2026\n#\n";
    let plain = read_any(&pair("4xEDR"), "f", None).expect("a good file");
    let found = read_any(&format!("{shown}{}", pair("4xEDR")), "f", None).expect("a good file");
    assert_eq!((found.switches(), found.links()), (plain.switches(), plain.links()));
    assert_eq!(found.aside().remarks.len(), 1, "{:?}", found.aside().remarks);
    assert!(found.aside().remarks[0].starts_with("2 lines of programs left out"));
    assert!(plain.aside().remarks.is_empty());
    for (rate, taken) in [("??EDR", "(4xEDR)"), ("4x???", "(4xHDR)")] {
        let found = read_any(&pair(rate), "f", None).expect("a good file");
        let remarks = &found.aside().remarks;
        assert!(
            remarks.len() == 1
                && remarks[0].starts_with("1 cable has an unknown width or speed")
                && remarks[0].ends_with(taken),
            "{rate}: {remarks:?}"
        );
    }
}
