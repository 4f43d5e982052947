"""Cables pulled, swapped and repaired on a running fabric: what verify-cables says, and how routing
goes on. ibsim's console does to the fabric what hands would do."""

import json
import re
import subprocess
import sys

import flyloom as fl
import pytest
from cli_helpers import flyloom
from deploy_helpers import needs_fabric
from flyloom.deploy.fabric import opensm_engine
from flyloom.deploy.live import Live
from patience import QUIET_S

pytestmark = [pytest.mark.ib, needs_fabric]

HOSTS = 2  # of each switch: pairs of them are what takes time
PLAN = f"slim_fly:q=5,p={HOSTS}"
DEAD = 17  # a switch; not that of host 0, where OpenSM runs
CABLES = 50 * 7 // 2 + 50 * HOSTS
COUNTS = ("planned", "correct", "degraded", "misplaced", "lost")


@pytest.fixture(scope="module")
def plan():
    return fl.network(PLAN)


def verify_cables(live, *more):
    """The command on a machine of the fabric: exit code and the JSON document."""
    done = flyloom("verify-cables", PLAN, *more, "--json", env=live.ibsim.env(),
                   cwd=live.ibsim.workdir)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


class Cabling:
    """The plan's cables between switches, and the hands that change them."""

    def __init__(self, plan, live):
        table = plan.link_table
        keys = ("a_switch", "a_port", "b_switch", "b_port")
        self.ends = list(zip(*(table[key].tolist() for key in keys), strict=True))
        self.names = plan.switch_names
        self.live = live

    def free_of(self, *switches):
        """The cables that touch none of these switches."""
        return [e for e in self.ends if e[0] not in switches and e[2] not in switches]

    def pull(self, cable):
        self.live.ibsim.unlink(self.live.switch_id(cable[0]), cable[1])

    def plug(self, a, p, b, q):
        self.live.ibsim.link(self.live.switch_id(a), p, self.live.switch_id(b), q)

    def swap(self, one, other):
        """Exchanges the far plugs of two cables."""
        self.pull(one)
        self.pull(other)
        self.plug(*one[:2], *other[2:])
        self.plug(*other[:2], *one[2:])

    def label(self, switch, port):
        return f"{self.names[switch]} port {port} "

    def labels(self, cable):
        return {self.label(*cable[:2]), self.label(*cable[2:])}


def two_apart(cables):
    """Two cables without a switch in common."""
    one = cables[0]
    return one, next(c for c in cables if not {one[0], one[2]} & {c[0], c[2]})


def mentions(labels, text):
    """Whether the words name each of these ports (a label ends in a space: port 1 is not 11)."""
    return all(label in text + " " for label in labels)


def plugs_named(repair):
    return set(re.findall(r"\S+ port \d+ ", re.sub("[,;]", " ,", f"{repair} ")))


def is_repaired_by(repair, cabling, one, other):
    """Whether the two plugs to exchange are those at one end of the cables, as they are now."""
    named = plugs_named(repair)
    near = {cabling.label(*one[:2]), cabling.label(*other[:2])}
    far = {cabling.label(*one[2:]), cabling.label(*other[2:])}
    return named in (near, far)


