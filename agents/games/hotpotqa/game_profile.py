"""How agents read HotpotQA."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Any

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.agents.games.hotpotqa.controller import AnswerGiver
from textcraft_gym.agents.games.hotpotqa.draws import draw
from textcraft_gym.agents.games.hotpotqa.faults import fault

NO_OP = (
    "Could not find",
    "Invalid",
    "Nice thought.",
    "No action in the format",
    "No more results",
    "OK.",
    "The last page",
)
"""Beginnings of the answers to actions that showed nothing."""
READ = 8
"""Number of passages that are reported: the last ones."""


def report_reading(play: Play) -> Generator[Request, Any, str]:
    """Report what was read last, on which the rest of a plan builds."""
    yield from ()  # a report is a generator, though this one plays nothing
    passages: list[str] = []
    for action, step in play.history:
        if not step.observation.startswith(NO_OP):
            passages.append(f"{action}: {' '.join(step.observation.split())}")
    if not passages:
        return ""
    return "\n".join(["What was read:", *dict.fromkeys(passages[-READ:])])


def tell_answer(info: Mapping[str, Any]) -> str:
    """Tell the right answer and the pages that it follows from, if the last info has them."""
    if not info.get("gt_answer"):
        return ""
    answer = f"The right answer is {info['gt_answer']}"
    if info.get("gold"):
        answer += f", which follows from these pages: {', '.join(info['gold'])}"
    return f"{answer}."


PROFILE = GameProfile(
    name="hotpotqa",
    opening=re.compile(r"(?P<situation>Question: .*)", re.DOTALL),
    no_op=NO_OP,
    final=re.compile(r"finish\[.*\S.*\]", re.IGNORECASE | re.DOTALL),
    report=report_reading,
    default_task="answer the question",
    max_steps=100,
    controller=AnswerGiver,
    giving_up="finish[]",
    solution=tell_answer,
    fault=fault,
    draw=draw,
)
