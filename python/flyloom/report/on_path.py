"""What lies on a critical path, in words."""

from __future__ import annotations

from collections.abc import Mapping

WORDS = {
    "o": ("operation's overhead (o)", "operations' overhead (o)"),
    "O": ("byte's overhead (O)", "bytes' overhead (O)"),
    "L": ("latency of a message (L)", "latencies of messages (L)"),
    "g": ("gap between messages (g)", "gaps between messages (g)"),
    "G": ("byte through an interface (G)", "bytes through interfaces (G)"),
}
"""What a parameter of LogGOPS is counted of: of one, of several."""


def on_path(derivatives: Mapping[str, int]) -> str:
    """Words on each parameter of a critical path: by how many nanoseconds the run gets longer for
    each nanosecond by which the parameter grows."""
    parts = [
        f"{derivatives[letter]:,} {words[derivatives[letter] != 1]}"
        for letter, words in WORDS.items() if derivatives.get(letter)
    ]
    return ", ".join(parts) or "no message"
