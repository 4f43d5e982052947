//! Compares GUIDs and LIDs with results worked out by hand.

use fabric::addresses::{MAX_LID, PortAddresses};
use fabric::network::Topology;
use fabric::network::parse_inline;
use fabric::network::{Cable, NetworkRecipe, Switch, TopologyBuilder};
use families::family;
use proptest::prelude::*;
use serde_json::Map;
use std::collections::HashSet;

// the prefixes of the GUIDs that flyloom makes, as documented
const SWITCH_PREFIX: u64 = 0x02f1 << 48;
const NODE_PREFIX: u64 = 0x02f2 << 48;

fn built(inline: &str) -> Topology {
    let recipe = parse_inline(inline).expect("well formed");
    family(&recipe.family).expect("a family").build(&recipe.params).expect("a member")
}

/// `switches` switches with `hosts` endpoints of `rails` rails each, all on switch 0.
fn plain(switches: usize, hosts: usize, rails: u16) -> TopologyBuilder {
    let mut b = TopologyBuilder::new();
    for i in 0..switches {
        b.switch(Switch::new(format!("s{i}")));
    }
    for i in 0..hosts {
        let e = b.endpoint(format!("h{i}"), None);
        for _ in 0..rails {
            b.attach(e, base::SwitchId(0), 0, Cable::default());
        }
    }
    b
}

fn finish(b: TopologyBuilder) -> Topology {
    b.finish(NetworkRecipe { family: "test".into(), params: Map::new() }).expect("a valid network")
}

#[test]
fn hosts_come_first_and_are_aligned() {
    let t = built("slim_fly:q=5,p=4");
    for lmc in 0..=7 {
        let a = PortAddresses::assign(&t, lmc).expect("fits");
        // by hand: 200 hosts of 2^lmc LIDs from 2^lmc, then 50 switches
        assert_eq!((a.lid[0], a.lid[199]), (1 << lmc, 200 << lmc));
        assert_eq!((a.switch_lid[0], a.switch_lid[49]), (201 << lmc, (201 << lmc) + 49));
        assert_eq!(a.highest_lid(), (201 << lmc) + 49);
    }
    assert_eq!(PortAddresses::assign(&t, 8).expect_err("no LMC 8").param, "lmc");
}

#[test]
fn the_limit_is_the_last_unicast_lid() {
    // q = 19, p = 15: 10,830 hosts and 722 switches: LMC 2 needs 4 * 10,831 + 722 - 1 LIDs
    let t = built("slim_fly:q=19,p=15");
    assert_eq!(PortAddresses::assign(&t, 2).expect("fits").highest_lid(), 44_045);
    let refusal = PortAddresses::assign(&t, 3).expect_err("too many").to_string();
    assert!(refusal.contains("10830 terminals") && refusal.contains("largest LMC that fits is 2"));
    let full = |hosts| finish(plain(2, hosts, 1));
    assert_eq!(PortAddresses::assign(&full(49_149), 0).expect("fits").highest_lid(), MAX_LID);
    let refusal = PortAddresses::assign(&full(49_150), 0).expect_err("one too many");
    assert!(refusal.to_string().contains("no LMC fits"), "{refusal}");
}

#[test]
fn guid2lid_has_a_line_a_port() {
    let mut b = plain(1, 1, 2);
    b.terminal_mut(base::TerminalId(1)).port_guid = Some(0x0002_c903_0000_0011);
    let a = PortAddresses::assign(&finish(b), 1).expect("fits");
    let expected = "0x02f2000000010001 0x0002 0x0003\n\n0x0002c90300000011 0x0004 0x0005\n\n\
                    0x02f1000000010000 0x0006 0x0006\n\n";
    assert_eq!(a.guid2lid(), expected);
}

