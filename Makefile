# `make demo` shows what the package does; `make test` runs every test. Both set up .venv first and need only
# Python 3.11 or newer, git, make and a package registry. Another interpreter: PYTHON=python3.12 make test

PYTHON ?= python3
BIN := .venv/bin
PYTEST_ARGS ?=
TRITON ?=

.PHONY: help demo test test-full triton-tests fuzz matrix docs accuracy bench lint format typecheck clean env-demo env-test

help:
	@echo "make demo       set up .venv and show the main job: a softmax, checked, compiled and run"
	@echo "make test       set up .venv and run every test (PYTEST_ARGS=... is passed on)"
	@echo "make matrix     run the full matrices of operations, dtypes and targets (TRITON=3.6.0: with that version)"
	@echo "make triton-tests  run the tests of unchanged Triton kernels with another Triton (TRITON=3.7.1)"
	@echo "make accuracy   measure the errors of the elementary functions and write docs/accuracy.md"
	@echo "make test-full  the same with every cell of the matrix of functions, dtypes and executors"
	@echo "make fuzz       random kernels by seed, each in a process of its own (SEEDS=\"flow 0 10000\"; \"0 1000\": other ones)"
	@echo "make bench      measure against the budgets"
	@echo "make docs       write docs/reference and docs/errors anew"
	@echo "make lint       ruff and pyright"
	@echo "make format     let ruff format and fix what it can"
	@echo "make typecheck  pyright alone"
	@echo "make clean      delete .venv and everything generated"

demo: env-demo
	@echo "make demo: running teeny demo"
	@$(BIN)/teeny demo

test: env-test
	@echo "make test: running the tests"
	@$(BIN)/python -m pytest -n auto --maxprocesses=8 $(PYTEST_ARGS) tests

matrix: env-test
	@echo "make matrix: every function, dtype and target, with triton $(or $(TRITON),of .venv)"
	@test -z "$(TRITON)" || test -d ".venv/triton-$(TRITON)" || \
		$(BIN)/python -m pip install -q --no-deps --target ".venv/triton-$(TRITON)" "triton==$(TRITON)"
	@TEENY_FULL=1 PYTHONPATH="$(if $(TRITON),.venv/triton-$(TRITON))" $(BIN)/python -m pytest -n auto --maxprocesses=8 \
		$(PYTEST_ARGS) tests/backends/triton tests/kernels $(if $(TRITON),,tests/language/test_matrix.py)
	@test -n "$(TRITON)" || $(BIN)/python -m tests.language.matrix host
	@PYTHONPATH="$(if $(TRITON),.venv/triton-$(TRITON))" $(BIN)/python -m tests.language.matrix compile
	@$(BIN)/python -m tests.language.matrix

triton-tests: env-test
	@echo "make triton-tests: kernels of Triton as they are, with triton $(or $(TRITON),of .venv)"
	@test -z "$(TRITON)" || test -d ".venv/triton-$(TRITON)" || \
		$(BIN)/python -m pip install -q --no-deps --target ".venv/triton-$(TRITON)" "triton==$(TRITON)"
	@PYTHONPATH="$(if $(TRITON),.venv/triton-$(TRITON))" $(BIN)/python -m pytest -n auto --maxprocesses=8 $(PYTEST_ARGS) \
		tests/triton tests/cli/test_check_triton.py tests/cli/test_record.py

accuracy: env-test
	@echo "make accuracy: measuring; docs/accuracy.md is written"
	@$(BIN)/python -m bench.accuracy

fuzz: env-test
	@echo "make fuzz: random kernels against their meaning in NumPy (SEEDS=\"flow 0 10000\")"
	@$(BIN)/python -m tests.language.fuzz $(or $(SEEDS),flow 0 10000)

test-full: env-test
	@echo "make test-full: running the tests, every cell of the matrix, a thousand random kernels"
	@TEENY_FULL=1 $(BIN)/python -m pytest -n auto --maxprocesses=8 $(PYTEST_ARGS) tests

bench: env-test
	@echo "make bench: measuring"
	@$(BIN)/python -m bench

docs: env-test
	@echo "make docs: writing docs/reference and docs/errors"
	@$(BIN)/python -m tools.docs

lint: env-test
	@echo "make lint: ruff check"
	@$(BIN)/python -m ruff check .
	@echo "make lint: ruff format --check"
	@$(BIN)/python -m ruff format --check .
	@$(MAKE) --no-print-directory typecheck

format: env-test
	@$(BIN)/python -m ruff check --fix .
	@$(BIN)/python -m ruff format .

typecheck: env-test
	@echo "make typecheck: pyright, strict"
	@$(BIN)/python -m pyright

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis .benchmarks
	find src tests examples tools bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

env-demo:
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { echo "setup: there is no $(PYTHON) on the PATH; Python 3.11 or newer is needed" >&2; exit 1; }
	@"$(PYTHON)" tools/setup.py demo

env-test:
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { echo "setup: there is no $(PYTHON) on the PATH; Python 3.11 or newer is needed" >&2; exit 1; }
	@"$(PYTHON)" tools/setup.py test
