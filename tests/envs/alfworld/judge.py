"""The real engine beside ours: the same commands to both, and what differs."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from textcraft_gym.envs.alfworld.game import Game, State
from textcraft_gym.envs.alfworld.problem import read_dialect, read_game
from textcraft_gym.envs.alfworld.rules import apply, is_won, moves, opening

MISSING = [name for name in ("textworld", "alfworld") if importlib.util.find_spec(name) is None]
OLD_WHEELS = sorted((Path(sys.prefix) / "wheels").glob("alfworld-0.[23].*.whl"))
"""Wheels of the releases before 0.4, of which only the domain and the grammar are used."""
OFFICIAL = Path(__file__).parents[4] / "shared" / "alfworld-games"
INVALID = (
    *(
        "",
        "fly",
        "look ",
        " inventory",
        "Look",
        "examine",
        "go to bed",
        "go to fridge 99",
        "open",
        "open shelf 1",
    ),
    *("help", "put apple 1 in/on fridge 1", "You", "go to loc 1", "examine loc 1"),
    *(
        "take apple from fridge 1",
        "take apple 1 from fridge 1",
        "move apple 1 to fridge 1",
        "put apple 1 in fridge 1",
    ),
    *(
        "heat egg 1 with fridge 1",
        "cool egg 1 with microwave 1",
        "clean mug 1 with sinkbasin 1",
        "use bed 1",
    ),
    *("slice bread 1 with knife 1", "examine desklamp 1", "close cabinet 1", "help me"),
)


class Record(NamedTuple):
    """What an engine answers to a command."""

    command: str
    feedback: str
    commands: list[str]
    reward: int
    won: bool


class Native:
    """Our engine, going on after a win as the other does."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.state: State = game.first

    def begin(self) -> Record:
        return self.record("", opening(self.game), 0)

    def play(self, command: str) -> Record:
        self.state, answer, *_ = apply(self.game, self.state, command)
        return self.record(command, answer, int(self.state.won))

    def record(self, command: str, answer: str, reward: int) -> Record:
        commands = list(moves(self.game, self.state).commands)
        return Record(command, answer, commands, reward, is_won(self.game, self.state))


class TextWorld:
    """The real engine."""

    def __init__(self, file: Path) -> None:
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler

        infos = textworld.EnvInfos(won=True, admissible_commands=True, feedback=True)
        self.engine = textworld.start(str(file), infos, wrappers=[AlfredDemangler])

    def begin(self) -> Record:
        return self.record("", self.engine.reset(), 0)

    def play(self, command: str) -> Record:
        state, reward, done = self.engine.step(command)
        assert done == state.won
        return self.record(command, state, reward)

    def record(self, command: str, state: Any, reward: int) -> Record:
        return Record(command, state.feedback, list(state.admissible_commands), reward, state.won)

    def facts(self) -> set[tuple[str, ...]]:
        """Return what holds now, in lower case, with the names that the player reads."""
        called = {entity: info.name.strip() for entity, info in self.engine._entity_infos.items()}
        facts = self.engine._pddl_state.facts
        return {
            (fact.name, *(called[argument.name] for argument in fact.arguments)) for fact in facts
        }


def walk(file: Path, steps: int, seed: int = 0) -> Iterator[tuple[Record, Record]]:
    """Yield what both engines answer: in the middle, along the file's walkthrough, beyond the win, then at random.

    Of the random commands most act on the place, so that things are opened, taken, put back, sliced
    and heated; some cannot be played.
    """
    real, native = TextWorld(file), Native(Game(read_game(file), read_dialect(file)))
    number = random.Random(f"{file.parent.name}/{seed}").random
    yield real.begin(), native.begin()
    script = ["look", "inventory", *json.loads(file.read_text(encoding="utf-8"))["walkthrough"]]
    for turn in range(steps):
        admissible = moves(native.game, native.state).commands
        local = [candidate for candidate in admissible if not candidate.startswith("go to")]
        choice = INVALID if number() < 0.1 else local if number() < 0.75 else admissible
        command = script[turn] if turn < len(script) else choice[int(number() * len(choice))]
        yield real.play(command), native.play(command)


def difference(real: Record, native: Record) -> str:
    """Return what differs, one line for each part of a record."""
    parts = zip(Record._fields, real, native, strict=True)
    return "\n".join(
        f"  {part}: real {real_part!r}, native {other!r}"
        for part, real_part, other in parts
        if real_part != other
    )
