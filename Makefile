# `make` alone lists what there is. Everything runs in .venv, which the first target that needs it makes.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
PEERS := .venv/.peers
FRAMEWORKS := .venv/.frameworks
PARALLEL := --numprocesses auto --maxprocesses 4 --dist worksteal
SLOWEST := --durations 15

.DEFAULT_GOAL := help
.PHONY: help lab frameworks test test-all test-slow test-frameworks test-nightly lint types notebooks notebooks-check site demo endurance bench constraints clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

lab: $(INSTALLED) ## open the course in JupyterLab
	@$(BIN)/lastgood lab

test: lint notebooks-check ## lint, types, notebooks and the quick tests
	$(BIN)/python -m pytest -m "not slow" $(PARALLEL)

test-all: test test-slow test-frameworks ## the same, then the slow tests (browser, whole classes)

# A browser and its server have the machine to themselves. Its tests are all in one folder: tests/test_make.py.
test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -m "slow and not browser and not nightly and not needs_frameworks" $(PARALLEL) $(SLOWEST)
	$(BIN)/python -m pytest -m "slow and browser" $(SLOWEST) tests/server

test-frameworks: $(FRAMEWORKS) ## real checkpoints and resumes of Transformers, Accelerate and Lightning
	$(BIN)/python -m pytest -m needs_frameworks $(PARALLEL) $(SLOWEST) tests/frameworks

frameworks: $(FRAMEWORKS) ## audit the frameworks, and write lesson 18's table of what they bring back
	$(BIN)/python -m docs.frameworks
	$(BIN)/autograder build

test-nightly: $(INSTALLED) ## the rest of what the slow tests try a sample of: mutants, kills
	$(BIN)/python -m pytest -m nightly $(PARALLEL) $(SLOWEST)

lint: $(INSTALLED) ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/mypy

notebooks: $(INSTALLED) ## derive every notebook from its text twin
	$(BIN)/autograder build

notebooks-check: $(INSTALLED) ## fail where a notebook is not what its text twin makes
	$(BIN)/autograder build --check

site: $(INSTALLED) ## lessons, glossary and solutions as web pages, in build/site
	@$(BIN)/python -m docs.site build/site

demo: $(INSTALLED) ## grade a made-up class from release to feedback
	$(BIN)/autograder demo

bench: $(PEERS) ## measure against peers, some minutes; one of them: make bench ONLY=save
	$(BIN)/python -m benchmarks $(ONLY)

endurance: $(INSTALLED) ## OPT-175B's 105 failures, of all kinds, and a proof that nothing came of them
	$(BIN)/python -m benchmarks.endurance

constraints: $(INSTALLED) ## write down the versions that are installed, once the tests pass with them
	{ grep '^#' constraints.txt; \
	  $(BIN)/python -m pip freeze --all --exclude pip --exclude lastgood | sed -E '/^#/d; s/\+[^ ;]+//'; } \
	  > constraints.new
	mv constraints.new constraints.txt

clean: ## remove caches, the site and the demo; your work, your class and .venv stay
	rm -rf .mypy_cache .pytest_cache .ruff_cache build demo dist screenshots
	find . -path ./.venv -prune -o -name __pycache__ -type d -exec rm -rf {} +

# The version is asked with words that any Python understands.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Lastgood needs Python 3.11 or later; $(PYTHON) is: $$($(PYTHON) --version 2>&1)."; \
	  echo "Install one, then name it: make lab PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing the course into .venv. The first time this fetches PyTorch and JupyterLab: some minutes …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --prefer-binary \
	  --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(FRAMEWORKS): $(INSTALLED)
	@echo "Installing Transformers, Accelerate and Lightning …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --prefer-binary \
	  --constraint constraints.txt --editable '.[frameworks]'
	@touch $@

$(PEERS): $(INSTALLED)
	@echo "Installing what the benchmarks compare with …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --prefer-binary \
	  --constraint constraints.txt --editable '.[bench]'
	@touch $@
