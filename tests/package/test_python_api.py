"""The Python package: every name documented, quick to import, results that hold, Ctrl-C heard."""

from __future__ import annotations

import inspect
import json
import pickle
import signal
import subprocess
import sys
import time

import flyloom as fl
import numpy as np
import pytest
from cli_helpers import command, environment
from flyloom import RefusalError, Result
from patience import HANG_S
from test_endings import wait_until_it_hears

PUBLIC = sorted(n for n in dir(fl) if not n.startswith("_"))


def test_the_names_promised_are_there():
    promised = {
        "slim_fly", "fat_tree", "dragonfly", "hyperx", "torus", "mesh", "network", "from_networkx",
        "to_networkx", "to_scipy", "structure", "promise", "plan", "route", "verify", "ebb",
        "edge_load", "check_cables", "deploy", "run", "Topology", "Routing", "Result",
        "RefusalError", "DeployError",
    }
    assert promised <= set(PUBLIC)
    for name in promised:
        assert getattr(fl, name) is getattr(fl, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = fl.nonsense


@pytest.mark.parametrize("first", ["fl.DeployError", "fl.deploy", "import flyloom.deploy.tools"])
def test_the_verb_deploy_is_not_hidden_by_the_package(first):
    code = f"import flyloom as fl; {first}\ntry: fl.deploy()\nexcept TypeError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), text=True,
                          capture_output=True, timeout=60, check=True)
    assert "required positional argument: 'routing'" in done.stdout


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name):
    value = getattr(fl, name)
    assert inspect.getdoc(value), name
    if inspect.isclass(value) and value.__module__.startswith("flyloom"):
        for member, thing in vars(value).items():
            if not member.startswith("_"):
                assert inspect.getdoc(thing), f"{name}.{member}"


def imported(code: str) -> set[str]:
    """The modules that are loaded after some code."""
    script = f"{code}\nimport sys, json\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], env=environment(), text=True,
                          capture_output=True, timeout=60, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


HEAVY = {"numpy", "pyarrow", "networkx", "scipy", "altair", "pandas", "rich", "jinja2"}


def test_importing_is_light():
    assert not imported("import flyloom") & HEAVY
    assert not imported("import flyloom; flyloom.slim_fly(q=5)") & (HEAVY - {"numpy"})


def test_help_is_light():
    code = """
import sys, flyloom.cli
sys.argv = ["flyloom", "--help"]
try: flyloom.cli.main()
except SystemExit: pass
"""
    assert not imported(code) & HEAVY


def test_results_are_read_only_records():
    result = fl.structure("slim_fly:q=3")
    assert result.switches == result["switches"] == 18
    assert set(result) == set(result.to_dict()) and len(result) == len(result.to_dict())
    assert "diameter" in result and "diameter" in dir(result) and dict(result)["girth"] == 3
    with pytest.raises(AttributeError, match="read-only"):
        result.switches = 3
    with pytest.raises(TypeError):
        result["switches"] = 3
    with pytest.raises(AttributeError, match="no field 'swtches'; fields: .*switches"):
        _ = result.swtches
    with pytest.raises(KeyError):
        result["swtches"]
    assert json.loads(result.to_json()) == result.to_dict()
    assert pickle.loads(pickle.dumps(result)) == result
    assert repr(result).startswith("Structure(switches=18")
    nested = fl.verify(fl.route("slim_fly:q=3", "dfsssp"))
    assert isinstance(nested.complete, Result) and nested.complete.max_hops == 2
    assert type(nested.to_dict()["complete"]) is dict


def test_refusals_name_parameter_reason_and_what_is_valid():
    with pytest.raises(RefusalError) as caught:
        fl.slim_fly(q=6)
    error = caught.value
    assert isinstance(error, ValueError)
    assert "q" in error.param and "5, 7" in error.help and error.why
    assert str(error) == f"{error.param}: {error.why}; {error.help}" or error.why in str(error)
    with pytest.raises(TypeError):
        fl.slim_fly(5)  # keywords only
    with pytest.raises(TypeError):
        fl.slim_fly()


