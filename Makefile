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
# What a recipe has left when it failed is no target.
.DELETE_ON_ERROR:
.PHONY: FORCE help book read pdf epub notebooks sheet lab lite publish outputs test test-colab gpu-test colab-gpu soak fuzz mutants bench bench-simt addresses citation colab-url colab-versions package lock clean

help:
	@echo "make book                 build the book; prints where to open it"
	@echo "make read                 build it, serve it on localhost, open a browser (PORT=8000)"
	@echo "make pdf, make epub       the whole book as _build/graphs-on-the-gpu.pdf, .epub"
	@echo "make notebooks            the chapters as plain notebooks, in notebooks/; yours stay (SOLUTIONS=no)"
	@echo "make notebooks NBGRADER=yes  the chapters as assignments of nbgrader, in notebooks/source"
	@echo "make lab                  make notebooks, and JupyterLab with them (CHAPTER=hbf: open that one)"
	@echo "make lite                 the notebooks in the browser, by JupyterLite, in _build/html/lite (PYODIDE=folder)"
	@echo "make test                 what every change is held to: tests that need no GPU, and all chapters"
	@echo "make test-colab           kernels and chapters under Colab's versions (FAST=1: the part that CI runs)"
	@echo "make gpu-test             kernels and chapters on a CUDA device"
	@echo "make colab-gpu            chapters on a machine with a GPU, CUDA, numba and little else (PYTHON=...)"
	@echo "make soak                 all crossings of choices, random programs and inputs, for hours (PROGRAMS=...)"
	@echo "make fuzz                 damaged graph files against an oracle (SECONDS=60 SEED=...)"
	@echo "make mutants              changes that no test notices (FILES=... LINES=120-180 SAMPLE=... SEED=...)"
	@echo "make bench                what must be fast beside something else, timed side by side"
	@echo "make bench-simt           the SIMT machine's speed beside numba's simulator"
	@echo "make outputs              run the notebooks and store their outputs (NOTEBOOKS=... for some)"
	@echo "make sheet TASKS=...      a notebook of tasks for students, and questions for Moodle, in _build;"
	@echo "                          with NBGRADER=yes an assignment in notebooks/source (SHEET=week-1)"
	@echo "                          VARIANTS=yes: predictions have other numbers for each student"
	@echo "make addresses            add new pages, headings and figures to the list of addresses that are kept"
	@echo "make citation             write the version and the date of the edition into CITATION.cff"
	@echo "make colab-url URL=...    set the repository's address everywhere (TAG=... for a release)"
	@echo "make colab-versions FREEZE=...  renew Colab's versions from what pip freeze prints there"
	@echo "make publish              commit the built pages, notebooks and all, on the branch gh-pages"
	@echo "make package              build the wheel and the sdist, and try both in empty environments (TAG=v...)"
	@echo "make lock                 renew requirements.txt, requirements-test.txt and requirements-lite.txt"
	@echo "make clean                remove what was built (.venv, .venv-colab, .venv-lite and notebooks stay)"

# -- the environment ---------------------------------------------------------

# Looked at each time, and made anew where it would not work: see book/make_venv.sh. A Python that is
# named in the command or the environment is meant; `python3` is a default.
NAMED = $(filter command environment,$(firstword $(origin PYTHON)))
$(VENV)/made: FORCE
	@GOALS="$(MAKECMDGOALS)" sh book/make_venv.sh $(VENV) "$(PYTHON)" "$(NAMED)" || { $(SAY_ROOM); }
FORCE:

# Where pip or venv has failed: they do not always say that a disk is full.
SAY_ROOM = df -Pk . "$${TMPDIR:-/tmp}" | awk 'NR > 1 && $$4 < 2e6 { \
  printf "%s has room for %d MB; $(VENV) takes about 2,000.\n", $$6, $$4 / 1e3 }' >&2; exit 1

# One stamp for each set of packages; the test set holds the book's.
INSTALL = $(BIN)/python -m pip install --quiet --require-virtualenv
define install
@touch $(VENV)/installing
@{ $(INSTALL) --requirement $(1) && \
  $(INSTALL) --no-deps --no-build-isolation --editable .; } || { $(SAY_ROOM); }
@rm $(VENV)/installing
endef

$(VENV)/book-installed: requirements.txt pyproject.toml $(VENV)/made
	@echo "Installing the book's packages into $(VENV) (a minute or two the first time) ..."
	$(call install,requirements.txt)
	@touch $@

$(VENV)/test-installed: requirements-test.txt pyproject.toml $(VENV)/made
	@echo "Installing the book's and the tests' packages into $(VENV) ..."
	$(call install,requirements-test.txt)
	@touch $@ $(VENV)/book-installed

