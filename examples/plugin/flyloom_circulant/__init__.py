"""Circulant graphs for flyloom, an engine that routes by numbers, a measure of return paths."""