def test_numbers_of_numpy_are_numbers():
    for q in np.array([3, 4, 5]):
        assert fl.slim_fly(q=q, p=np.int32(2)).switches == 2 * q * q
    assert fl.torus(shape=np.array([3, 4])).switches == 12
    assert fl.torus(shape=(3, np.int64(4))).switches == 12
    routing = fl.route("slim_fly:q=3", "sssp", lmc=np.int64(1))
    assert fl.ebb(routing, samples=np.int64(3), seed=np.uint8(1)).samples == 3
    assert fl.from_pairs(np.array([[0, 1], [1, 2]]), p=1).links == 2


@pytest.mark.parametrize("call", [
    lambda: fl.slim_fly(q=float("nan")), lambda: fl.slim_fly(q=2.5), lambda: fl.slim_fly(q="5"),
    lambda: fl.slim_fly(q=object()), lambda: fl.slim_fly(q=True), lambda: fl.slim_fly(q=[5]),
    lambda: fl.torus(shape=[]), lambda: fl.torus(shape=3.5), lambda: fl.torus(shape=[3, -1]),
    lambda: fl.network(None), lambda: fl.network(5), lambda: fl.network("x" * 5000),
    lambda: fl.network("a\0b"), lambda: fl.route("slim_fly:q=3", "nothing"),
    lambda: fl.route("slim_fly:q=3", "dfsssp", max_lanes=2.5),
    lambda: fl.route("slim_fly:q=3", "sssp", lmc="x"),
    lambda: fl.ebb(fl.route("slim_fly:q=3", "sssp"), samples=1.5),
    lambda: fl.ebb(fl.route("slim_fly:q=3", "sssp"), seed=-1),
    lambda: fl.verify(fl.route("slim_fly:q=3", "sssp"), hop_limit=-1),
    lambda: fl.route("slim_fly:q=3", "sssp").path(0, 10**6),
    lambda: fl.slim_fly(q=3).to_text("png"), lambda: fl.plan("slim_fly:q=3", {"nonsense": 1}),
])
def test_bad_arguments_are_refused(call):
    with pytest.raises(RefusalError) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1


def test_progress_is_reported_and_its_errors_passed_on():
    seen = []
    routing = fl.route(fl.slim_fly(q=17), "dfsssp", progress=lambda *x: seen.append(x))
    assert seen and all(isinstance(w, str) and 0 <= d <= t for w, d, t in seen)

    def fail(*_):
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        fl.ebb(routing, samples=10**7, progress=fail)


LONG = {
    "route": "fl.route('slim_fly:q=43', 'dfsssp')",
    "ebb": "fl.ebb(fl.route('slim_fly:q=9', 'sssp'), samples=10**8)",
}


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_a_call_that_would_last(name):
    """How soon is asked of every call in test_interrupts.py."""
    code = f"""
import time, flyloom as fl
print("ready", flush=True)
try:
    {LONG[name]}
    print("finished")
except KeyboardInterrupt:
    print("interrupted")
"""
    child = subprocess.Popen([sys.executable, "-c", code], env=environment(), text=True,
                             stdout=subprocess.PIPE)
    assert child.stdout.readline() == "ready\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=HANG_S)[0] == "interrupted\n"


def test_ctrl_c_ends_a_command_with_130():
    child = subprocess.Popen(command("ebb", "slim_fly:q=9", "--samples", 10**8),
                             env=environment(), text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    wait_until_it_hears(child)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=HANG_S)
    assert (child.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted"
    assert [line for line in err.splitlines() if "Ctrl-C stops" not in line] == ["interrupted"]


def test_arrays_have_the_shapes_and_types_they_say():
    network = fl.slim_fly(q=3, p=2)
    assert (network.edges.shape, network.edges.dtype) == ((45, 2), np.uint32)
    assert (network.attachments.shape, network.attachments.dtype) == ((36, 2), np.uint32)
    assert network.groups.shape == network.levels.shape == (18,)
    routing = fl.route(network, "dfsssp", lmc=1)
    assert (routing.next.shape, routing.next.dtype) == ((2, 36, 18), np.uint16)
    assert (routing.service_levels.shape, routing.service_levels.dtype) == ((2, 36, 18), np.uint8)
    assert (routing.channel_loads().shape, routing.channel_loads().dtype) == ((90,), np.uint64)
    routing.next[:] = 0  # a copy: the routing itself does not change
    assert routing.next.max() > 0
    assert "slim_fly:q=3,p=2" in repr(network) and "dfsssp" in repr(routing)
