"""Agents keep moments and go back to them: the loop answers, counts and records it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym import RunSpec, evaluate, run_episode
from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Routine
from textcraft_gym.episodes.episode import AgentError
from textcraft_gym.errors import Unsupported
from textcraft_gym.registration import find
from textcraft_gym.reports.records import read_config, read_records
from textcraft_gym.spaces import AnyText
from textcraft_gym.testing import MutteringEnv
from textcraft_gym.verify.recheck import verify
from textcraft_gym.verify.replay import REPLAYED, RecordedActions
from textcraft_gym.wrappers import TextHistory


class DigitsEnv(gym.Env[str, str]):
    """Say digits; each pays itself, ``9`` ends the episode, and three of them win if they are in
    order."""

    def __init__(self) -> None:
        self.observation_space = self.action_space = AnyText()
        self.said = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.said = ""
        return "nothing said", {"won": False}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        assert "9" not in self.said, "a step after the end"
        self.said += action
        return (
            f"said {self.said}",
            float(action),
            action == "9",
            False,
            {"won": self.said.startswith("123")},
        )

    def snapshot(self) -> str:
        return self.said

    def restore(self, snapshot: str) -> None:
        self.said = snapshot


class Scripted:
    """An agent made of one generator function."""

    def __init__(self, episode) -> None:
        self.episode = episode


def played(episode, env: gym.Env[str, str] | None = None, **bounds: Any):
    return run_episode(env or DigitsEnv(), Scripted(episode), seed=0, **bounds)


def test_restore__leads_to_the_moment_and_starts_a_branch():
    def episode(play: Play) -> Routine:
        yield from play.act("1")
        kept = yield from play.snapshot()
        yield from play.act("5")
        step = yield from play.restore(kept)
        assert (step.observation, step.reward, step.info) == ("said 1", 1.0, {"won": False})
        assert [action for action, _ in play.history] == ["1"]
        assert play.last == step
        yield from play.act("2")
        return None

    record = played(episode)
    assert record.transcript == [
        (None, "nothing said"),
        ("1", "said 1"),
        ("5", "said 15"),
        (None, "said 1"),
        ("2", "said 12"),
    ]
    assert record.restores == [(3, 1)]
    assert (record.steps, record.trials, record.reward, record.trace.parts) == (
        3,
        1,
        6.0,
        [0, 1, 2, 3, 4],
    )


def test_restore__after_the_end_goes_on_and_the_best_leaf_counts():
    def episode(play: Play) -> Routine:
        start = yield from play.snapshot()
        for actions in ("129", "1", "23"):
            yield from play.restore(start)
            with suppress(EpisodeOver):
                for action in actions:
                    yield from play.act(action)
        return False

    record = played(episode)
    assert (record.reward, record.stop_reason, record.won, record.claimed_success) == (
        12.0,
        "agent",
        False,
        False,
    )
    assert [origin for _, origin in record.restores] == [0, 0, 0]


def test_reward__of_an_inner_moment_is_no_leaf():
    class Falling(DigitsEnv):
        """The second digit costs ten."""

        def step(self, action):
            observation, reward, *rest = super().step(action)
            return (observation, reward - 10 * (len(self.said) == 2), *rest)

    def episode(play: Play) -> Routine:
        yield from play.act("3")
        kept = yield from play.snapshot()
        yield from play.act("4")
        yield from play.restore(kept)
        yield from play.act("1")
        return None

    assert played(episode, Falling()).reward == -3.0


def test_won__is_latched_over_branches():
    def episode(play: Play) -> Routine:
        start = yield from play.snapshot()
        for action in "123":
            yield from play.act(action)
        yield from play.restore(start)
        yield from play.act("5")
        return None

    record = played(episode)
    assert record.won


@pytest.mark.parametrize("bounds", [{"max_steps": 3}, {"max_calls": 0}])
def test_restore__refills_no_budget(bounds):
    def episode(play: Play) -> Routine:
        kept = yield from play.snapshot()
        for _ in range(100):
            yield from play.restore(kept)
            yield from play.act("1")
            if "max_calls" in bounds:
                yield from play.ask("?")
        return None

    record = played(episode, **bounds)
    assert (
        (record.steps, record.stop_reason) == (3, "max_steps")
        if "max_steps" in bounds
        else (1, "max_calls")
    )


def test_restore__without_end_is_an_error_of_the_agent():
    def episode(play: Play) -> Routine:
        kept = yield from play.snapshot()
        while True:
            yield from play.restore(kept)

    with pytest.raises(AgentError, match="went back"):
        played(episode, max_steps=5, max_calls=5)


def test_restore__of_another_value_or_episode_is_an_error_of_the_agent():
    kept: list[object] = []

    def episode(play: Play) -> Routine:
        if kept:
            yield from play.restore(kept[0])
        kept.append((yield from play.snapshot()))
        return None

    played(episode)
    for moment in (kept[0], 3, None):
        kept[0] = moment
        with pytest.raises(AgentError, match="expected a moment"):
            played(episode)


def test_snapshot__after_the_end_is_an_error_of_the_agent():
    def episode(play: Play) -> Routine:
        with suppress(EpisodeOver):
            yield from play.act("9")
        yield from play.snapshot()
        return None

    with pytest.raises(AgentError, match="after the end"):
        played(episode)


@pytest.mark.parametrize("engine", ["none", "wrapped", "textworld"])
def test_snapshot__that_the_environment_does_not_offer_is_refused_by_name(engine):
    class Refusing(DigitsEnv):
        def snapshot(self):
            raise Unsupported("Refusing-v0 offers no snapshot: it goes forward only")

    def episode(play: Play) -> Routine:
        yield from play.snapshot()
        return None

    env = {
        "none": MutteringEnv,
        "wrapped": lambda: TextHistory(MutteringEnv(), 2),
        "textworld": Refusing,
    }[engine]()
    with pytest.raises(Unsupported, match=r"(MutteringEnv|Refusing-v0) offers no snapshot"):
        played(episode, env)


def test_snapshot__that_is_refused_leaves_the_agent_its_replay():
    def episode(play: Play) -> Routine:
        with suppress(Unsupported):
            yield from play.snapshot()
        yield from play.act("1")
        yield from play.replay(["a", "b"])
        return None

    record = played(episode, MutteringEnv())
    assert [action for action, _ in record.transcript] == [None, "1", None, "a", "b"]
    assert (record.steps, record.trials, record.restores) == (3, 2, [])


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["1", "2", "3", "9", "reset", "keep", *(f"back {i}" for i in range(4))]),
        max_size=30,
    )
)
def test_record__of_any_walk_through_moments_replays_and_has_the_best_leaf(walk):
    said = [""]

    def episode(play: Play) -> Routine:
        kept: list[tuple[object, str]] = []
        over, text = False, ""
        for move in walk:
            if move == "reset":
                yield from play.reset()
                over, text = False, ""
            elif move == "keep":
                if not over:
                    kept.append(((yield from play.snapshot()), text))
            elif move.startswith("back"):
                if len(kept) > int(move[-1]):
                    moment, text = kept[int(move[-1])]
                    yield from play.restore(moment)
                    over = False
            elif not over:
                text += move
                said.append(text)
                try:
                    yield from play.act(move)
                except EpisodeOver:
                    over = True
        return None

    record = played(episode)
    replayed = run_episode(DigitsEnv(), RecordedActions(record.transcript, record.restores), seed=0)
    assert {name: getattr(replayed, name) for name in REPLAYED} == {
        name: getattr(record, name) for name in REPLAYED
    }
    assert replayed.transcript == record.transcript
    assert record.reward <= max(sum(map(int, text)) for text in said)
    assert record.won == any(text.startswith("123") for text in said)


class Branching:
    """Plays two actions of TextCraft from the beginning, one after the other."""

    def episode(self, play: Play) -> Routine:
        start = yield from play.snapshot()
        for action in ("inventory", "get 1 stick", "get 1 coal"):
            yield from play.restore(start)
            yield from play.act(action)
        return False


def test_run__with_branches_is_verified_and_a_forged_branch_is_found(tmp_path):
    evaluate(RunSpec("TextCraft-v0", "test", Branching(), limit=2), tmp_path / "run")
    config = read_config(tmp_path / "run")
    assert config["agent"] == "Branching"
    file = tmp_path / "run" / "episodes.jsonl"
    text = file.read_text()
    assert not verify(tmp_path / "run").differences
    assert [len(record["restores"]) for record in read_records(tmp_path / "run")] == [3, 3]
    file.write_text(text.replace("[5, 0]", "[5, 2]"))
    assert any(
        "restores" in str(difference) or "step" in str(difference)
        for difference in verify(tmp_path / "run").differences
    )
    file.write_text(
        text.replace('"restores": [[1, 0], [3, 0], [5, 0]]', '"restores": [[1, 0], [3, 0]]', 1)
    )
    assert verify(tmp_path / "run").differences


def test_moments__of_a_wrapped_environment_are_those_of_its_wrappers():
    env = find("TextCraft-v0").make()
    record = run_episode(env, Branching(), seed=3)
    assert record.transcript[1][1] == record.transcript[3][1] == record.transcript[0][1]
