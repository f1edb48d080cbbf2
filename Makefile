# Each target makes .venv and installs what it needs, once: a stamp file in .venv says what is there.

PYTHON ?= python3
# Where the CPU build of torch is looked for first: it is a small part of the CUDA build's size.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

# What make bench runs: those of benchmarks/ that measure speed. The others measure quality.
BENCHMARKS ?= start fast_paths look decode train corpus

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --constraint constraints.txt
READY := .venv/.ready
READY_DEV := .venv/.ready-dev
READY_DOCS := .venv/.ready-docs

# Tests run in one process for each core. In each process torch has one thread: threads that spin
# while they wait would starve the other processes. Python keeps its byte code: the tests start it some
# hundred times.
FOR_TESTS := OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive PYTHONDONTWRITEBYTECODE=
FAST_TESTS := -m 'not slow' $(addprefix tests/,architecture core data decoding documents encoder_only \
	evaluation insight model_folder text translation)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check types native bench lessons docs widget clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## Translate English sentences with the model that comes with the package
	@$(BIN)/python examples/demo.py

test: check ## Run the whole check

check: $(READY_DEV) ## Format, lint, types, tests; make check FAST=1 runs only what takes two minutes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory --jobs=2 types native
	$(FOR_TESTS) $(BIN)/pytest -W error -n auto --dist worksteal $(if $(FAST),$(FAST_TESTS))

types: $(READY_DEV)
	$(BIN)/mypy --strict src

# Compiled here, while types are checked: else two processes of the tests would compile the same.
native: $(READY_DEV)
	@$(BIN)/python tools/native.py

bench: $(READY_DEV) ## Measure speed (two hours or so); make bench BENCHMARKS=decode runs one script
	@for name in $(BENCHMARKS); do \
		echo "== benchmarks/$$name.py"; $(BIN)/python benchmarks/$$name.py || exit 1; \
	done

lessons: $(READY_DEV) ## Run every lesson whole, with its time
	@$(BIN)/python lessons

docs: $(READY_DOCS) ## Build the documentation into build/docs; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -n -q -b html docs build/docs
	@echo "open build/docs/index.html"

widget: ## Build and test the live view's module (needs node)
	cd widget && npm ci && npm run build && npm run check && npm test

clean: ## Remove .venv, builds and caches (runs/ is kept)
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "allyouneed needs Python 3.11 or newer; %s is %s. Name another: make PYTHON=python3.12 ..." % (sys.executable, sys.version.split()[0]))'
	$(PYTHON) -m venv .venv

# Translating needs no torch, so the demo does not install it.
$(READY): .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing allyouneed into .venv ..." >&2
	@$(INSTALL) --editable .
	@touch $@

# torch comes first and alone, so that an index that cannot be reached costs one try, not one per package.
$(READY_DEV): $(READY)
	@echo "Installing torch and the development tools into .venv ..." >&2
	@$(INSTALL) --no-deps --retries 0 --extra-index-url $(TORCH_INDEX) torch
	@$(INSTALL) --editable '.[dev]'
	@touch $@

$(READY_DOCS): $(READY_DEV)
	@echo "Installing what builds the documentation into .venv ..." >&2
	@$(INSTALL) --editable '.[dev,docs]'
	@touch $@
