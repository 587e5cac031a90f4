"""The trajectories of a run folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym import RunSpec, evaluate
from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.cli.demonstrations import expert_trajectories
from textcraft_gym.cli.exports import last_way, run_trajectories
from textcraft_gym.errors import RunError
from textcraft_gym.manual import manual
from textcraft_gym.registration import find
from textcraft_gym.reports.records import read_records

FIELDS = ("env", "task", "seed", "turns", "won", "reward", "system")


def test_export__of_the_experts_run_is_its_demonstrations(tmp_path: Path):
    evaluate(
        RunSpec("ALFWorld-v0", "train", "expert", env_args={"dialect": "0.3"}, limit=4), tmp_path
    )
    shown = list(expert_trajectories("ALFWorld-v0", "train", dialect="0.3", limit=4))
    played = list(run_trajectories(tmp_path, won_only=True))
    assert len(played) == 4
    for trajectory, other in zip(played, shown, strict=True):
        assert [getattr(trajectory, name) for name in FIELDS] == [
            getattr(other, name) for name in FIELDS
        ]
    about = {
        "split": "train",
        "agent": "expert",
        "model": None,
        "repeat": 0,
        "stop_reason": "terminated",
    }
    assert played[0].about == about


@pytest.mark.parametrize(
    ("agent", "agent_args"),
    [
        ("lats", {}),
        ("lats", {"rollback": "replay"}),
        ("best_of_n", {}),
        ("try_again", {}),
        ("adapt", {}),
    ],
)
def test_export__of_a_won_episode_replays_to_a_win(
    agent: str, agent_args: dict[str, Any], tmp_path: Path
):
    """Whatever an agent tried before, in other trials or branches."""
    model = "tests.doubles:Crafter,reach=2,slip=0.3"
    spec = RunSpec("TextCraft-v0", "dev", agent, agent_args, model=model, limit=6, max_steps=400)
    evaluate(spec, tmp_path)
    won = [played for played in run_trajectories(tmp_path, won_only=True) if played]
    assert won
    env = find("TextCraft-v0").make(split="dev")
    for played in won:
        observation, _ = env.reset(seed=played.seed, options={"task": played.task})
        for read, action in played.turns:
            assert read == observation
            observation, *_, info = env.step(action)
        assert info["won"]


class Wanderer:
    """Begins again, goes back, and begins again without playing on."""

    def episode(self, play: Play) -> Routine:
        yield from play.act("get 1 nothing")
        yield from play.reset()
        yield from play.act("inventory")
        kept = yield from play.snapshot()
        yield from play.act("get 2 nothing")
        yield from play.restore(kept)
        yield from play.act("get 3 nothing")
        yield from play.reset()
        return None


def test_export__tells_the_last_trial_without_what_was_taken_back(tmp_path: Path):
    evaluate(RunSpec("TextCraft-v0", "dev", Wanderer(), model=None, limit=3), tmp_path)
    for played in run_trajectories(tmp_path):
        assert [action for _, action in played.turns] == ["inventory", "get 3 nothing"]
        first, carried = (observation for observation, _ in played.turns)
        assert first.startswith("Crafting commands:")
        assert carried == "Inventory: You are not carrying anything."
        assert (played.won, played.system) == (False, manual("TextCraft-v0"))
    assert list(run_trajectories(tmp_path, won_only=True)) == [None] * 3


def test_last_way__ends_with_the_last_action():
    transcript = [
        (None, "a"),
        ("1", "b"),
        ("2", "c"),
        (None, "b"),
        ("3", "d"),
        (None, "b"),
        (None, "a"),
    ]
    assert last_way(transcript, {3: 1, 5: 1}) == [("a", "1"), ("b", "3")]
    assert last_way([(None, "a")], {}) == []
    assert last_way([], {}) == []


@given(st.lists(st.integers(0, 9), max_size=30))
def test_last_way__is_what_a_player_that_goes_back_has_played(choices: list[int]):
    """Against a player that keeps its way as a list: it acts, resets, or returns to an earlier
    entry."""
    transcript: list[tuple[str | None, str]] = [(None, "start")]
    restores: dict[int, int] = {}
    ways: list[list[tuple[str, str]]] = [[]]  # at each entry
    last: list[tuple[str, str]] = []
    for number, choice in enumerate(choices):
        if choice == 0:
            transcript.append((None, "start"))
            ways.append([])
        elif choice == 1:
            moment = number % len(transcript)
            restores[len(transcript)] = moment
            transcript.append((None, transcript[moment][1]))
            ways.append(ways[moment])
        else:
            last = [*ways[-1], (transcript[-1][1], str(number))]
            transcript.append((str(number), f"after {number}"))
            ways.append(last)
    assert last_way(transcript, restores) == last


class Silent:
    """Does nothing."""

    def episode(self, play: Play) -> Routine:
        yield from ()
        return None


def test_export__leaves_out_episodes_without_an_action(tmp_path: Path):
    evaluate(RunSpec("TextCraft-v0", "dev", Silent(), model=None, limit=2), tmp_path)
    assert list(run_trajectories(tmp_path)) == [None, None]


def test_export__of_an_unknown_win_is_not_won(tmp_path: Path):
    evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=1), tmp_path)
    change(tmp_path, won=None)
    (played,) = run_trajectories(tmp_path)
    assert played.won is None
    assert list(run_trajectories(tmp_path, won_only=True)) == [None]


def test_export__of_a_foreign_world_runs_none_of_its_code(tmp_path: Path):
    spec = RunSpec(
        "tests.foreign_worlds:GuessDigit-v0",
        agent=lambda observation, info: "1",
        model=None,
        limit=2,
    )
    evaluate(spec, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["env"] = "no_such_module:GuessDigit-v0"
    (tmp_path / "config.json").write_text(json.dumps(config))
    played = list(run_trajectories(tmp_path))
    assert [trajectory.task for trajectory in played] == [
        record["task"] for record in read_records(tmp_path)
    ]
    assert played[0].system.startswith("You play a game in text.")


@pytest.mark.parametrize(
    "changes",
    [
        {"transcript": "get"},
        {"transcript": [["get 1 log", "Got 1 log"]]},
        {"transcript": [[None, "Goal"], [None, "Goal"]], "restores": [[1, 1]]},
        {"transcript": [[None, "Goal"], [None, "Goal"]], "restores": [[1, -1]]},
        {"won": "yes"},
        {"reward": None},
    ],
)
def test_export__leaves_out_a_malformed_record(changes: dict[str, Any], tmp_path: Path):
    evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=1), tmp_path)
    change(tmp_path, **changes)
    with pytest.warns(UserWarning, match=f"{tmp_path}.*skipped line 1: "):
        assert not list(run_trajectories(tmp_path))


def test_export__of_no_folder_raises(tmp_path: Path):
    with pytest.raises(RunError, match="is not a run folder"):
        list(run_trajectories(tmp_path / "nowhere"))


def change(folder: Path, **fields: Any) -> None:
    """Change fields of a run's only record."""
    file = folder / "episodes.jsonl"
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}) + "\n")
