"""The node name map of OpenSM, read with a network file: names by node GUID."""

import flyloom as fl
import pytest
from cli_helpers import flyloom
from deploy_helpers import needs_fabric
from flyloom.deploy import Ibsim
from test_deploy_rehearsal import FABRICS, discovery

MAP = """# rack 4
0x2000000000000010 "MF0;leaf-a:MQM8700/U1"
0x0000000000001000\t"login1" # the first host
0xffffffffffffffff "in another fabric"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "found.txt").write_text(discovery(FABRICS["port GUID is node GUID"]))
    (tmp_path / "names.txt").write_text(MAP)
    return tmp_path


def test_names_are_given_by_node_guid(folder):
    plain = fl.network(folder / "found.txt")
    found = fl.network(folder / "found.txt", names=folder / "names.txt")
    assert found.switch_names == ["MF0;leaf-a:MQM8700/U1", *plain.switch_names[1:]]
    assert found.endpoint_names == ["login1", *plain.endpoint_names[1:]]
    (folder / "spec.toml").write_text('file = "found.txt"\nnames = "names.txt"\n')
    assert fl.network(folder / "spec.toml").endpoint_names == found.endpoint_names
    assert plain != found and found.addresses() == plain.addresses()
    for source in ("ring:n=4,p=1", plain):
        with pytest.raises(fl.RefusalError, match="names: of a network file"):
            fl.network(source, names=folder / "names.txt")


def test_every_command_that_reads_network_files_takes_them(folder):
    for words in (
        ("export", "found.txt", "--to", "opensm-names", "--names", "names.txt"),
        ("design", "found.txt", "--names=names.txt", "-o", "out.json"),
        ("route", "found.txt", "--names", "names.txt", "-o", "tables"),
        ("verify-cables", "found.txt", "found.txt", "--names", "names.txt"),
    ):
        done = flyloom(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "note:" not in done.stderr
        if words[0] == "export":
            assert '0x2000000000000010 "MF0;leaf-a:MQM8700/U1"' in done.stdout
    for written in ("out.json", "tables"):
        assert fl.network(folder / written).endpoint_names[0] == "login1"


@pytest.mark.parametrize(("line", "why"), [
    ("0x2000000000000020 leaf-b", "'0x2000000000000020 leaf-b' is no name of a GUID"),
    ('2000000000000020 "leaf-b"', "is no name of a GUID"),
    ('0x1000 "other"', "0x0000000000001000 is already named in line 3: login1"),
])
def test_strange_lines_are_named(folder, line, why):
    (folder / "names.txt").write_text(MAP + line + "\n")
    done = flyloom("design", "found.txt", "--names", "names.txt", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("flyloom: names.txt: line 5: ") and why in done.stderr


def test_what_cannot_be_named_is_said(folder):
    (folder / "names.txt").write_text('0x1000 "twin"\n0x2000 "twin"\n')
    done = flyloom("design", "found.txt", "--names", "names.txt", cwd=folder)
    assert done.returncode == 0
    assert "note: names.txt: line 1: several devices would be 'twin'" in done.stderr
    (folder / "names.txt").write_text('0x77 "elsewhere"\n')
    done = flyloom("design", "found.txt", "--names", "names.txt", cwd=folder)
    assert done.returncode == 0 and "none of the 1 GUIDs" in done.stderr


@needs_fabric
def test_the_diagnostics_read_the_map_alike(folder):
    """ibnetdiscover with the same map names the switches as we do."""
    plain = fl.network(folder / "found.txt")
    with Ibsim(plain.rehearsal(0).to_text("netlist")) as sim:
        text = sim.run(["ibnetdiscover", "--node-name-map", str(folder / "names.txt")])
    (folder / "theirs.txt").write_text(text)
    theirs = fl.network(folder / "theirs.txt")
    ours = fl.network(folder / "found.txt", names=folder / "names.txt")
    assert set(theirs.switch_names) == set(ours.switch_names)
