# Two commands for a fresh machine: `make audit` (a sample verdict) and `make check` (every check
# and test). Both make a virtual environment in .venv and install what they need into it.

VENV := .venv
BIN := $(VENV)/bin
PROPOSAL ?= fixtures/proposals/70b-fewer-flops.yaml
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; \
	done)

# Start-up time rests on compiled bytecode, and so does the speed of the tests.
unexport PYTHONDONTWRITEBYTECODE
unexport PYTHONPATH
unexport PYTHONHOME
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DELETE_ON_ERROR:
.PHONY: audit check lint types imports fresh test format generated benchmark clean

audit: $(VENV)/.installed
	$(BIN)/rooflint audit $(PROPOSAL)

check: $(VENV)/.installed-dev
	@$(MAKE) --no-print-directory --keep-going lint types imports fresh test

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.installed-dev
	$(BIN)/mypy

imports: $(VENV)/.installed-dev
	$(BIN)/lint-imports --no-logo

fresh: $(VENV)/.installed-dev
	$(BIN)/python -m docs.generate --check

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --cov

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

generated: $(VENV)/.installed-dev
	$(BIN)/python -m docs.generate

benchmark: $(VENV)/.installed
	$(BIN)/python benchmarks/cold_start.py

clean:
	rm -rf $(VENV) build dist *.egg-info .coverage .*_cache

# Where Python comes without ensurepip, the pip that is there fills the environment.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "rooflint needs Python 3.11 or newer" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --clear --without-pip $(VENV) && \
		$(PYTHON) -m pip --python $(BIN)/python install -qq pip; }

$(VENV)/.installed: pyproject.toml Makefile | $(BIN)/python
	$(BIN)/python -m pip install -qq --editable .
	$(BIN)/python -m compileall -q advisor rules
	@touch $@

# Dependency groups need pip 25.1.
$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install -qq --upgrade "pip>=25.1"
	$(BIN)/python -m pip install -qq --group dev
	@touch $@