# Colab's versions, in an environment of their own, and nothing that they would have pip choose. By
# uv where it gets through, which takes a sixth of pip's time.
COLAB = .venv-colab
COLAB_PACKAGES = --no-deps --requirement requirements-colab.txt
$(COLAB)/made: FORCE
	@GOALS="$(MAKECMDGOALS)" sh book/make_venv.sh $(COLAB) "$(PYTHON)" "$(NAMED)" || { $(SAY_ROOM); }
$(COLAB)/installed: requirements-colab.txt $(COLAB)/made | $(VENV)/test-installed
	@echo "Installing Colab's versions into $(COLAB) ..."
	@touch $(COLAB)/installing
	@$(BIN)/uv pip install --quiet --python $(COLAB)/bin/python $(COLAB_PACKAGES) || \
	  $(subst $(BIN),$(COLAB)/bin,$(INSTALL)) $(COLAB_PACKAGES) || { $(SAY_ROOM); }
	@rm $(COLAB)/installing
	@touch $@

# JupyterLite, of which the book's own environment needs nothing.
LITE = .venv-lite
$(LITE)/made: FORCE
	@GOALS="$(MAKECMDGOALS)" sh book/make_venv.sh $(LITE) "$(PYTHON)" "$(NAMED)" || { $(SAY_ROOM); }
$(LITE)/installed: requirements-lite.txt $(LITE)/made
	@echo "Installing JupyterLite into $(LITE) ..."
	@touch $(LITE)/installing
	@$(subst $(BIN),$(LITE)/bin,$(INSTALL)) --requirement requirements-lite.txt || { $(SAY_ROOM); }
	@rm $(LITE)/installing
	@touch $@

# A release that has been taken over by someone else is mostly found out within days.
lock: $(VENV)/test-installed
	$(BIN)/uv pip compile --quiet --upgrade --exclude-newer "2 weeks" --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-emit-index-url --no-emit-find-links --extra book --output-file requirements.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --exclude-newer "2 weeks" --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-emit-index-url --no-emit-find-links --extra book --extra dask --extra test --constraint requirements.txt --output-file requirements-test.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --exclude-newer "2 weeks" --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --constraint requirements.txt --group lite --output-file requirements-lite.txt

# -- the book ----------------------------------------------------------------

book: $(VENV)/book-installed
	$(BIN)/jupyter-book build .
	@echo
	@echo "The book is built. Open it with a browser (no server needed):"
	@echo "    file://$(CURDIR)/$(PAGES)/index.html"

