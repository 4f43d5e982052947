"""Why a schedule does not come to its end: which operations wait for one another."""

import flyloom as fl
import pytest
from cli_helpers import flyloom


def refused(tmp_path, text, *more):
    """What `sim message` and `workload check` say of it."""
    path = tmp_path / "s.goal"
    path.write_text(text)
    done = flyloom("sim", "message", "--workload", path, *more)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "a receive for every message" not in done.stderr
    return done.stderr


def in_order(said):
    """The operations of the cycle."""
    words = said.strip().split("these wait for one another: ")[1]
    assert words.endswith(", which waits for the first")
    return words.removesuffix(", which waits for the first").replace(", which", "").split(
        " waits for ")


BOTH_RECEIVE_FIRST = """num_ranks 2
rank 0 {
a: recv 8b from 1 tag 4
b: calc 10
c: send 8b to 1 tag 3
b requires a
c requires b
}
rank 1 {
a: recv 8b from 0 tag 3
c: send 8b to 0 tag 4
c requires a
}
"""

RING = "num_ranks 3\n" + "".join(
    f"rank {r} {{\na: send 100000b to {(r + 1) % 3} tag 0\n"
    f"b: recv 100000b from {(r + 2) % 3} tag 0\nb requires a\n}}\n" for r in range(3)
)

ANY_SOURCE = """num_ranks 3
rank 0 {
a: recv 8b from -1 tag -1
c: send 8b to 2 tag 0
c requires a
}
rank 1 {
calc 5
}
rank 2 {
a: recv 8b from 0 tag 0
c: send 8b to 0 tag 7
c requires a
}
"""

# rank 0 has started its send when b begins, so b does not wait for its end
STARTED = """num_ranks 2
rank 0 {
a: send 100000b to 1 tag 0
b: calc 5
b irequires a
}
rank 1 {
calc 1
}
"""


@pytest.mark.parametrize(("text", "cycle"), [
    # each receives before it sends: matched message by message, and yet without an end
    (BOTH_RECEIVE_FIRST,
     "these wait for one another: rank 0, operation 1: recv 8b from 1 tag 4 waits for rank 1, "
     "operation 2: send 8b to 0 tag 4, which waits for rank 1, operation 1: recv 8b from 0 tag 3, "
     "which waits for rank 0, operation 3: send 8b to 1 tag 3, which waits for the first"),
    # all send before they receive, and above S a send waits for its receive
    (RING,
     "these wait for one another: rank 0, operation 1: send 100000b to 1 tag 0 waits for rank 1, "
     "operation 2: recv 100000b from 0 tag 0, which waits for rank 1, operation 1: send 100000b "
     "to 2 tag 0, which waits for rank 2, operation 2: recv 100000b from 1 tag 0, which waits for "
     "rank 2, operation 1: send 100000b to 0 tag 0, which waits for rank 0, operation 2: recv "
     "100000b from 2 tag 0, which waits for the first"),
    (ANY_SOURCE,
     "these wait for one another: rank 0, operation 1: recv 8b from any tag any waits for rank 2, "
     "operation 2: send 8b to 0 tag 7, which waits for rank 2, operation 1: recv 8b from 0 tag 0, "
     "which waits for rank 0, operation 2: send 8b to 2 tag 0, which waits for the first"),
    ("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\nb requires a\n}\n",
     "these wait for one another: rank 0, operation 1: calc 1 waits for rank 0, operation 2: calc "
     "2, which waits for the first"),
])
@pytest.mark.parametrize("dialect", ["causal", "loggops-v1"])
def test_operations_that_wait_for_one_another_are_named(tmp_path, text, cycle, dialect):
    said = refused(tmp_path, text, "--dialect", dialect)
    turned, due = in_order(said), in_order(cycle)
    first = due.index(turned[0])  # any of them may be the first
    assert turned == due[first:] + due[:first]
    if text == BOTH_RECEIVE_FIRST:
        assert in_order(fl.check_workload(tmp_path / "s.goal").left) == turned


@pytest.mark.parametrize(("text", "says"), [
    ("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\na: recv 8b from 0 tag 2\n"
     "b: calc 3\nb requires a\n}\n",
     "1 receives without a message (rank 1, operation 1: recv 8b from 0 tag 2)"),
    (STARTED, "1 sends that are not done (rank 0, operation 1: send 100000b to 1 tag 0)"),
])
def test_what_has_no_other_end_waits_for_nobody(tmp_path, text, says):
    said = refused(tmp_path, text)
    assert says in said and "wait for one another" not in said


def test_a_long_cycle_is_cut_and_counted(tmp_path):
    ranks = 40
    ring = f"num_ranks {ranks}\n" + "".join(
        f"rank {r} {{\na: recv 8b from {(r - 1) % ranks} tag 0\n"
        f"b: send 8b to {(r + 1) % ranks} tag 0\nb requires a\n}}\n" for r in range(ranks)
    )
    said = refused(tmp_path, ring)
    assert ", and so on: 80 in all" in said and len(said) < 2000


def test_a_trace_over_packets_says_it_too(tmp_path):
    path = tmp_path / "s.goal"
    path.write_text(BOTH_RECEIVE_FIRST)
    done = flyloom("sim", "packet", "complete:n=2,p=1", "--workload", path)
    assert done.returncode == 2
    assert "another: rank 0, operation 1: recv 8b from 1 tag 4 waits for rank 1" in done.stderr
