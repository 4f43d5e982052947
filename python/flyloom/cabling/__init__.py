"""The folder that people wire a machine room from: lists, drawings, labels, and its check."""
