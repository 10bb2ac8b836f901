# make run    build kernel 8, run it at n=4096, check it
# make test   ruff, mypy, and the tests that ask each kind of question once: three to ten minutes
# make test-all   ruff, mypy and all tests but the slow ones, with their processor time by file: half an hour of one core
# make test-slow  the same and the slow ones: an hour and a half of one core, most of it the instruction vectors
# make lint   ruff and mypy alone
# make tune   the shipped table and the figures of docs/tuning.md anew: hours, and it goes on where it was stopped
# make clients  programs of others on the simulated card: installs them, and runs for half an hour (docs/clients.md)
# make docs   the documentation as a site in build/site; the first time it plays ten kernels, for a minute
# make dist   sdist and wheel in dist/
# make fuzz   150,000 damaged inputs for the readers of assembly, code objects, bundles and metadata, and 60,000
#             for the verbs, files of ten kinds: half an hour
#
# Everything is installed into .venv by pip, nothing needs root. A second run installs nothing. `make run` installs a
# compiler (the ziglang wheel, 411 MB) only where there is neither ROCm nor clang.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt
RUN := $(VENV)/.run
DEV := $(VENV)/.dev
# 85 MB of ziglang's: the headers and the C library of Windows, for which nothing here compiles.
OF_WINDOWS = $(VENV)/lib/python3*/site-packages/ziglang/lib/libc/mingw \
	$(VENV)/lib/python3*/site-packages/ziglang/lib/libc/include/any-windows-any
unexport PYTHONDONTWRITEBYTECODE  # the tests start the project in hundreds of processes, which should not compile it anew

.PHONY: run test pytest test-all pytest-all test-slow lint fuzz tune clients docs dist clean

run: $(RUN)
	$(BIN)/python tools/build_isa.py kernel8
	$(BIN)/hipgemm run kernel8 -n 4096

test: $(DEV)
	@$(MAKE) --no-print-directory -j2 lint pytest

pytest: $(DEV)
	$(BIN)/python -m pytest -q -n auto --dist worksteal

test-all: $(DEV)
	@$(MAKE) --no-print-directory -j2 lint pytest-all

pytest-all: $(DEV)
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow" --times

test-slow: lint
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "slow or not slow"

tune: $(RUN)
	$(BIN)/hipgemm tune $(patsubst %,--shapes %,$(wildcard hipgemm/tuning/lists/*.txt)) -o hipgemm/tuning/tables/7900-xtx.json
	for t in f16_f32 i8_i32 i4_i32; do $(BIN)/hipgemm tune $(patsubst %,--shapes %,$(wildcard hipgemm/tuning/lists/matrix/*.txt)) \
	  --types $$t --candidates 16 -o hipgemm/tuning/tables/7900-xtx-matrix.json || exit 1; done
	$(BIN)/python tools/tables.py --write

fuzz: $(DEV)
	$(BIN)/python tools/fuzz.py

clients: $(DEV)
	$(BIN)/python tools/clients.py --update

docs: $(DEV)
	$(BIN)/mkdocs build --strict --quiet

dist: $(DEV)
	$(BIN)/python -m hatchling build -d dist

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "hipgemm needs Python 3.10 or newer; name one: make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$(PYTHON) cannot make a virtual environment: on Debian and Ubuntu the package python3-venv is missing"; exit 1; }

# The stamps are newer than what they were made from; `make` installs again only when that changes.
$(RUN): pyproject.toml constraints.txt | $(VENV)
	@extras=sim; $(BIN)/python -S -c 'from isa.toolchain import find; find()' 2>/dev/null || extras=sim,toolchain; \
		echo installing hipgemm with $$extras; $(PIP) -e ".[$$extras]"
	@rm -rf $(OF_WINDOWS)
	@touch $@

$(DEV): pyproject.toml constraints.txt | $(VENV)
	$(PIP) -e '.[sim,toolchain,dev]'
	@touch $(RUN) $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
