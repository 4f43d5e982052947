# The front door. Each target calls one script; `make help` lists them.
.PHONY: help setup demo test check campaign bench wheel docs site mpi gen fmt lint clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile

setup: ## make .venv with everything in it; quick when nothing changed
	@scripts/setup

demo: setup ## the main job: the deployed Slim Fly beside a fat tree, from design to report
	@.venv/bin/flyloom run examples/demo.toml

test: setup ## all that is checked and not known to be unchanged; ALL=1: everything
	@scripts/test

check: setup ## lint, and within 90 s the tests that reach what changed since the last commit
	@scripts/test changed

campaign: setup ## the tests that repeat seeded trials, with larger counts: hours
	@scripts/campaign

wheel: setup ## the release build: a wheel in target/wheels, for pip install
	@PATH="$$PWD/.venv/bin:$$PATH" maturin build --release

bench: setup ## speed and memory of the release build, as ratios measured in one run
	@.venv/bin/python bench/run.py

docs: setup ## the docs are plain Markdown in docs/; this runs every example in them
	@.venv/bin/python -m pytest -q tests/docs/test_docs.py

site: setup ## the docs as pages to browse and search, with what their examples print: target/site/html
	@.venv/bin/python scripts/site

mpi: setup ## build the library around each MPI there is; else it is built when first used
	@.venv/bin/python -m flyloom.ranks.library

gen: ## rewrite what is generated from the sources
	@cargo xtask gen
	@.venv/bin/python scripts/json-reference
	@.venv/bin/python scripts/parts-reference
	@.venv/bin/python scripts/man-pages
	@.venv/bin/python scripts/llms-txt

fmt: ## format the Rust code
	@cargo fmt --all

lint: setup ## clippy, ruff and mypy, warnings as errors
	@scripts/test lint

clean: ## remove .venv, target and the compiled core
	@rm -rf .venv target python/flyloom/_core*.so