def test_each_fault_is_named_with_its_repair(plan):
    """No subnet manager needed: one fault after the other, each repaired before the next."""
    with Live(plan) as live:
        cabling = Cabling(plan, live)
        code, found = verify_cables(live)
        assert (code, found["clean"], found["findings"]) == (0, True, [])
        assert [found[key] for key in COUNTS] == [CABLES, CABLES, 0, 0, 0]
        steps = [step["correct"] for step in found["progress"]["steps"]]
        assert steps[0] == 50 * HOSTS and sum(steps) == CABLES

        cable = cabling.ends[61]
        cabling.pull(cable)
        code, found = verify_cables(live)
        (fault,) = found["findings"]
        assert (code, fault["fault"]) == (1, "missing")
        assert mentions(cabling.labels(cable), fault["what"]) and "plug it in" in fault["mend"]
        assert (found["correct"], found["misplaced"], found["lost"]) == (CABLES - 1, 0, 1)
        assert found["missing"] == 1
        cabling.plug(*cable)
        assert verify_cables(live)[0] == 0

        one, other = two_apart(cabling.free_of(0))
        cabling.swap(one, other)
        code, found = verify_cables(live)
        (fault,) = found["findings"]
        assert (code, fault["fault"]) == (1, "swapped")
        assert mentions(cabling.labels(one) | cabling.labels(other), fault["what"])
        assert is_repaired_by(fault["mend"], cabling, one, other)
        assert (found["correct"], found["misplaced"], found["lost"]) == (CABLES - 2, 2, 0)
        for end in (one, other):
            cabling.pull(end)
        cabling.plug(*one)
        cabling.plug(*other)
        assert verify_cables(live)[0] == 0

        live.ibsim.unlink(live.switch_id(DEAD))
        code, found = verify_cables(live)
        (fault,) = found["findings"]
        assert (code, fault["fault"]) == (1, "missing_switch")
        assert f"switch {plan.switch_names[DEAD]} " in fault["what"] and "power" in fault["mend"]
        lost = 7 + HOSTS
        assert (found["correct"], found["misplaced"], found["lost"]) == (CABLES - lost, 0, lost)
        live.ibsim.relink(live.switch_id(DEAD))
        assert verify_cables(live)[0] == 0


def break_all(cabling, live):
    """A cable pulled, a pair swapped, a switch dead; (pulled, one, other)."""
    cables = cabling.free_of(0, DEAD)
    one, other = two_apart(cables)
    far = {one[0], one[2], other[0], other[2]}
    pulled = next(c for c in cables if not far & {c[0], c[2]})
    cabling.pull(pulled)
    cabling.swap(one, other)
    live.ibsim.unlink(live.switch_id(DEAD))
    live.settle(QUIET_S)
    return pulled, one, other


def repair_all(cabling, live, pulled, one, other):
    live.ibsim.relink(live.switch_id(DEAD))
    for cable in (one, other):
        cabling.pull(cable)
    for cable in (one, other, pulled):
        cabling.plug(*cable)
    live.settle(QUIET_S)


def faults_of(found):
    return sorted(finding["fault"] for finding in found["findings"])


def test_our_tables_follow_the_fabric_and_back(plan):
    """All three faults at once under OpenSM with tables of ours: the old ones no longer hold, ones
    for the fabric as found do, with the same LIDs; once it is repaired, the first ones hold
    again."""
    lmc = 1
    routing = fl.route(plan, "dfsssp", lmc=lmc)
    with Live(plan, lmc) as live:
        cabling = Cabling(plan, live)
        live.load(routing)
        assert live.check(routing, plan).verified
        assert verify_cables(live)[0] == 0

        pulled, one, other = break_all(cabling, live)
        code, found = verify_cables(live)
        assert (code, faults_of(found)) == (1, ["missing", "missing_switch", "swapped"])
        words = {finding["fault"]: finding["what"] for finding in found["findings"]}
        assert mentions(cabling.labels(pulled), words["missing"])
        assert mentions(cabling.labels(one) | cabling.labels(other), words["swapped"])
        assert plan.switch_names[DEAD] in words["missing_switch"]

        damaged = live.as_found()
        assert damaged.addresses(lmc) == plan.addresses(lmc)
        assert len(damaged.edges) == 175 - 7 - 1
        stale = live.check(routing, damaged)
        assert not stale.verified and stale.counterexample

        fresh = fl.route(damaged, "dfsssp", lmc=lmc)
        live.load(fresh)
        again = live.check(fresh, damaged)
        assert again.verified and again.deadlock_free
        assert again.entries == 49 * (49 * HOSTS * 2 + 49)
        assert [again[f"differing_{k}entries"] for k in ("", "sl_", "sl2vl_")] == [0, 0, 0]

        repair_all(cabling, live, pulled, one, other)
        live.load(routing)
        assert verify_cables(live)[0] == 0
        healed = live.check(routing, plan)
        assert healed.verified and healed.differing_entries == 0
        assert healed.sl_entries == 50 * HOSTS * (50 * HOSTS - 1) * 2
        assert healed.differing_sl_entries == 0


