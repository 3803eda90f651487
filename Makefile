# Everything that CI runs, a person can run. Each target sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PYWB := .venv-pywb
SCRAPY := .venv-scrapy
LOWEST := .venv-lowest
NAME ?=
SOURCE ?=
ARGS ?=
# Three at a time on two cores, since much of the time is waiting; in the order of tests/conftest.py.
TOGETHER := -n 3 --dist loadfile --no-loadscope-reorder

.PHONY: install run test coverage lint lowest licences format bench eval soak docs clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (a minute or two the first time)"
	@$(PIP) --editable .
	@touch $@

# What tests, lint, benchmarks and evaluations need on top.
$(VENV)/.developing: $(VENV)/.installed
	@$(PIP) --editable ".[dev]"
	@touch $@

run: install
	$(BIN)/rehi up $(if $(SOURCE),--add "$(SOURCE)",--world) $(ARGS)

# pywb replays our archive in the tests; its pins clash with ours, so it lives in an environment of its own.
$(PYWB)/.installed: constraints-pywb.txt
	@test -x $(PYWB)/bin/python || $(PYTHON) -m venv $(PYWB)
	@$(PYWB)/bin/python -m pip install --quiet --disable-pip-version-check --requirement constraints-pywb.txt
	@touch $@

test: $(VENV)/.developing $(PYWB)/.installed
	REHI_PYWB=$(CURDIR)/$(PYWB)/bin $(BIN)/python -m pytest $(TOGETHER) $(ARGS)

# The share of the code that tests reach, in commands, servers and worker processes too. Tests run about half as fast
# again, and the few that measure a process may fail because they measure the measuring: only the share counts here.
coverage: $(VENV)/.developing $(PYWB)/.installed
	@rm -rf .coverage && mkdir .coverage
	-REHI_PYWB=$(CURDIR)/$(PYWB)/bin $(BIN)/python -m coverage run -m pytest $(TOGETHER) $(ARGS)
	@$(BIN)/python -W ignore -m coverage combine --quiet  # without what processes that were killed had not written
	@$(BIN)/python -m coverage report --sort=cover | head -12
	@echo "in all: $$($(BIN)/python -m coverage report --format=total) %"
	@$(BIN)/python -m coverage report --format=total --fail-under=80 > /dev/null

lint: $(VENV)/.developing
	$(BIN)/ruff check src tests bench eval
	$(BIN)/ruff format --check src tests bench eval
	$(BIN)/mypy
	$(BIN)/lint-imports

# The lowest versions that pyproject.toml allows, in an environment of their own, and the tests of what they carry: the
# gate and the API, pages, uploads and replay, the catalogue, and a harvest of the practice web.
LOWEST_TESTS := tests/serve/test_gate.py tests/serve/test_api.py tests/serve/test_strict_parameters.py \
	tests/serve/test_hostile_requests.py tests/serve/test_downloads.py tests/serve/test_secrets.py \
	tests/engines/test_catalogue_opening.py tests/test_texts.py tests/test_settings.py

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	@test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --requirement constraints-lowest.txt
	@$(LOWEST)/bin/uv pip compile pyproject.toml --quiet --extra postgres --extra s3 --resolution lowest-direct \
		--python $(LOWEST)/bin/python --only-binary :all: --output-file $(LOWEST)/lowest.txt > /dev/null
	@$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --requirement $(LOWEST)/lowest.txt \
		--requirement constraints-lowest.txt --editable .
	@touch $@

lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -n 2 --dist loadfile $(LOWEST_TESTS) $(ARGS)

# Licences of all that is installed with rehi, by a table that somebody has looked through.
licences: $(VENV)/.developing
	$(BIN)/python docs/licences.py

format: $(VENV)/.developing
	$(BIN)/ruff format src tests bench eval
	$(BIN)/ruff check --fix src tests bench eval

# Scrapy, and aiohttp with warcio, are what we measure ourselves against, in an environment of their own.
$(SCRAPY)/.installed: constraints-scrapy.txt
	@test -x $(SCRAPY)/bin/python || $(PYTHON) -m venv $(SCRAPY)
	@$(SCRAPY)/bin/python -m pip install --quiet --disable-pip-version-check --requirement constraints-scrapy.txt
	@touch $@

bench: $(VENV)/.developing $(if $(filter fetch,$(NAME)),$(SCRAPY)/.installed)
	REHI_SCRAPY=$(CURDIR)/$(SCRAPY)/bin $(BIN)/python -m bench $(NAME) $(ARGS)

eval: $(VENV)/.developing
	$(BIN)/python -m eval $(NAME) $(ARGS)

soak: $(VENV)/.developing
	$(BIN)/python -m pytest -m soak -s --timeout 0 $(if $(NAME),-k $(NAME)) $(ARGS)

docs: $(VENV)/.developing
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