#[test]
fn from_fabric_wants_lids_that_are_there_and_differ() {
    let set = |lids: [u16; 3], lmc: u8| {
        let mut b = plain(1, 2, 1);
        for (i, lid) in lids[..2].iter().enumerate() {
            b.terminal_mut(base::TerminalId(i as u32)).lid = Some(*lid);
        }
        let mut params = Map::new();
        params.insert("lmc".into(), lmc.into());
        let mut t = b.finish(NetworkRecipe { family: "file".into(), params }).expect("valid");
        let mut with_lid = TopologyBuilder::new();
        with_lid.switch(Switch { lid: Some(lids[2]), ..t.switches()[0].clone() });
        for (e, x) in t.endpoints().iter().zip(t.terminals()) {
            let e = with_lid.endpoint(e.name.clone(), e.guid);
            let id = with_lid.attach(e, x.plug.switch, x.plug.port, x.cable);
            with_lid.terminal_mut(id).lid = x.lid;
        }
        t = with_lid.finish(t.recipe().clone()).expect("valid");
        PortAddresses::from_fabric(&t)
    };
    let a = set([4, 8, 1], 2).expect("all differ");
    assert_eq!((a.lmc, a.lid, a.switch_lid), (2, vec![4, 8], vec![1]));
    for (lids, lmc, word) in [
        ([4, 0, 1], 2, "has no LID"),
        ([4, 6, 1], 2, "multiple of 4"),
        ([4, 8, 6], 2, "taken by switch"),
        ([4, 4, 1], 0, "taken by endpoint h0"),
        ([4, 0xC000, 1], 0, "unicast"),
        ([4, 8, 1], 9, "0 to 7"),
    ] {
        let refusal = set(lids, lmc).expect_err(word).to_string();
        assert!(refusal.contains(word), "{refusal}");
    }
}

#[test]
fn equal_guids_are_refused() {
    let mut b = plain(1, 0, 0);
    for name in ["a", "b"] {
        b.switch(Switch { guid: Some(7), ..Switch::new(name) });
    }
    let refusal = PortAddresses::assign(&finish(b), 0).expect_err("two have GUID 7");
    assert!(refusal.to_string().contains("switch b has GUID 0x0000000000000007"), "{refusal}");
}

/// A network whose terminals and switches carry these LIDs, 0: none.
fn carrying(terminals: &[u16], switches: &[u16]) -> Topology {
    let mut b = TopologyBuilder::new();
    for (i, lid) in switches.iter().enumerate() {
        b.switch(Switch { lid: Some(*lid), ..Switch::new(format!("s{i}")) });
    }
    for (i, lid) in terminals.iter().enumerate() {
        let e = b.endpoint(format!("h{i}"), None);
        let id = b.attach(e, base::SwitchId(0), 0, Cable::default());
        b.terminal_mut(id).lid = Some(*lid);
    }
    finish(b)
}

#[test]
fn lids_of_a_fabric_stay() {
    let t = carrying(&[8, 16, 49_148], &[3, 12, 49_146]);
    for lmc in 0..=2 {
        let a = PortAddresses::assign(&t, lmc).expect("all fit");
        assert_eq!((&a.lid, &a.switch_lid), (&vec![8, 16, 49_148], &vec![3, 12, 49_146]));
        assert!(t.with_new_lids(lmc).expect("all fit") == t);
    }
    // by hand: 8 to 15 has a switch's 12 and stays, for the switch moves; 16 to 23 stays; 49,148 is
    // no multiple of 8; switch 12 gets the lowest that is free, the terminal the lowest free block
    let refusal = PortAddresses::assign(&t, 3).expect_err("two would move").to_string();
    assert_eq!(
        refusal,
        "lmc: 2 of 6 LIDs would move: endpoint h2 has LID 49148, no multiple of 8, as LMC 3 asks \
         for; LMC 2 keeps all; --new-lids (in Python new_lids=True) allows it"
    );
    let a = PortAddresses::assign(&t.with_new_lids(3).expect("room"), 3).expect("they fit");
    assert_eq!((a.lid, a.switch_lid), (vec![8, 16, 24], vec![3, 1, 49_146]));
    // two switches among the LIDs of a terminal stay, and it moves
    let t = carrying(&[8], &[9, 10]);
    let a = PortAddresses::assign(&t.with_new_lids(2).expect("room"), 2).expect("they fit");
    assert_eq!((a.lid, a.switch_lid), (vec![4], vec![9, 10]));
    // a port without a LID gets the lowest that is free, and moves nothing
    let a = PortAddresses::assign(&carrying(&[0, 4], &[0, 1]), 2).expect("none moves");
    assert_eq!((a.lid, a.switch_lid), (vec![8, 4], vec![2, 1]));
    let refusal = PortAddresses::assign(&carrying(&[5, 5], &[7]), 0).expect_err("one LID twice");
    assert!(refusal.to_string().contains("h1 has LID 5, as endpoint h0 has"), "{refusal}");
}

