# Every target works with the ICP_* variables set (docs/operate.md says what each does).
# `make` alone lists the targets.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
PY := $(VENV)/bin/python
MANAGE := $(PY) manage.py

# Tests bring their own addresses, switches and secrets; the database, Redis and data folder stay yours. They start
# hundreds of Python processes, each of which would compile the project again without its cache of bytecode.
TESTING := env -u PYTHONDONTWRITEBYTECODE -u ICP_PORT -u ICP_PUBLIC_URL -u ICP_ALLOWED_HOSTS -u ICP_DEBUG -u ICP_SECRET_KEY -u ICP_RATE_PER_MINUTE -u ICP_PRIVATE_TARGETS -u ICP_PUBLIC_LOGS -u ICP_WITNESS_QUORUM -u ICP_IDLE_HOURS -u ICP_SQLITE_SYNC -u ICP_LOG_FORMAT
# As on a server behind a proxy: an https address, no debugging, a secret of full length.
DEPLOYED := ICP_DEBUG= ICP_PUBLIC_URL=https://icp.example.org ICP_SECRET_KEY="$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(50))')"
SCHEMA := docs/openapi.yaml
# Where the coding agents under test are installed, in the versions of tests/agents/package.json. Two of them put their
# program in place by a script of theirs, a third is put in place by hand (`link`); no other package's script is run,
# since one would compile and fetch.
AGENTS_DIR := $(abspath $(or $(ICP_AGENTS_DIR),.agents))

.DEFAULT_GOAL := help
.PHONY: help setup setup-base setup-dev setup-bench setup-agents setup-deploy run demo test test-deep check check-deploy e2e agents bench bench-quick chaos mutate schema lock

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# $(call install,NAME,FILES): install the last of FILES, which builds on the others, unless .venv holds just that.
define install
@test -x $(PY) || $(PYTHON) -m venv $(VENV)
@cat $(2) | cmp -s - $(VENV)/$(1).installed || \
  { $(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $(lastword $(2)) \
    && cat $(2) > $(VENV)/$(1).installed; }
endef
BASE := requirements/base.txt
TEST := $(BASE) requirements.txt

setup: ## Make .venv with what `make test` needs (requirements.txt); does nothing while that is unchanged
	$(call install,test,$(TEST))

setup-base: ## The same with what serving needs and no more
	$(call install,base,$(BASE))

setup-dev: ## The same with what `make check`, `make e2e`, `make agents` and `make mutate` need
	$(call install,dev,$(TEST) requirements/dev.txt)

setup-bench: ## The same with the policy engines that `make bench` measures beside ours
	$(call install,bench,$(TEST) requirements/bench.txt)

setup-deploy: ## The same with what `make check-deploy` needs
	$(call install,deploy,$(TEST) requirements/deploy.txt)

run: setup-base ## Migrate, then serve on 127.0.0.1, port ICP_PORT
	@$(MANAGE) migrate --noinput --verbosity 0
	@$(MANAGE) serve

demo: setup-base ## Migrate, then serve with example data and a scripted agent
	@$(MANAGE) migrate --noinput --verbosity 0
	@$(MANAGE) demo

test: setup ## Every test but the deep ones, those in a browser and those with real agents
	$(TESTING) $(PY) -m pytest -m "not deep and not e2e and not agents" -n auto

test-deep: setup ## Long properties, fuzzing, strace and outages
	$(TESTING) $(PY) -m pytest -m deep -n auto

e2e: setup-dev ## The tests in a real browser (Chromium must be installed)
	$(TESTING) $(PY) -m pytest -m e2e -n 2

agents: setup-dev setup-agents ## The tests with real coding agents (needs npm, 2.6 GB below ICP_AGENTS_DIR, and Chromium)
	$(TESTING) ICP_AGENTS_DIR=$(AGENTS_DIR) $(PY) -m pytest -m agents

setup-agents: ## Install those agents below ICP_AGENTS_DIR; does nothing while their list is unchanged
	@command -v npm >/dev/null || { echo "make agents needs Node.js and npm: apt-get install nodejs npm" >&2; exit 1; }
	@mkdir -p $(AGENTS_DIR)
	@cmp -s tests/agents/package.json $(AGENTS_DIR)/installed.json || \
	  { cp tests/agents/package.json $(AGENTS_DIR)/package.json \
	    && (cd $(AGENTS_DIR) && npm install --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error \
      && npm run --silent link) \
	    && cp tests/agents/package.json $(AGENTS_DIR)/installed.json; }

check: setup-dev ## Lint, types, import rules, migrations, deployment, templates, schema, sizes
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(TESTING) $(VENV)/bin/mypy .
	$(VENV)/bin/lint-imports
	$(VENV)/bin/djlint --lint --quiet templates
	$(TESTING) $(MANAGE) makemigrations --check --dry-run
	$(TESTING) $(DEPLOYED) $(MANAGE) check --deploy --fail-level WARNING
	$(TESTING) $(MANAGE) spectacular --validate --fail-on-warn --file $(VENV)/openapi.yaml
	diff -u $(SCHEMA) $(VENV)/openapi.yaml
	$(TESTING) $(PY) -m pytest tests/test_code_structure.py

check-deploy: setup-deploy ## The image, compose.yaml, chart, units, proxy and alerts by the tools that read them
	deploy/check.sh $(VENV)/bin

bench: setup-bench ## Every figure that the README claims, one JSON object a line
	@$(PY) -m benchmarks

bench-quick: setup-bench ## The same within five minutes
	@$(PY) -m benchmarks --quick

chaos: setup ## Kill, hang, lock, fill and slow under load, and write what held into docs/operate.md
	$(TESTING) $(PY) -m tests.chaos --write $(FAULT)

mutate: setup-dev ## Put small faults into the decision core and see which its tests let live: SAMPLE=1200 MODULES="controlplane.policy.globs.parse*"
	$(TESTING) $(PY) -m tests.mutate $(if $(SAMPLE),--sample $(SAMPLE)) $(MODULES)

schema: setup-base ## Write the OpenAPI document that `make check` compares with
	$(TESTING) $(MANAGE) spectacular --validate --fail-on-warn --file $(SCHEMA)

lock: ## Pin requirements/*.in, with hashes (needs uv; nothing else does)
	requirements/lock.sh
