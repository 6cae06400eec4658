# make book    build the book into _build/html        make test    prove it
# make read    serve it on localhost and open it      make lab     run it in JupyterLab
# `make help` lists the rest.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PAGES  := _build/html

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYDEVD_DISABLE_FILE_VALIDATION := 1

.DEFAULT_GOAL := help
.PHONY: help book read notebooks lab publish outputs test gpu-test soak fuzz bench-simt colab-url lock clean

help:
	@echo "make book                 build the book; prints where to open it"
	@echo "make read                 build it, serve it on localhost, open a browser"
	@echo "make notebooks            the chapters as plain notebooks, in notebooks/; yours stay"
	@echo "make lab                  make notebooks, and JupyterLab with them"
	@echo "make test                 everything that needs no GPU; ends on pytest's summary"
	@echo "make gpu-test             kernels and chapters on a CUDA device"
	@echo "make soak                 random programs against a model, for hours (PROGRAMS=...)"
	@echo "make fuzz                 damaged graph files against an oracle (SECONDS=60 SEED=...)"
	@echo "make bench-simt           the SIMT machine's speed beside numba's simulator"
	@echo "make outputs              run the notebooks and store their outputs (NOTEBOOKS=... for some)"
	@echo "make colab-url URL=...    set the repository's address everywhere (TAG=... for a release)"
	@echo "make publish              commit the built pages, notebooks and all, on the branch gh-pages"
	@echo "make lock                 renew requirements.txt and requirements-test.txt"
	@echo "make clean                remove what was built (.venv and notebooks stay)"

# -- the environment ---------------------------------------------------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || { \
	  echo "This book needs Python 3.11, 3.12 or 3.13 and '$(PYTHON)' is none of them" >&2; \
	  echo "(found: $$($(PYTHON) --version 2>&1)). Name one: make $(MAKECMDGOALS) PYTHON=python3.13" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make a virtual environment: its venv package is missing." >&2; \
	  echo "On Debian and Ubuntu: sudo apt-get install python3-venv" >&2; \
	  echo "Then run this command again." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of packages; the test set holds the book's.
INSTALL = $(BIN)/python -m pip install --quiet --require-virtualenv
$(VENV)/book-installed: requirements.txt pyproject.toml | $(BIN)/python
	@echo "Installing the book's packages into $(VENV) (a minute or two the first time) ..."
	$(INSTALL) --requirement requirements.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/test-installed: requirements-test.txt pyproject.toml | $(BIN)/python
	@echo "Installing the book's and the tests' packages into $(VENV) ..."
	$(INSTALL) --requirement requirements-test.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/book-installed

lock: $(VENV)/test-installed
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-emit-index-url --no-emit-find-links --extra book --output-file requirements.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-emit-index-url --no-emit-find-links --extra book --extra test --constraint requirements.txt --output-file requirements-test.txt pyproject.toml

# -- the book ----------------------------------------------------------------

book: $(VENV)/book-installed
	$(BIN)/jupyter-book build .
	@echo
	@echo "The book is built. Open it with a browser (no server needed):"
	@echo "    file://$(CURDIR)/$(PAGES)/index.html"

read: book
	$(BIN)/python book/serve.py $(PAGES)

# Outside of _build, since a reader's answers live there: nothing overwrites or removes them.
notebooks: book
	$(BIN)/python book/fresh_notebooks.py $(PAGES)/notebooks notebooks

lab: notebooks
	cd notebooks && ../$(BIN)/jupyter lab

publish: book
	$(BIN)/python book/publish.py $(PAGES)

outputs: $(VENV)/book-installed
	$(BIN)/python book/run_notebooks.py $(NOTEBOOKS)

colab-url: $(VENV)/book-installed
	$(BIN)/python book/colab_url.py "$(URL)" "$(TAG)"

# -- the proof ---------------------------------------------------------------

# In two processes, each of which takes whole files: their tests share fixtures, and the cells of a
# notebook a kernel. The order is that of tests/conftest.py: timings and what takes longest first.
PROCESSES ?= 2
PARALLEL = -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

test: $(VENV)/test-installed
	$(BIN)/python -m pytest $(PARALLEL) --nbval --nbval-current-env tests chapters book/index.ipynb

gpu-test: $(VENV)/test-installed
	GPUKERNELS_DEVICE=cuda $(BIN)/python -m pytest -m "not browser" --nbval-lax --nbval-current-env tests chapters book/index.ipynb

soak: $(VENV)/test-installed
	GPUKERNELS_PROGRAMS=$(or $(PROGRAMS),100000) $(BIN)/python -m pytest tests/simt/test_programs.py

fuzz: $(VENV)/test-installed
	$(BIN)/python tests/fuzz/fuzz_files.py --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED))

bench-simt: $(VENV)/book-installed
	$(BIN)/python -m gpukernels.bench.simulator

clean:
	rm -rf _build build .pytest_cache .ruff_cache .hypothesis
	find gpukernels tests book chapters -name __pycache__ -type d -prune -exec rm -r {} +
