# The two commands that a newcomer needs are `make demo` and `make test`. Each sets up a virtual environment once.
PYTHON ?= python3
VENV ?= .venv
BIN := $(CURDIR)/$(VENV)/bin
# PyTorch is large and comes in many builds: what pip is told to install for the examples, any newer torch will do, too.
TORCH ?= torch==2.13.0
RL := $(CURDIR)/$(VENV)-rl
PYTHONS ?= 3.10 3.11 3.12 3.13

.PHONY: demo test lint types unit test-slow test-pythons test-ray test-rl bench bench-ray bench-shop parity results horizons learn clean

demo: $(VENV)/.demo
	rm -rf runs/demo
	$(BIN)/textcraft-gym evaluate --env TextCraft-v0 --split test --agent expert --out runs/demo/expert --no-table
	$(BIN)/textcraft-gym evaluate --env TextCraft-v0 --split test --agent random --out runs/demo/random --no-table
	$(BIN)/textcraft-gym report runs/demo/expert runs/demo/random
	$(BIN)/textcraft-gym evaluate --env TextCraft-v0 --split test --agent react --model simulated:span=4 --out runs/demo/react --no-table
	$(BIN)/textcraft-gym evaluate --env TextCraft-v0 --split test --agent adapt --model simulated:span=4 --out runs/demo/adapt --no-table
	@echo 'ReAct against ADaPT, both with a simulated model that keeps 4 things in mind:'
	$(BIN)/textcraft-gym report runs/demo/react runs/demo/adapt
	$(BIN)/textcraft-gym compare runs/demo/react runs/demo/adapt
	$(BIN)/textcraft-gym report runs/demo/expert runs/demo/random runs/demo/react runs/demo/adapt --out runs/demo/report.html

test: lint types unit

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# In the checkout mypy would not see the folders that setup.cfg maps into the package, so it checks an installed copy.
types: $(VENV)/.test
	rm -rf build
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --target build/installed .
	cd build/installed && $(BIN)/mypy --config-file $(CURDIR)/setup.cfg --package textcraft_gym

unit: $(VENV)/.test
	$(BIN)/python -m pytest --numprocesses auto

# What takes minutes: a hundred thousand random actions, and shortest plans against an independent solver.
test-slow: $(VENV)/.test
	$(BIN)/python -m pytest --numprocesses auto -m slow

# Our ALFWorld engine beside the real one on every game of a folder: prints games, records, mismatches. After the folder may
# stand how many commands to play in each, and --plain for TextWorld as it is, ten times slower: GAMES='DIR 500 --plain'.
parity: $(VENV)/.test
	$(BIN)/python -W ignore -m tests.envs.alfworld.judge $(GAMES)

# The tests on every supported Python that this machine has.
test-pythons:
	@for version in $(PYTHONS); do \
		if python$$version -c '' 2>/dev/null; then \
			$(MAKE) unit PYTHON=python$$version VENV=.venv-$$version || exit 1; \
		else echo "skipped: no python$$version here"; fi; \
	done

# The tests that play on Ray, and its throughput, in a virtual environment of their own: all else runs without it.
test-ray: .venv-ray/.ray
	.venv-ray/bin/python -m pytest -m ray tests/evaluation/test_ray.py

bench-ray: .venv-ray/.ray
	.venv-ray/bin/python benchmarks/backends.py

# The examples that learn, for seconds each. They have a virtual environment of their own, with PyTorch.
test-rl: $(RL)/.rl
	$(RL)/bin/python -m pytest tests/examples

bench: $(VENV)/.demo
	$(BIN)/python benchmarks/textcraft.py
	$(BIN)/python benchmarks/agents.py
	$(BIN)/python benchmarks/backends.py
	$(BIN)/python -W ignore benchmarks/households.py
	$(BIN)/python benchmarks/shopping.py
	$(BIN)/python benchmarks/vectors.py
	$(BIN)/python benchmarks/minetechtree.py

# A shop of the original's size: loaded from its files, loaded again, searched. Takes some minutes.
bench-shop: $(VENV)/.demo
	$(BIN)/python benchmarks/shopping.py --products 100000

# The tables of benchmarks/results, by the simulated model; runs/results holds the runs and goes on where it was cut off.
results: $(VENV)/.demo
	$(BIN)/python benchmarks/results.py

# How long goals take in the tech tree, for DEPS's learned selector: logged, fitted, and put where the package has it.
horizons: $(VENV)/.demo
	$(BIN)/python examples/learn_horizons.py --out agents/deps/horizons/minetechtree.json

# What the examples learn in some minutes, as it stands in benchmarks/results.
learn: $(RL)/.rl
	$(RL)/bin/python examples/train_maskable_ppo.py --out runs/learning
	$(RL)/bin/python examples/behaviour_cloning.py --out runs/learning
	cp runs/learning/learning.svg runs/learning/learning.csv runs/learning/learning.md runs/learning/behaviour_cloning.md benchmarks/results/

$(VENV)/.demo: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# The real ALFWorld engine needs a compiler and Python 3.12 or older; where it cannot be had, its tests are skipped by name.
# Of MineDojo only the task specifications are read; its dependencies cannot be installed beside today's Gymnasium.
$(VENV)/.test: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	$(BIN)/python -m pip install --quiet --editable '.[alfworld]' || echo 'ALFWorld could not be installed'
	$(BIN)/python -m pip install --quiet --no-deps minedojo || echo 'MineDojo could not be installed'
	touch $@

.venv-ray/.ray: setup.cfg pyproject.toml
	$(PYTHON) -m venv .venv-ray
	.venv-ray/bin/python -m pip install --quiet --editable '.[ray,test]' 'ray[tune]; python_version < "3.15"'

# PyTorch first, so that the extra finds it there and fetches no other build of it.
$(RL)/.rl: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(RL)
	$(RL)/bin/python -m pip install --quiet $(TORCH)
	$(RL)/bin/python -m pip install --quiet --editable '.[rl]' 'hypothesis>=6.100' 'pytest>=8'
	touch $@

clean:
	rm -rf build runs .venv .venv-* *.egg-info
