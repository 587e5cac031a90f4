"""The taskset of verifiers, in its own environment and against a server on this machine that
replays actions."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import textcraft_gym
from textcraft_gym.registration import BUNDLED

vf = pytest.importorskip("verifiers.v1", reason="verifiers (extra [verifiers]) is not installed")

TASKSET = "textcraft-gym-verifiers"
BEEHIVE = "minecraft:beehive"
Reply = Callable[[list[dict[str, Any]]], str]


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_KEY", "none")


@contextmanager
def served(reply: Reply) -> Iterator[str]:
    """Serve a model with OpenAI's API, whose replies a function of the messages gives."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": reply(request["messages"])}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            answer = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": request["model"],
            }
            body = json.dumps({**answer, "choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Print nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # of connections at once

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def environment(player: dict[str, Any] | None = None, **taskset: Any) -> Any:
    config = {"taskset": {"id": TASKSET, **taskset}, "player": player or {}}
    return vf.load_environment(vf.resolve_env_config(config))


def played(env: Any, reply: Reply, name: str | None = None) -> list[Any]:
    """Return the episodes of all tasks, or of one, all at once."""

    async def play(base_url: str) -> list[Any]:
        client = vf.EvalClientConfig(base_url=base_url, api_key_var="NO_KEY")
        context = vf.ModelContext("replay", client)
        tasks = [task for task in env.taskset if name in (None, task.data.name)]
        async with env.serving():
            return list(await asyncio.gather(*(env.run_episode(task, context) for task in tasks)))

    with served(reply) as base_url:
        return asyncio.run(play(base_url))


def turns(messages: list[dict[str, Any]]) -> int:
    return sum(message["role"] == "assistant" for message in messages)


def plan_of(env_id: str, task: str | None, seed: int = 0, **arguments: Any) -> list[str]:
    env = gym.make(env_id, expert=True, max_episode_steps=-1, **arguments)
    _, info = env.reset(seed=seed, options=None if task is None else {"task": task})
    return list(info["expert_plan"])


@pytest.mark.parametrize("env_id", BUNDLED)
def test_taskset__has_the_tasks_and_the_first_observations_of_the_environment(env_id):
    split = {"split": "dev"} if env_id == "ALFWorld-v0" else {}
    env = gym.make(env_id, **split)
    tasks = list(environment(env=env_id, seeds=2, **split).taskset.take(6))
    assert len({task.key for task in tasks}) == 6
    assert [task.data.info["task"] for task in tasks[::2]] == [
        task.id for task in env.get_wrapper_attr("tasks")[:3]
    ]
    for task in tasks:
        info = task.data.info
        assert task.data.prompt == env.reset(seed=info["seed"], options={"task": info["task"]})[0]
        assert task.data.system_prompt.endswith("after the word Action and a colon.")


def test_plan__wins_and_nonsense_does_not():
    plan = plan_of("TextCraft-v0", BEEHIVE)
    env = environment(split="test")
    (won,) = played(
        env, lambda messages: f"I go on.\nAction: {plan[turns(messages)]}", f"{BEEHIVE}#0"
    )
    assert won.ok, won.errors
    (trace,) = won.traces
    assert (trace.reward, trace.info["won"]) == (1.0, True)
    assert trace.metrics == {"won": 1.0, "steps": float(len(plan)), "invalid": 0.0}
    (lost,) = played(
        environment(split="test", max_steps=3), lambda messages: "dance", f"{BEEHIVE}#0"
    )
    (trace,) = lost.traces
    assert (trace.reward, trace.info["won"]) == (0.0, False)
    assert trace.metrics == {"won": 0.0, "steps": 3.0, "invalid": 3.0}


def test_dialogue__is_that_of_the_environment():
    actions = ["look", "hunt 1 beef", "look"]
    env = environment(env="MineTechTree-v0", seeds=2, max_steps=len(actions))
    second = list(env.taskset.take(2))[1]
    (episode,) = played(env, lambda messages: actions[turns(messages)], second.data.name)
    game = gym.make("MineTechTree-v0")
    expected = [game.reset(seed=1, options={"task": second.data.info["task"]})[0]]
    for action in actions[:-1]:
        expected += [action, game.step(action)[0]]
    messages = [message.content for message in episode.traces[0].branches[-1].messages]
    assert messages[1:] == [*expected, actions[-1]]


def test_episodes__at_once_do_not_mix():
    env = environment(split="test", seeds=2)
    plans = {
        task.data.prompt: plan_of("TextCraft-v0", *numbered(task)) for task in env.taskset.take(20)
    }

    def reply(messages: list[dict[str, Any]]) -> str:
        plan = plans.get(messages[1]["content"])
        return plan[turns(messages)] if plan else "inventory"

    env.taskset = env.taskset.take(20)
    assert [episode.traces[0].reward for episode in played(env, reply)] == [1.0] * 20


def numbered(task: Any) -> tuple[str, int]:
    return task.data.info["task"], task.data.info["seed"]


def test_limit_of_turns__ends_the_episode_without_an_error():
    env = environment({"max_turns": 2}, split="test")
    (episode,) = played(env, lambda messages: "inventory", f"{BEEHIVE}#0")
    assert episode.ok, episode.errors
    assert episode.traces[0].metrics["steps"] == 2.0


def test_unknown_split__is_refused():
    with pytest.raises(textcraft_gym.UnknownName, match="split"):
        list(environment(split="tets").taskset)


def test_page__has_a_config_that_verifiers_takes():
    tomllib = pytest.importorskip("tomllib", reason="tomllib is of Python 3.11 and later")
    from verifiers.v1.configs.cli.eval import EvalConfig

    page = (Path(__file__).parents[2] / "docs" / "evaluators.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    config = EvalConfig.model_validate(tomllib.loads(block))
    env = vf.load_environment(config.env)
    assert next(iter(env.taskset)).key.startswith("ALFWorld-v0/")
    assert (config.env.player.max_output_tokens, config.env.player.runtime.type) == (
        20000,
        "subprocess",
    )
    assert {harness.id for harness in config.env.agent_harnesses().values()} == {TASKSET}
    one_line = page.replace("\\\n", "")
    (command,) = re.findall(r"^vf-eval (textcraft.*)$", one_line, re.MULTILINE)
    assert {"--no-push", "--client.base-url", "--env.taskset.split", TASKSET} <= set(
        command.split()
    )


def test_command_line__writes_the_reward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from verifiers.v1.cli.eval.main import main

    plan = plan_of("TextCraft-v0", textcraft_gym.tasks("TextCraft-v0", "test")[0].id)
    monkeypatch.chdir(tmp_path)
    with served(lambda messages: plan[turns(messages)]) as url:
        options = ["--env.taskset.split", "test", "--model", "replay", "--client.base-url", url]
        options += [
            "--client.api-key-var",
            "NO_KEY",
            "-n",
            "1",
            "--no-push",
            "--no-rich",
            "--output-dir",
            "runs",
        ]
        monkeypatch.setattr("sys.argv", ["vf-eval", TASKSET, *options])
        main()
    (file,) = (tmp_path / "runs").rglob("traces.jsonl")
    (line,) = file.read_text(encoding="utf-8").splitlines()
    assert '"game_reward"' in line