PORT ?= 8000
read: book
	(sleep 1; $(BIN)/python -m webbrowser http://127.0.0.1:$(PORT)/) &
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory $(PAGES) $(PORT)

pdf: book
	$(BIN)/python book/paper/make_pdf.py $(PAGES) _build/graphs-on-the-gpu.pdf

epub: $(VENV)/book-installed
	$(BIN)/python book/paper/make_epub.py _build/graphs-on-the-gpu.epub

# Said before the book is built.
ifneq ($(filter notebooks lab sheet,$(MAKECMDGOALS)),)
  $(foreach choice,SOLUTIONS NBGRADER VARIANTS,$(if $(filter-out || |yes| |no|,|$($(choice))|), \
    $(error $(choice)=$($(choice)): must be yes or no)))
endif

# Outside of _build, since a reader's answers live there: nothing overwrites or removes them.
UNSOLVED = $(PAGES)/notebooks/without_solutions
notebooks: book
ifeq ($(NBGRADER),yes)
	$(BIN)/python book/sheets/nbgrader_source.py notebooks --chapters $(UNSOLVED)
else
	$(BIN)/python book/fresh_notebooks.py $(if $(filter no,$(SOLUTIONS)),$(UNSOLVED),$(PAGES)/notebooks) notebooks
endif

SHEET ?= sheet
SHEET_TASKS = $(if $(filter yes,$(VARIANTS)),--variants )$(TASKS)
sheet: $(VENV)/book-installed
ifeq ($(NBGRADER),yes)
	$(BIN)/python book/sheets/nbgrader_source.py notebooks "$(SHEET)" $(SHEET_TASKS)
else
	$(BIN)/python book/sheets/make_sheet.py "_build/$(SHEET)" $(SHEET_TASKS)
endif

lab: notebooks
	cd notebooks && ../$(BIN)/jupyter lab$(if $(CHAPTER), $(CHAPTER).ipynb)

# The pages are built with the links into it.
lite: export GPUKERNELS_LITE := yes
lite: $(LITE)/installed book
	$(BIN)/python book/lite.py $(PAGES) $(LITE)

publish: lite
	$(BIN)/python book/publish.py $(PAGES)

outputs: $(VENV)/book-installed
	$(BIN)/python book/run_notebooks.py $(NOTEBOOKS)

addresses: $(VENV)/book-installed
	$(BIN)/python book/find_addresses.py

citation:
	$(PYTHON) book/editions.py

colab-url: $(VENV)/book-installed
	$(BIN)/python book/colab_url.py "$(URL)" "$(TAG)"

colab-versions:
	$(PYTHON) book/colab_versions.py "$(FREEZE)"

# For a release: .github/workflows/release.yml gives the tag, and publishes what is made here.
package: $(VENV)/test-installed
	$(BIN)/python book/make_package.py _build/dist "$(TAG)"

# -- the proof ---------------------------------------------------------------

# In two processes, each of which takes whole files: their tests share fixtures, and the cells of a
# notebook a kernel. The order is that of tests/conftest.py: timings and what takes longest first.
PROCESSES ?= 2
PARALLEL = -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

# What every change is held to. A hundred processes import the package: where nothing compiled is kept, each
# compiles it anew.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/test-installed
	$(BIN)/python -m pytest $(PARALLEL) --nbval --nbval-current-env tests chapters book/index.ipynb

# On Colab a reader has the package alone, as a wheel, and no repository: neither have the notebooks
# here. Of the tests, those that need nothing of what builds the book or opens its pages.
COLAB_FOLDER = _build/colab
COLAB_TESTS = $(addprefix tests/,all_pairs frontiers mapping primitives representations shortest_paths \
  simt trace traversal device views/test_widget.py test_ptx.py test_compiled.py graphs/test_graph.py \
  notebook/test_broken_versions.py reference)
# What CI runs is what other versions may change: types, and whether kernels run and compile.
COLAB_FEW = $(addprefix tests/,primitives simt/test_typing.py views/test_widget.py test_ptx.py::test_some_kernels_compile)
COLAB_THREE = $(addprefix chapters/,simt.ipynb shared_memory.ipynb representations.ipynb)
test-colab: export PYTHONDONTWRITEBYTECODE :=
test-colab: $(COLAB)/installed $(if $(FAST),,book)
	$(COLAB)/bin/python -m pytest -p no:cacheprovider --ignore tests/simt/numba_suite \
	  $(if $(FAST),$(COLAB_FEW),$(COLAB_TESTS))
ifdef FAST
	PYTHONPATH=$(CURDIR) $(COLAB)/bin/python book/compare_notebooks.py --bare $(COLAB_THREE)
else
	rm -rf build $(COLAB_FOLDER)
	$(INSTALL) --no-deps --no-build-isolation --target $(COLAB_FOLDER) .
	rm -rf build
	PYTHONPATH=$(CURDIR)/$(COLAB_FOLDER) $(COLAB)/bin/python book/compare_notebooks.py --bare $(PAGES)/notebooks/*.ipynb
endif

gpu-test: $(VENV)/test-installed
	GPUKERNELS_DEVICE=cuda $(BIN)/python -m pytest -m "not browser" --nbval-lax --nbval-current-env tests chapters book/index.ipynb

# With the Python of that machine, into which nothing is installed. Where pip cannot build a wheel,
# because it reaches no index, the package is copied, of which the wheel is a copy too. What has been
# measured lies beside it as in the repository, so that chapters find it.
colab-gpu:
	rm -rf build $(COLAB_FOLDER)
	$(PYTHON) -m pip install --quiet --no-deps --target $(COLAB_FOLDER) . || \
	  { mkdir -p $(COLAB_FOLDER) && cp -R gpukernels $(COLAB_FOLDER); }
	ln -s $(CURDIR)/data $(CURDIR)/pyproject.toml $(COLAB_FOLDER)
	rm -rf build
	PYTHONPATH=$(CURDIR)/$(COLAB_FOLDER) $(PYTHON) book/compare_notebooks.py --device $(or $(DEVICE),cuda) \
	  $(or $(NOTEBOOKS),chapters/*.ipynb)

soak: $(VENV)/test-installed
	GPUKERNELS_PROGRAMS=$(or $(PROGRAMS),100000) $(BIN)/python -m pytest tests/simt/test_programs.py
	GPUKERNELS_EFFORT=soak $(BIN)/python -m pytest tests

fuzz: $(VENV)/test-installed
	$(BIN)/python tests/fuzz/fuzz_files.py --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED))

# In an environment of its own, as the tests need nothing of it.
MUTANTS = .venv-mutants
$(MUTANTS)/made: $(VENV)/test-installed
	$(BIN)/python -m venv --clear $(MUTANTS)
	$(MUTANTS)/bin/python -m pip install --quiet "cosmic-ray>=8.4.3,<9"
	@touch $@

mutants: $(MUTANTS)/made
	$(MUTANTS)/bin/python tests/mutation/find_survivors.py --python $(BIN)/python $(if $(LINES),--lines $(LINES)) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(FILES)

# Files that pytest does not collect by itself: a time belongs to a machine on which nothing else runs.
bench: $(VENV)/test-installed
	$(BIN)/python -m pytest -s $$(find tests -name 'bench_*.py' | sort)

bench-simt: $(VENV)/book-installed
	$(BIN)/python -m benchmarks simulator --folder build/benchmarks

clean:
	rm -rf _build build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find gpukernels tests book chapters -name __pycache__ -type d -prune -exec rm -r {} +
