"""Parts that users write in Python: how they are made known, found and called; no networks."""
