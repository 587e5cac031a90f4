"""Whoever watches an episode sees all of its trace, each part as it comes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from tests.doubles import CRAFTER
from textcraft_gym import RunSpec
from textcraft_gym.agents.contract.agent import Node
from textcraft_gym.agents.contract.model import Completion, ModelError
from textcraft_gym.cli.app import app
from textcraft_gym.cli.main import main
from textcraft_gym.cli.watch import watch
from textcraft_gym.episodes.episode import Episode

CONTROL = "think: \x1b[31mred\x07 \N{SNOWMAN} \ud800 [bold]"


class Scripted:
    """Answers in turn; an answer that is an exception is raised."""

    def __init__(self, *answers: str | type[BaseException]) -> None:
        self.answers = list(answers)

    def complete(self, prompt, **how) -> Completion:
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return Completion(answer, {"prompt_tokens": 1200, "completion_tokens": 7}, 0.25)
        raise answer("no more of this")


class Interrupted(Scripted):
    """Is interrupted at its second answer."""

    def __init__(self) -> None:
        super().__init__("get 3 honeycomb", KeyboardInterrupt)


class Failing(Scripted):
    """Fails at its second answer."""

    def __init__(self) -> None:
        super().__init__("get 3 honeycomb", ModelError)


class Muttering(Scripted):
    """Writes what no terminal should be sent."""

    def __init__(self) -> None:
        super().__init__(CONTROL, "fly\x1b[2J", "task failed!")


def trace_lines(node: Node, episode: Episode, level: int = 0) -> Iterator[str]:
    """Yield the lines of a whole trace, but for those of resets."""
    for part in node.parts:
        lines: list[str] = []
        if isinstance(part, Node):
            lines = [part.role if part.task == node.task else f"{part.role}: {part.task}"]
        elif isinstance(part, str):
            lines = part.split("\n")
        elif episode.transcript[part][0] is not None:
            action, observation = episode.transcript[part]
            lines = [f"> {action}", *observation.split("\n")]
        yield from (f"{'  ' * level}{line}".rstrip() for line in lines)
        if isinstance(part, Node):
            yield from trace_lines(part, episode, level + 1)
            if part.outcome is not None and not (part.outcome and part.role == "planner"):
                yield f"{'  ' * level}  -> {'success' if part.outcome else 'failure'}"


@pytest.mark.parametrize(
    ("env", "agent", "args"),
    [
        ("TextCraft-v0", "adapt", {}),
        ("TextCraft-v0", "reflexion", {"d_max": 2}),
        ("TextCraft-v0", "expert", {}),
        ("ALFWorld-v0", "react", {}),
        ("WebShopLite-v0", "adapt", {}),
        ("MineTechTree-v0", "deps", {}),
    ],
)
def test_watch__prints_the_whole_trace(
    env: str, agent: str, args: dict, capsys: pytest.CaptureFixture[str]
):
    episode = watch(RunSpec(env, agent=agent, agent_args=args, model=f"{CRAFTER},reach=2", seed=3))
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    opening = episode.transcript[0][1].split("\n")
    assert printed[0] == (
        f"{agent}, seed 3" if agent == "expert" else f"{agent} with {CRAFTER},reach=2, seed 3"
    )
    assert printed[1 : 1 + len(opening)] == [line.rstrip() for line in opening]
    again = "The game restarts."
    assert printed.count(again) == episode.trials - 1
    shown = [line for line in printed[2 + len(opening) : -2] if line != again]
    assert shown == list(trace_lines(episode.trace, episode))
    assert printed[-2].startswith(
        f"{'Won' if episode.won else 'Lost'} after {episode.steps} actions"
    )
    assert f"Task {episode.task}, seed 3, stop reason {episode.stop_reason}." in printed[-1]


class Looking(Scripted):
    """Keeps what was printed before each of its answers."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *answers: str) -> None:
        super().__init__(*answers)
        self.capsys = capsys
        self.seen: list[str] = []

    def complete(self, prompt, **how) -> Completion:
        self.seen.append(self.capsys.readouterr().out)
        return super().complete(prompt, **how)


def test_watch__prints_each_turn_before_the_next_call(capsys: pytest.CaptureFixture[str]):
    model = Looking(capsys, "think: bees", "get 3 honeycomb", "Task completed!")
    episode = watch(RunSpec("TextCraft-v0", model=model), "minecraft:beehive")
    assert "\nGoal: craft beehive.\n" in model.seen[0]
    assert model.seen[1:] == ["  think: bees\n", "  > get 3 honeycomb\n  Got 3 honeycomb\n"]
    printed = capsys.readouterr().out
    assert printed.startswith(
        "  Task completed!\n  -> success\nLost after 1 action, 3 calls (executor 3), "
    )
    assert ", 3,600 tokens read and 21 written, a cost of 0.7500, " in printed
    assert printed.endswith(
        "The agent claims success. Task minecraft:beehive, seed 0, stop reason agent.\n"
    )
    assert not episode.won


