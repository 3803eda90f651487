# Everything that CI runs, a person can run. Each target sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYWB := .venv-pywb
NAME ?=
SOURCE ?=
ARGS ?=

.PHONY: install run test lint format bench eval soak docs clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (a minute or two the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@touch $(STAMP)

run: install
	$(BIN)/rehi up $(if $(SOURCE),--add "$(SOURCE)",--world) $(ARGS)

# pywb replays our archive in the tests; its pins clash with ours, so it lives in an environment of its own.
$(PYWB)/.installed: constraints-pywb.txt
	@test -x $(PYWB)/bin/python || $(PYTHON) -m venv $(PYWB)
	@$(PYWB)/bin/python -m pip install --quiet --disable-pip-version-check --requirement constraints-pywb.txt
	@touch $(PYWB)/.installed

test: install $(PYWB)/.installed
	REHI_PYWB=$(CURDIR)/$(PYWB)/bin $(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

lint: install
	$(BIN)/ruff check src tests bench eval
	$(BIN)/ruff format --check src tests bench eval
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff format src tests bench eval
	$(BIN)/ruff check --fix src tests bench eval

bench: install
	$(BIN)/python -m bench $(NAME) $(ARGS)

eval: install
	$(BIN)/python -m eval $(NAME) $(ARGS)

soak: install
	$(BIN)/python -m pytest -m soak -n 0 $(ARGS)

docs: install
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
