"""What every room uses: files, text, words, processes, signals, results; no networks."""
