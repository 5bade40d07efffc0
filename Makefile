# Two commands do everything, on a machine with nothing but Python and make:
#   make demo    make test
# Both create .venv and install the pinned versions first, once.

PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& echo $$python && break; done)

BIN := .venv/bin
INSTALLED := .venv/.installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

LAWS := tests/test_laws.py tests/explain/test_inquiry.py tests/explain/test_difference.py \
	tests/normalise tests/knowledge/test_hierarchy.py tests/match/test_agreement.py \
	tests/match/compiled/test_graph_index.py tests/match/compiled/test_graph_sparql.py \
	tests/match/test_gtopss_compiled.py tests/test_match_graphs.py

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-long pytest kernels bench lint format clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

demo: $(INSTALLED) ## run the stories under examples/ on Spark and print who gets what
	@$(BIN)/sensewire demo

test: $(INSTALLED) ## everything that a change must pass, the long tests apart
	@$(MAKE) --no-print-directory --jobs=2 lint kernels
	@$(MAKE) --no-print-directory pytest

pytest: $(INSTALLED)
	@echo "== pytest: tests and doctests"
	@SENSEWIRE_EXAMPLES=25 $(BIN)/pytest -m "not long" --numprocesses auto --dist loadgroup

kernels: $(INSTALLED)
	@echo "== kernels: compiled once, for all that follows"
	@$(BIN)/sensewire warm | tail -n 1

test-fast: $(INSTALLED) ## the tests that need no JVM
	@echo "== pytest: what needs no JVM"
	@SENSEWIRE_EXAMPLES=15 $(BIN)/pytest -m "not spark and not long" --numprocesses auto

test-long: $(INSTALLED) ## the tests that are too long for every change
	@echo "== pytest: the long tests"
	@$(BIN)/pytest -m long || { status=$$?; \
		[ $$status -ne 5 ] || echo "No test is marked 'long': there was nothing to run." >&2; \
		exit $$status; }
	@echo "== pytest: the laws, on many examples"
	@SENSEWIRE_EXAMPLES=1000 $(BIN)/pytest $(LAWS)

bench: $(INSTALLED) ## measure meaning and, in small, records, graphs, the pipeline and the stream
	@$(BIN)/python benchmarks/meaning.py \
		$(if $(wildcard /usr/share/wordnet/data.noun),--wordnet /usr/share/wordnet)
	@$(BIN)/sensewire bench records --quick
	@$(BIN)/sensewire bench graphs --quick
	@$(BIN)/sensewire bench spark --quick
	@$(BIN)/sensewire bench stream --quick

lint: $(INSTALLED) ## rules, format, types and the one-way imports
	@echo "== ruff: rules"
	@$(BIN)/ruff check
	@echo "== ruff: format"
	@$(BIN)/ruff format --check
	@echo "== mypy: types"
	@$(BIN)/mypy
	@echo "== import-linter: one-way imports"
	@$(BIN)/lint-imports --no-logo

format: $(INSTALLED) ## mend what ruff can mend
	@echo "== ruff: rules and format"
	@$(BIN)/ruff check --fix --exit-zero
	@$(BIN)/ruff format

clean: ## remove what runs leave behind; .venv stays
	@rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@rm -rf spark-warehouse
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The build tools come first and pip's own build environment is not used, since not every pip holds
# that environment to constraints.txt. PySpark is published as source: setuptools builds it.
$(INSTALLED): pyproject.toml constraints.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Sensewire needs Python 3.11 or later, looked for as" \
		"$(or $(PYTHON),python3.13 python3.12 python3.11 python3)." \
		"Install one, or say where it is: make PYTHON=/path/to/python3" >&2; \
		exit 1; }
	@echo "== installing Sensewire and the versions of constraints.txt into .venv (once)"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@$(PIP) editables hatchling setuptools
	@$(PIP) --use-pep517 --no-build-isolation --editable '.[all,dev]'
	@touch $@
