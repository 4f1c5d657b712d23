# Everything runs in a virtual environment inside the checkout; nothing else is touched.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: help demo test check format clean bench-attack bench-cip bench-iot bench-memory bench-stream bench-tpl

help:
	@echo "make demo    the whole system on this machine; opens nothing, writes demo-output/report.html"
	@echo "make test    every test"
	@echo "make check   formatting, lint, types, import contracts"
	@echo "make format  rewrite the code in the house format"
	@echo "make bench-attack   attackers on real traces at equal noise power (needs SFUMATO_DATA)"
	@echo "make bench-cip      every figure of the noise designs, about 4 minutes"
	@echo "make bench-iot      mappings of sensor nodes: quality, speed, attacks on a real room, about 15 minutes"
	@echo "make bench-stream   noise power of stream designs, with certificates"
	@echo "make bench-tpl      temporal leakage: exactness and speed, about 4 minutes"
	@echo "make bench-memory   the agent's resident memory and its rate"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "sfumato needs Python 3.10 or newer; found $$($(PYTHON) --version 2>&1). Say make PYTHON=python3.11" >&2; exit 2; }
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "python3 -m venv failed; on Debian: apt-get install python3-venv" >&2; exit 2; }

$(VENV)/.demo: $(BIN)/python pyproject.toml
	@echo "Installing sfumato and what the demonstration needs"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[precompute,demo]'
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	@echo "Installing sfumato and what its tests need"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[precompute,audit,demo,dev]'
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/sfumato demo -o demo-output

test: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest  # small matrices: two threads are slower than one

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench-attack bench-cip bench-iot bench-memory bench-stream bench-tpl: bench-%: $(VENV)/.dev
	$(BIN)/python -m benchmarks.$(BENCH_$*)

BENCH_attack := trace_attack
BENCH_cip := cip
BENCH_iot := iot
BENCH_memory := agent_memory
BENCH_stream := stream_power
BENCH_tpl := leakage

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) demo-output bench-output
