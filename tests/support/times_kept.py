"""Times of messages, as `flyloom measure --keep` writes them."""

TIMES = {
    "flyloom_samples": 1, "what": "loggp", "library": "x", "hosts": ["a", "b"],
    "processors": [1, 1], "messages": 16, "repetitions": 1, "sizes": [
        {"bytes": s, "delay_ns": 9000.0, "one_ns": [4000.0 + s], "many_ns": [19000.0 + 16 * s],
         "spaced_ns": [140000.0 + s], "served_ns": [137000.0]} for s in (1, 2, 4, 8)
    ],
}