def test_watch__indents_a_plan_and_its_steps(capsys: pytest.CaptureFixture[str]):
    plan = (
        "Step 1: get 3 honeycomb\nStep 2: craft 8 oak planks\nExecution Order: (Step 1 AND Step 2)"
    )
    model = Looking(capsys, "task failed!", plan, "Task completed!", "task failed!", "I have none.")
    watch(
        RunSpec("TextCraft-v0", agent="adapt", agent_args={"d_max": 2}, model=model),
        "minecraft:beehive",
    )
    assert model.seen[0].endswith("\n\ntask: craft beehive\n  executor\n")
    assert model.seen[1:] == [
        "    task failed!\n    -> failure\n  planner\n",
        "    Step 1: get 3 honeycomb\n    Step 2: craft 8 oak planks\n    Execution Order: (Step 1 AND Step 2)\n"
        "  task: get 3 honeycomb\n    executor\n",
        "      Task completed!\n      -> success\n    > inventory\n    Inventory: You are not carrying anything.\n"
        "    -> success\n  task: craft 8 oak planks\n    executor\n",
    ]


def test_play__watches_a_model():
    arguments = ["play", "TextCraft-v0", "--watch", f"{CRAFTER},reach=3", "--env-arg", "split=dev"]
    more = ["--agent", "adapt", "--agent-arg", "d_max=1", "--seed", "7"]
    output = CliRunner().invoke(app, [*arguments, *more], catch_exceptions=False).output
    assert output.startswith(
        "adapt with tests.doubles:Crafter,reach=3, seed 7\nCrafting commands:\n"
    )
    assert "\n  planner\n" not in output
    assert "\nThe game ended the episode. Task " in output
    drawn = {CliRunner().invoke(app, arguments).output.partition("\n")[0] for _ in range(2)}
    assert len(drawn) == 2  # without a seed one is drawn, and told


def test_play__stops_watching_at_an_interrupt():
    arguments = [
        "play",
        "TextCraft-v0",
        "--watch",
        f"{__name__}:Interrupted",
        "--task",
        "minecraft:beehive",
    ]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 130
    assert result.output.endswith("  Got 3 honeycomb\nStopped.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--watch", f"{__name__}:Failing"], "no more of this"),
        (["--watch", f"{CRAFTER},reech=3"], "Did you mean reach"),
        (["--watch", CRAFTER, "--agent", "raect"], "Did you mean react"),
        (["--watch", CRAFTER, "--task", "minecraft:behive"], "Did you mean minecraft:beehive"),
        (["--watch", CRAFTER, "--agent", "explorer"], "it plays alfworld only"),
        (["--agent", "adapt"], "expected --watch MODEL"),
        (["--agent-arg", "d_max=2"], "expected --watch MODEL"),
    ],
)
def test_play__says_in_one_line_why_there_is_nothing_to_watch(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(sys, "argv", ["textcraft-gym", "play", "TextCraft-v0", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    output = capsys.readouterr().err
    assert stopped.value.code == 2
    assert message in output
    assert output.count("\n") == 1


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_watch__prints_nothing_that_a_terminal_obeys_or_an_encoding_lacks(encoding: str):
    arguments = [
        "play",
        "TextCraft-v0",
        "--task",
        "minecraft:beehive",
        "--watch",
        f"{__name__}:Muttering",
    ]
    played = subprocess.run(
        [sys.executable, "-m", "textcraft_gym", *arguments],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=True,
    )
    shown = played.stdout.decode(encoding)
    snowman = "\N{SNOWMAN}" if encoding == "utf-8" else r"\u2603"
    assert rf"think: \x1b[31mred\x07 {snowman} \ud800 [bold]" in shown
    assert r"> fly\x1b[2J" in shown
    assert "\x1b" not in shown


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_watch__says_in_a_terminal_who_is_asked():
    import pty

    arguments = [
        "play",
        "TextCraft-v0",
        "--watch",
        f"{__name__}:Interrupted",
        "--task",
        "minecraft:beehive",
    ]
    terminal, inner = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "textcraft_gym", *arguments],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**os.environ, "TERM": "xterm"},
    ) as playing:
        os.close(inner)
        shown = b""
        try:
            while more := os.read(terminal, 65536):
                shown += more
        except OSError:  # the other end was closed
            pass
        finally:
            os.close(terminal)
    assert playing.returncode == 130
    assert b"asking the executor" in shown
    assert b"\x1b[1m> get 3 honeycomb" in shown