#[test]
fn where_kept_lids_leave_no_room_all_are_made() {
    // 24,574 endpoints of two LIDs and two switches need 49,151 of 49,151: made ones, endpoints
    // from 2 to 49,149, switches at 49,150 and 49,151. A switch that stays at 7 breaks a pair
    let mut lids = vec![0; 24_574];
    lids[0] = 2;
    let t = carrying(&lids, &[7, 49_151]);
    let refusal = PortAddresses::assign(&t, 1).expect_err("no room").to_string();
    assert!(refusal.contains("1 of 3 LIDs would move: switch s0 has LID 7, and there is no room"));
    let a = PortAddresses::assign(&t.with_new_lids(1).expect("room"), 1).expect("they fit");
    assert_eq!((a.lid[24_573], a.switch_lid), (49_148, vec![49_150, 49_151]));
}

proptest! {
    #[test]
    fn as_many_lids_stay_as_any_choice_keeps(
        terminals in proptest::collection::vec(0_u16..20, 4),
        switches in proptest::collection::vec(0_u16..20, 3),
        lmc in 0_u8..4,
    ) {
        let t = carrying(&terminals, &switches);
        let all: Vec<(u16, u16)> = terminals.iter().map(|l| (*l, 1 << lmc))
            .chain(switches.iter().map(|l| (*l, 1))).collect();
        // every set of ports that may keep their LIDs together
        let fits = |set: u32| {
            let kept: Vec<_> = (0..7).filter(|i| set >> i & 1 == 1).map(|i| all[i]).collect();
            let mut taken = HashSet::new();
            kept.iter().all(|(lid, count)| {
                *lid > 0 && lid % count == 0 && (*lid..lid + count).all(|l| taken.insert(l))
            })
        };
        let most = (0..128_u32).filter(|s| fits(*s)).map(u32::count_ones).max().unwrap_or(0);
        let new = t.with_new_lids(lmc).expect("room for seven");
        let a = PortAddresses::assign(&new, lmc).expect("they fit");
        let is = a.lid.iter().chain(&a.switch_lid);
        let stay = is.zip(&all).filter(|(new, old)| **new == old.0).count();
        prop_assert_eq!(stay, most as usize);
        let carried = all.iter().filter(|(lid, _)| *lid != 0).count();
        match PortAddresses::assign(&t, lmc) {
            Ok(same) => { prop_assert_eq!(carried, stay); prop_assert_eq!(same, a.clone()); }
            Err(no) => {
                let says = format!("{} of {carried} LIDs would move", carried - stay);
                prop_assert!(no.to_string().contains(&says), "{no}");
            }
        }
        let mut taken = HashSet::new();
        for lid in &a.lid {
            prop_assert!(lid % (1 << lmc) == 0);
            prop_assert!((*lid..lid + (1 << lmc)).all(|l| l > 0 && taken.insert(l)));
        }
        prop_assert!(a.switch_lid.iter().all(|l| *l > 0 && taken.insert(*l)));
    }

    #[test]
    fn made_guids_differ_from_kept_ones_and_from_one_another(
        kept in proptest::collection::vec(proptest::option::of(0_u64..6), 8),
        low in proptest::collection::vec(0_u64..4, 8),
    ) {
        // kept GUIDs lie where made ones would: serials 0 to 5 with low parts 0 to 3
        let mut b = TopologyBuilder::new();
        let mut seen = HashSet::new();
        let mut guid = |i: usize, prefix: u64| {
            let g = kept[i].map(|serial| prefix + (serial << 16) + low[i]);
            g.filter(|g| seen.insert(*g))
        };
        for i in 0..2 {
            b.switch(Switch { guid: guid(i, SWITCH_PREFIX), ..Switch::new(format!("s{i}")) });
        }
        for i in 2..4 {
            let node = guid(i, NODE_PREFIX);
            let e = b.endpoint(format!("h{i}"), node);
            for rail in 0..2 {
                let id = b.attach(e, base::SwitchId(0), 0, Cable::default());
                b.terminal_mut(id).port_guid = guid(2 * i + rail, NODE_PREFIX);
            }
        }
        let a = PortAddresses::assign(&finish(b.clone()), 0).expect("kept GUIDs differ");
        let all: Vec<u64> =
            [&a.switch_guid[..], &a.node_guid, &a.port_guid].concat();
        prop_assert_eq!(all.iter().collect::<HashSet<_>>().len(), 8);
        let t = finish(b);
        for (s, g) in t.switches().iter().zip(&a.switch_guid) {
            prop_assert!(s.guid.is_none_or(|kept| kept == *g));
        }
        for (x, g) in t.terminals().iter().zip(&a.port_guid) {
            prop_assert!(x.port_guid.is_none_or(|kept| kept == *g));
        }
        prop_assert_eq!(&PortAddresses::assign(&t, 0).expect("again"), &a);
    }
}
