"""The texts that the player reads: the pages of four programs, and the short answers of two."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from textcraft_gym.envs.webshop.pages import (
    BUTTON,
    CHOSEN,
    HEADER,
    OPTION,
    PRODUCT,
    SCORE,
    VISITED,
    Node,
    page,
)
from textcraft_gym.envs.webshop.state import Mode, Shop, Transition

INVALID: Mapping[Mode, str] = {
    "react": "Invalid action!",
    "adapt": "Invalid action! Try a different action.",
}
"""Answers to an invalid action; where there is none, the page is shown again."""


def text(nodes: Iterable[Node]) -> str:
    """Format a page as one line."""
    return " [SEP] ".join([words.strip() for _, words in nodes])


def text_rich(nodes: Iterable[Node]) -> str:
    """Format a page with one line a node, marking buttons and those that were clicked."""
    lines: list[str] = []
    clicked = ""
    for kind, words in nodes:
        if kind == BUTTON:
            lines.append(f"[button] {words} [button_]\n")
        elif kind == PRODUCT:
            lines.append(f"\n[button] {words} [button_]\n")
        elif kind == OPTION or (kind == CHOSEN and json.dumps(words) != f'"{words}"'):
            # The original looks for a chosen value in an address with JSON in it, and misses one
            # that JSON escapes.
            lines.append(f"  [button] {words} [button_]\n")
        elif kind == VISITED:
            lines.append(f"\n[clicked button] {words} [clicked button_]\n")
        elif kind == CHOSEN:
            lines.append(f"  [clicked button] {words} [clicked button_]\n")
            clicked = f"{chosen(words)}\n{clicked}"  # at the top of the page, the last option first
        else:
            lines.append(f"{words}\n")
    return clicked + "".join(lines)


def react(nodes: Iterable[Node]) -> str:
    """Format a page as in ReAct's and ADaPT's prompts: no blanks, no instruction but the first."""
    parts: list[str] = []
    for kind, words in nodes:
        if kind in (BUTTON, PRODUCT, VISITED):
            parts.append(f"\n[{words}] ")
        elif kind == OPTION:
            parts.append(f"[{words}]")
        elif kind == CHOSEN:
            parts.append(f"[[{words}]]")
        elif kind != HEADER and words != " ":
            parts.append(f"\n{words} ")
    return "".join(parts)


MODES: Mapping[Mode, Callable[[Iterable[Node]], str]] = {
    "react": react,
    "adapt": react,
    "text": text,
    "text_rich": text_rich,
}


def observation(
    shop: Shop,
    instruction: str,
    turn: Transition,
    earned: float,
) -> str:
    """Return the observation after an action: the page, or a short answer instead."""
    answer = short_answer(shop.mode, turn, earned)
    if answer is not None:
        return answer
    return MODES[shop.mode](page(shop, instruction, turn.state, earned))


def recall(
    past: Sequence[str],
    num_prev_obs: int,
    num_prev_actions: int,
) -> str:
    """Join an observation with some before it and the actions in between, as the original does.

    Args:
        past: Observations and actions in turn, the present observation last.
        num_prev_obs: Number of earlier observations to include.
        num_prev_actions: Number of actions to include.
    """
    kept = []
    for back, words in zip(range(len(past) - 1, -1, -1), past, strict=True):
        turns, is_action = divmod(back, 2)
        is_kept = turns < num_prev_actions if is_action else turns <= num_prev_obs
        if is_kept:
            kept.append(words)
    return " [SEP] ".join(kept)


def chosen(value: str) -> str:
    """Return the confirmation that an option value was clicked."""
    return f"You have clicked {value}."


def score(earned: float) -> str:
    """Return the line with the reward of a purchase."""
    return f"{SCORE}: {earned}"


def short_answer(mode: Mode, turn: Transition, earned: float) -> str | None:
    """Return the line that ReAct's or ADaPT's program answers; None if it shows the page."""
    if mode not in INVALID:
        return None
    if turn.reason:
        return INVALID[mode]
    if turn.chosen:
        return chosen(turn.chosen)
    return score(earned) if turn.state.page == "done" else None