def test_opensm_routes_around_by_itself(plan):
    """An engine of OpenSM reroutes by itself, since OpenSM sweeps of its own accord; its tables are
    read on the fabric as ibnetdiscover shows it, with the LIDs that it shows."""
    with opensm_engine(plan, "nue") as live:
        cabling = Cabling(plan, live)
        first = live.read().lfts
        faults = break_all(cabling, live)
        assert faults_of(verify_cables(live)[1]) == ["missing", "missing_switch", "swapped"]
        found = fl.network(saved(live))
        snapshot = live.read()
        assert snapshot.lfts != first
        tables = found.import_tables(
            snapshot.lfts, "dump_fts", snapshot.levels, snapshot.sl2vl
        )
        proof = fl.verify(tables)
        assert proof.holds and proof.complete.routes == 49 * 49 * HOSTS
        assert fl.verify(live.tables()).holds  # with the plan's numbers, too

        repair_all(cabling, live, *faults)
        assert verify_cables(live)[0] == 0
        healed = fl.verify(live.tables())
        assert healed.holds and healed.complete.routes == 50 * 50 * HOSTS


def saved(live):
    path = live.ibsim.workdir / "discovered.txt"
    path.write_text(live.discover())
    assert verify_cables(live, str(path)) == verify_cables(live)
    return path


def test_an_endpoint_elsewhere_keeps_its_address(plan):
    """An endpoint's cable in a free port of another switch: found, named, and routed to."""
    mover, port = 33, 2  # endpoint 33 is the second on its switch; the new place had another's plug
    evicted = next(
        t for t, (s, p) in enumerate(plan.attachments.tolist()) if (s, p) == (40, port)
    )
    routing = fl.route(plan, "dfsssp")
    with Live(plan) as live:
        live.load(routing)
        for endpoint in (mover, evicted):
            live.ibsim.unlink(live.endpoint_id(endpoint), 1)
        live.ibsim.link(live.endpoint_id(mover), 1, live.switch_id(40), port)
        live.settle(QUIET_S)
        code, found = verify_cables(live)
        assert code == 1
        text = " ".join(finding["what"] for finding in found["findings"])
        assert plan.endpoint_names[mover] in text and plan.endpoint_names[evicted] in text
        now = live.as_found()
        assert now.attachments[mover].tolist() == [40, port]
        assert now.addresses() == plan.addresses()
        fresh = fl.route(now, "dfsssp")
        live.load(fresh)
        again = live.check(fresh, now)
        assert again.verified and again.differing_entries == again.differing_sl_entries == 0
        assert again.sl_entries == (50 * HOSTS - 1) * (50 * HOSTS - 2)


# ---- without a fabric ----


def command(*words, code="from flyloom.cli import main; main()"):
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True, text=True, timeout=60, check=False,
    )


def test_a_machine_without_a_fabric_is_reported():
    done = command("verify-cables", PLAN, "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]["kind"]) == (3, "broken")
    assert "this machine is on no InfiniBand fabric" in done.stderr
    assert "or give saved ibnetdiscover output" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_machine_without_the_tool_is_reported():
    code = (
        "from flyloom.deploy import tools; tools._find_program = lambda name: None\n"
        "from flyloom.cli import main; main()"
    )
    done = command("verify-cables", PLAN, code=code)
    assert (done.returncode, done.stdout) == (3, "")
    assert "ibnetdiscover is not here: apt-get install infiniband-diags" in done.stderr
