"""Trajectories of players, and the formats in which trainers of models read them.

A format is a pure function of one trajectory; ``FORMATS`` lists them, and no other module knows
what is in them. In each the game speaks as the user and the player as the assistant, in turn, the
assistant last: the answer to the last action is left out, since nothing follows from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.errors import UnknownName
from textcraft_gym.storage.cache import atomic_write

Row: TypeAlias = dict[str, Any]
Message: TypeAlias = dict[str, str]
Format: TypeAlias = Callable[["Trajectory"], list[Row]]

_SHAREGPT = {"user": "human", "assistant": "gpt"}


@dataclass(frozen=True)
class Trajectory:
    """An episode as a learner sees it.

    Attributes:
        env: The environment's id.
        task: The task id; None in an environment without tasks.
        seed: Seed of the reset; None if it is not known.
        turns: What the player read and what it answered, in pairs.
        won: Whether the episode was won; None if that is not known.
        reward: Sum of the rewards.
        system: The system message, such as the game's manual; empty for none.
        about: Further fields of its rows.
    """

    env: str
    task: str | None
    seed: int | None
    turns: Sequence[tuple[str, str]]
    won: bool | None
    reward: float
    system: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def described(self) -> Row:
        """The fields that a row has in every format."""
        name = f"seed {self.seed}" if self.task is None else self.task
        return {
            "item_id": f"{self.env}/{name}",
            "env": self.env,
            "task": self.task,
            "seed": self.seed,
            **self.about,
            "won": self.won,
            "reward": float(self.reward),
        }

    @property
    def messages(self) -> list[Message]:
        """The dialogue as chat messages."""
        messages = [_message("system", self.system)] if self.system else []
        for observation, action in self.turns:
            messages += [_message("user", observation), _message("assistant", action)]
        return messages


def openai(trajectory: Trajectory) -> list[Row]:
    """Return ``messages`` of ``role`` and ``content``, as OpenAI, TRL and most others read them."""
    return [{"messages": trajectory.messages}]


def sharegpt(trajectory: Trajectory) -> list[Row]:
    """Return ``conversations`` of ``from`` and ``value``, with ``system`` apart.

    LLaMA-Factory reads them. The learner's loss is taken on the messages whose ``loss`` is true, as
    AgentGym marks them; others ignore it.
    """
    conversations = []
    for message in trajectory.messages:
        role = message["role"]
        if role in _SHAREGPT:
            conversations.append(
                {"from": _SHAREGPT[role], "value": message["content"], "loss": role == "assistant"}
            )
    return [{"system": trajectory.system, "conversations": conversations}]


def trl(trajectory: Trajectory) -> list[Row]:
    """Return a ``prompt`` and its ``completion`` for each action, both messages.

    TRL takes its loss on completions only. With a row for each action the loss is on nothing but
    actions, with the chat template of any model. TRL can take it on the assistant's messages of a
    whole dialogue, too (``openai``), but only with templates that mark them.
    """
    messages = trajectory.messages
    actions = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    return [{"prompt": messages[:index], "completion": [messages[index]]} for index in actions]


def verl(trajectory: Trajectory) -> list[Row]:
    """Return verl's fields: ``messages`` to imitate, and ``prompt`` with what a reward needs.

    The game rewards, so there is no ``ground_truth``: a reward function finds the task and the seed
    in ``extra_info``.
    """
    messages = trajectory.messages
    return [
        {
            "messages": messages,
            "data_source": trajectory.env,
            "prompt": messages[: 2 if trajectory.system else 1],
            "ability": "game",
            "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": trajectory.described,
        }
    ]


FORMATS: Mapping[str, Format] = {"openai": openai, "sharegpt": sharegpt, "trl": trl, "verl": verl}


def find_format(name: str) -> Format:
    """Return a format by its name.

    Raises:
        UnknownName: If there is none.
    """
    if name not in FORMATS:
        raise UnknownName.of("format", name, list(FORMATS))
    return FORMATS[name]


def rows(trajectory: Trajectory, format: Format) -> list[Row]:
    """Return the rows of a trajectory: its description, and the dialogue in a format."""
    return [{**trajectory.described, **dialogue} for dialogue in format(trajectory)]


class Written(NamedTuple):
    """Number of trajectories written, and of episodes without one."""

    trajectories: int
    left_out: int


def write_trajectories(
    trajectories: Iterable[Trajectory | None],
    file: str | Path,
    format: str = "openai",
) -> Written:
    """Write trajectories as JSON lines; the file is written whole or not at all.

    Args:
        trajectories: The trajectories; None for an episode that is left out, which is counted.
        file: The file.
        format: A name in ``FORMATS``.

    Raises:
        UnknownName: For another format.
        OSError: If the file cannot be written.
    """
    form = find_format(format)
    lines = []
    written = left_out = 0
    for trajectory in trajectories:
        if trajectory is None:
            left_out += 1
            continue
        written += 1
        for row in rows(trajectory, form):
            lines.append(json.dumps(row) + "\n")
    atomic_write(Path(file), "".join(lines))
    return Written(written, left_out)


def _message(role: str, text: str) -> Message:
    # A model may write half of a surrogate pair, at which tokenizers raise.
    return {"role": role, "content": text.encode("utf-8", "replace").decode("utf-8")}
