# Everything that CI runs, a person can run. Each target sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PYWB := .venv-pywb
SCRAPY := .venv-scrapy
DATASETTE := .venv-datasette
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
# ARGS="tests/extract tests/compare" is a part, of which no share is demanded. What was measured counts though tests end after
# COVERAGE_SECONDS, or are killed: what killed processes have half written is left out.
COVERAGE_SECONDS ?= 7200
coverage: $(VENV)/.developing $(PYWB)/.installed
	@rm -rf .coverage && mkdir .coverage
	-REHI_PYWB=$(CURDIR)/$(PYWB)/bin timeout --signal INT --kill-after 60 $(COVERAGE_SECONDS) \
		$(BIN)/python -m coverage run -m pytest $(TOGETHER) $(ARGS)
	@$(BIN)/python -W ignore -m coverage combine --quiet
	@rm -f .coverage/data.*
	@$(BIN)/python -m coverage report --sort=cover > .coverage/report.txt
	@head -12 .coverage/report.txt
	@echo "in all: $$($(BIN)/python -m coverage report --format=total) % (all modules are in .coverage/report.txt)"
	@$(if $(ARGS),,$(BIN)/python -m coverage report --format=total --fail-under=80 > /dev/null)

lint: $(VENV)/.developing
	$(BIN)/ruff check src tests bench eval
	$(BIN)/ruff format --check src tests bench eval
	$(BIN)/mypy
	$(BIN)/lint-imports

# The lowest versions that pyproject.toml allows, in an environment of their own, and the tests of what they carry. Left out
# are schemathesis, which needs a later rich, and the peers of our reader of archives, of which one needs a later FastWARC.
LOWEST_TESTS := $(addprefix tests/,archive compare enrich extract frontier graph growth languages link model sources \
	$(addprefix serve/test_,gate.py api.py strict_parameters.py hostile_requests.py malformed_http.py downloads.py secrets.py) \
	engines/test_catalogue_opening.py test_settings.py test_texts.py) --ignore tests/archive/test_foreign_cases.py

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	@test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --requirement constraints-lowest.txt
	@$(LOWEST)/bin/uv pip compile pyproject.toml --quiet --extra postgres --extra s3 --resolution lowest-direct \
		--python $(LOWEST)/bin/python --only-binary :all: --output-file $(LOWEST)/lowest.txt > /dev/null
	@$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --requirement $(LOWEST)/lowest.txt \
		--requirement constraints-lowest.txt --editable .
	@touch $@

lowest: $(LOWEST)/.installed $(PYWB)/.installed
	REHI_PYWB=$(CURDIR)/$(PYWB)/bin $(LOWEST)/bin/python -m pytest $(TOGETHER) $(LOWEST_TESTS) $(ARGS)

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

# Datasette too: its pins are its own.
$(DATASETTE)/.installed: constraints-datasette.txt
	@test -x $(DATASETTE)/bin/python || $(PYTHON) -m venv $(DATASETTE)
	@$(DATASETTE)/bin/python -m pip install --quiet --disable-pip-version-check --requirement constraints-datasette.txt
	@touch $@

bench: $(VENV)/.developing $(if $(filter fetch,$(NAME)),$(SCRAPY)/.installed) \
		$(if $(filter pages,$(NAME)),$(DATASETTE)/.installed)
	REHI_SCRAPY=$(CURDIR)/$(SCRAPY)/bin REHI_DATASETTE=$(CURDIR)/$(DATASETTE)/bin $(BIN)/python -m bench $(NAME) $(ARGS)

eval: $(VENV)/.developing
	$(BIN)/python -m eval $(NAME) $(ARGS)

soak: $(VENV)/.developing
	$(BIN)/python -m pytest -m soak -s --timeout 0 $(if $(NAME),-k $(NAME)) $(ARGS)

docs: $(VENV)/.developing
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
