"""Experiments: what is run, what is kept of it, and the files of its results."""
