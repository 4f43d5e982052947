"""The rates of InfiniBand's speeds are those of data, whichever file names them."""

import csv

import flyloom as fl
import pytest
from cli_helpers import flyloom

SPEEDS = {
    # on the wire, and what of it is data: IBTA volume 2
    "SDR": (2.5, 8 / 10), "DDR": (5.0, 8 / 10), "QDR": (10.0, 8 / 10), "FDR10": (10.3125, 64 / 66),
    "FDR": (14.0625, 64 / 66), "EDR": (25.78125, 64 / 66),
    # 256 of 257 bits, of which 514 of 544 symbols
    "HDR": (53.125, 256 / 257 * 514 / 544), "NDR": (106.25, 256 / 257 * 514 / 544),
}
GUIDS = ("000000000000000a", "000000000000000b")


def gbps(rate):
    width, speed = rate.split("x")
    wire, data = SPEEDS[speed]
    return int(width) * wire * data


def discovery(rate):
    """What ``ibnetdiscover`` prints: two switches, an endpoint on each, all cables alike."""
    text = ""
    for i, guid in enumerate(GUIDS):
        text += (f"switchguid=0x{guid}({guid})\n"
                 f"Switch\t4 \"S-{guid}\"\t# \"sw{i}\" enhanced port 0 lid {1 + i} lmc 0\n"
                 f"[1]\t\"H-000000000000010{i}\"[1](20{i}) \t# \"n{i} HCA-1\" lid {3 + i} {rate}\n"
                 f"[2]\t\"S-{GUIDS[1 - i]}\"[2]\t# \"sw{1 - i}\" lid {2 - i} {rate}\n\n")
    for i, guid in enumerate(GUIDS):
        text += (f"caguid=0x10{i}\nCa\t1 \"H-000000000000010{i}\"\t# \"n{i} HCA-1\"\n"
                 f"[1](20{i}) \t\"S-{guid}\"[1]\t# lid {3 + i} lmc 0 "
                 f"\"sw{i}\" lid {1 + i} {rate}\n\n")
    return text


def netlist(rate):
    """The fabric as a netlist for ibsim."""
    text = ""
    for i in (0, 1):
        text += (f"Switch\t4 \"sw{i}\"\n[1] \"n{i}\"[1] {rate}\n[2] \"sw{1 - i}\"[2] {rate}\n\n"
                 f"Hca\t1 \"n{i}\"\n[1] \"sw{i}\"[1] {rate}\n\n")
    return text


def ports(rate):
    """What ``ibnetdiscover -p`` prints."""
    width, speed = rate.split("x")
    text = ""
    for i, guid in enumerate(GUIDS):
        text += (f"SW {1 + i:5}  1 0x{guid} {width}x {speed} - "
                 f"CA {3 + i:5}  1 0x000000000000020{i} ( 'sw{i}' - 'n{i} HCA-1' )\n"
                 f"SW {1 + i:5}  2 0x{guid} {width}x {speed} - SW {2 - i:5}  2 0x{GUIDS[1 - i]} "
                 f"( 'sw{i}' - 'sw{1 - i}' )\n")
    return text


def link_info(rate):
    """What ``iblinkinfo -l`` prints, which has what is on the wire."""
    width, speed = rate.split("x")
    named = "10.0 Gbps (FDR10)" if speed == "FDR10" else f"{SPEEDS[speed][0]} Gbps"
    text = ""
    for i, guid in enumerate(GUIDS):
        link = f"==( {width}X {named} Active/  LinkUp)==>"
        text += (f'0x{guid} "sw{i}" {1 + i}    1[  ] {link}  0x000000000000020{i} {3 + i} 1[  ] '
                 f'"n{i} HCA-1" ( )\n'
                 f'0x{guid} "sw{i}" {1 + i}    2[  ] {link}  0x{GUIDS[1 - i]} {2 - i} 2[  ] '
                 f'"sw{1 - i}" ( )\n')
    return text


RATES = ["1xQDR", "12xQDR", *(f"4x{speed}" for speed in SPEEDS)]


@pytest.mark.parametrize("rate", RATES)
def test_every_reader_has_the_rate_of_data(tmp_path, rate):
    for name, text in (("net.txt", discovery), ("ports.txt", ports), ("links.txt", link_info),
                       ("sim.net", netlist)):
        (tmp_path / name).write_text(text(rate))
        net = fl.network(tmp_path / name)
        assert (net.switches, net.endpoints) == (2, 2), name
        assert net.link_table["rate_gbps"].tolist() == pytest.approx([gbps(rate)]), name


@pytest.mark.parametrize(("rate", "due"), [
    ("4xQDR", 32), ("4xDDR", 16), ("4xSDR", 8), ("1xQDR", 8)])
def test_simulators_and_costs_go_by_it(tmp_path, rate, due):
    path = tmp_path / "net.txt"
    path.write_text(discovery(rate))
    goal = tmp_path / "one.goal"
    goal.write_text("num_ranks 2\nrank 0 {\nsend 4001b to 1\n}\nrank 1 {\nrecv 4001b from 0\n}\n")
    found = fl.simulate(path, "message", workload=goal, costs={"o": 1500})
    assert found.finish_ns == 2 * 1500 + 2 * 90 + 3 * 25 + 4000 * 8 / due
    [point] = fl.simulate(path, "packet", load=0.001, messages=1, traffic="shift:1").points
    alone_ns = 4096 * 8 / due + 2 * 90 + 3 * 25
    assert point["mean_latency_ns"] / 1e3 == pytest.approx(alone_ns / 1000, rel=1e-5)
    done = flyloom("plan", path, "--catalog", "galaxyfly-2016", "-o", tmp_path / "plan")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "plan" / "cables.csv").open() as rows:
        assert {float(row["rate_gbps"]) for row in csv.DictReader(rows)} == {due}


def test_cables_are_compared_by_name(tmp_path):
    """A QDR cable where FDR10 was planned is degraded, and said by both names."""
    plan, found = tmp_path / "plan.txt", tmp_path / "found.txt"
    plan.write_text(discovery("4xFDR10"))
    found.write_text(discovery("4xFDR10").replace("lid 2 4xFDR10", "lid 2 4xQDR")
                     .replace('# "sw0" lid 1 4xFDR10', '# "sw0" lid 1 4xQDR'))
    done = flyloom("verify-cables", plan, found)
    assert done.returncode == 1, done.stderr
    assert "4x QDR" in done.stdout and "4x FDR10" in done.stdout
