# Needs Python 3.11 or newer and make; everything else goes into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Test processes: one per core, four at most.
WORKERS ?= auto
FUZZ_SECONDS ?= 600
CODE   := $(wildcard src tests scripts benchmarks)

.DEFAULT_GOAL := help
.PHONY: help demo app test slow coverage fuzz lint format types audit docs dist bench lowest test-minimum
.PHONY: cohort clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: $(VENV)/.runtime  ## install, then run the main job on the bundled cohort
	$(BIN)/sosie demo -o sosie-demo

app: $(VENV)/.app  ## install, then open the local page in a browser
	$(BIN)/sosie app

TESTS := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 4 --dist worksteal

test: $(VENV)/.dev  ## install, then run the tests, but for the slow ones
	$(TESTS) -m 'not slow' $(PYTEST_ARGS)

slow: $(VENV)/.dev  ## the slow tests: clusters, kills, published figures, long pages, the browser
	$(TESTS) -m slow $(PYTEST_ARGS)

coverage: $(VENV)/.dev  ## run every test; at least 95 % of the lines must be run
	$(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 4 --dist worksteal --cov $(PYTEST_ARGS)

fuzz: $(VENV)/.dev  ## damaged files for all that reads one, FUZZ_SECONDS for each kind
	for kind in csv parquet json toml; do \
	  $(BIN)/python scripts/fuzz.py $$kind --seconds $(FUZZ_SECONDS) || exit 1; done

audit: $(VENV)/.dev  ## known faults of the dependencies, as the package index tells them
	$(PIP) install pip-audit
	$(BIN)/pip-audit --strict --no-deps --disable-pip -r requirements/ci.txt

lint: $(VENV)/.dev  ## style and likely bugs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev  ## rewrite the code in the project's layout
	$(BIN)/ruff check --fix --exit-zero --quiet .
	$(BIN)/ruff format .

types: $(VENV)/.dev  ## static types, strict
	$(BIN)/mypy $(filter-out tests,$(CODE))

docs: $(VENV)/.docs  ## build the site into site/, strictly, and run the notebooks
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python scripts/site.py
	$(BIN)/python scripts/notebooks.py

dist: $(VENV)/.dev  ## build wheel and source, and try the wheel on every supported Python
	rm -rf dist
	$(BIN)/python -m build --outdir dist >/dev/null
	$(BIN)/python scripts/dist.py

bench: $(VENV)/.dev  ## time and memory, beside the figures to reach
	$(BIN)/python benchmarks/bench.py

cohort: $(VENV)/.runtime  ## make the bundled cohort again (same bytes)
	$(BIN)/python scripts/make_cohort.py

test-minimum: lowest  ## the same as lowest

lowest:  ## the tests with the oldest supported dependencies, in an environment of their own
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python scripts/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet -e '.[test]' -c .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pytest $(PYTEST_ARGS)

clean:  ## remove what the other targets made
	rm -rf .venv .venv-lowest build dist site sosie-demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: an environment is made once, and again when the dependencies change.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "sosie needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(BIN)/python
	$(PIP) install -e .
	@touch $@

$(VENV)/.app: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[app,docx,analyses]'
	@touch $@ $(VENV)/.runtime

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[test,dev]'
	@touch $@ $(VENV)/.runtime

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[docs]'
	@touch $@ $(VENV)/.runtime
