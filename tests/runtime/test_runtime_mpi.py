"""The runtime beside two MPIs: random programs, messages, collectives, types, and motifs."""

from __future__ import annotations

import pytest
from campaign import count as times
from checkout import ROOT
from mpi_helpers import MPIS, needs
from test_runtime import FLAGS, SOURCE, build, call


@pytest.fixture(scope="module")
def release():
    return build("release")


@pytest.fixture(scope="module")
def under(release, tmp_path_factory):
    """A function that gives a program, compiled by the mpicc of an MPI: once for all tests."""
    made = {}

    def compiled(mpi, *sources):
        needs(mpi)
        if (mpi, *sources) not in made:
            program = tmp_path_factory.mktemp(mpi) / sources[0].stem
            call(f"mpicc.{mpi}", *FLAGS, f"-I{SOURCE / 'include'}", *sources, "-o", program,
                 f"-L{release}", "-lflyloom", "-lm", f"-Wl,-rpath,{release}")
            made[mpi, *sources] = program
        return made[mpi, *sources]

    return compiled


@pytest.mark.parametrize("transports", ["shm", "msg"])
@pytest.mark.parametrize("mpi", MPIS)
def test_beside_an_mpi(mpi, transports, under):
    """One library serves every MPI: the random programs under its launcher."""
    program = under(mpi, *(SOURCE / "tests" / name
                           for name in ("program_mpi.c", "program.c", "rule_model.c")))
    for more in ({}, {"FLYLOOM_PIECE_BYTES": "64"}) if transports == "msg" else ({},):
        printed = call(f"mpiexec.{mpi}", "-n", 3, program, transports, 3, 60, more=more)
        assert f"{transports}, 3 ranks, 3 programs" in printed


@pytest.mark.parametrize("mpi", MPIS)
def test_messages_of_an_mpi(mpi, under):
    """Messages of all lengths around that of posted receives arrive whole and in order, also to
    oneself."""
    program = under(mpi, SOURCE / "tests" / "host_messages.c")
    printed = call(f"mpiexec.{mpi}", "-n", 2, program, 200)
    assert "200 to each of 2 ranks" in printed
    printed = call(f"mpiexec.{mpi}", "-n", 3, program, 20)
    assert "20 to each of 3 ranks" in printed


@pytest.mark.campaign
@pytest.mark.skipif(not times(0, 1), reason="2.2 GB go to and fro: in `make campaign`")
def test_more_bytes_than_an_int_counts(under):
    """A put and a get of 2.2 GB over the messages of an MPI: whole, and what follows goes on. In
    `make test` pieces are 64 bytes (above), and the compiler holds what a message may be."""
    program = under("openmpi", SOURCE / "tests" / "large_mpi.c")
    printed = call("mpiexec.openmpi", "-n", 2, program, 2_200_000_000)
    assert printed == "2200000000 bytes put and got\n"


@pytest.mark.parametrize(("transports", "count"), [("shm", 4), ("msg", 3), ("msg", 2)])
@pytest.mark.parametrize("mpi", MPIS)
def test_collectives_beside_an_mpi(mpi, transports, count, under):
    """Random ones by formulas; folds of every type and exchanges along graphs as MPI's own. MPICH
    spins while it waits: with more ranks than free cores each wait takes a turn of the scheduler.
    """
    program = under(mpi, SOURCE / "tests" / "coll_mpi.c", SOURCE / "tests" / "coll_trial.c")
    trials = 60 if count == 2 else times(8, 25) if mpi == "mpich" else 25
    printed = call(f"mpiexec.{mpi}", "-n", count, program, transports, trials, count)
    assert f"{transports}, {count} ranks" in printed


@pytest.mark.parametrize(("transports", "count", "more"), [
    ("shm", 1, {}), ("shm", 2, {}), ("shm", 3, {"FLYLOOM_CHECK": "1"}), ("msg", 4, {}),
])
@pytest.mark.parametrize("mpi", MPIS)
def test_types_of_an_mpi(mpi, transports, count, more, under):
    """Collectives with MPI's types and operations, gaps and all, as MPI's own; what is refused."""
    program = under(mpi, SOURCE / "tests" / "coll_mpi_types.c")
    trials = 300 if count < 3 else 60 if mpi == "openmpi" else 20
    printed = call(f"mpiexec.{mpi}", "-n", count, program, transports, trials, count, more=more)
    assert f"{transports}, {count} ranks" in printed


@pytest.mark.parametrize(("name", "words", "checked"), [
    ("pipeline", ["20", "60", "3"], "corner right"), ("reduce", ["30"], "sums right"),
    ("hash", ["2000"], "all found"), ("cholesky", ["5", "6", "2"], "factor right"),
    ("pingpong", ["64", "10"], "all right"), ("overlap", ["5000", "5"], "all right"),
    ("halo", ["3", "20"], "waves right"), ("halo", ["1", "7"], "waves right"),
    ("dsde", ["6", "16", "4"], "all once"), ("dsde", ["1", "1000", "4"], "all once"),
    ("fft", ["12", "1"], "transform right"), ("fft", ["2", "2"], "transform right"),
])
@pytest.mark.parametrize("mpi", MPIS)
def test_motifs(mpi, name, words, checked, under):
    """Each motif checks its result by a formula, for every method it has."""
    program = under(mpi, ROOT / "runtime" / "motifs" / f"{name}.c")
    more = ["mpi"] if mpi == "openmpi" and name != "hash" else []  # where they can be relied on
    counts = (1, 2, 3, 4) if name in {"halo", "dsde", "fft"} else (1, 3)
    if len(counts) == 4:  # each under one of them, in a campaign under both
        counts = times(counts[1:3] if mpi == "openmpi" else counts[::3], counts)
    for count in (2, 3) if name in {"pingpong", "overlap"} else counts:
        printed = call(f"mpiexec.{mpi}", "-n", count, program, *words, *more).splitlines()
        assert printed and all(checked in line for line in printed)
