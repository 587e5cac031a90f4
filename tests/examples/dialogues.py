"""Readers of training dialogues, and agents that replay them."""

from __future__ import annotations

from dialogue import Branch, Example

from tests.agents.scripted import ScriptedModel


def branches(examples: list[Example], *kinds: str) -> list[tuple[Example, Branch]]:
    """Return the dialogues of some kinds, of which there must be many."""
    pairs = [
        (example, branch)
        for example in examples
        for branch in example.branches
        if branch.kind in kinds
    ]
    assert len(pairs) > 10
    return pairs


def turns(branch: Branch) -> list[tuple[str, str, bool]]:
    """Return each line of the player, its answer, and whether the line is learnt."""
    lines, answers = (
        branch.spans[1::2],
        [span.text.removesuffix("\n>") for span in branch.spans[2::2]],
    )
    answers += [""] * (len(lines) - len(answers))
    return [
        (line.text.strip(), answer, line.learnt)
        for line, answer in zip(lines, answers, strict=True)
    ]


def said(branch: Branch) -> list[str]:
    """Return the lines of the player, or the completion."""
    return [branch.spans[1].text.strip()] if branch.end else [line for line, _, _ in turns(branch)]


def scripted(*said_by: Branch | str) -> ScriptedModel:
    """Return a model that says what the player says in one dialogue after another."""
    return ScriptedModel(
        *(line for part in said_by for line in ([part] if isinstance(part, str) else said(part)))
    )


def prompts(situation: str, *dialogues: Branch) -> list[str]:
    """Return what a model reads in the order of its turns."""
    seen = []
    for branch in dialogues:
        text = situation
        for player, answer in zip(branch.spans[1::2], [*branch.spans[2::2], None], strict=False):
            text += branch.spans[0].text if text == situation else ""
            seen.append(text)
            text += player.text + (answer.text if answer else "")
    return seen


def learns_only_the_players_lines(branch: Branch) -> bool:
    """Return whether a dialogue is a prompt and then lines of the player and answers in turn, which
    are not learnt."""
    prompt, *spans = branch.spans
    answers_unlearnt = not any(span.learnt for span in spans[1::2])
    if branch.end:
        return not prompt.learnt and len(spans) == 1 and spans[0].learnt
    lines_whole = all(span.text.startswith(" ") and span.text.endswith("\n") for span in spans[::2])
    return not prompt.learnt and prompt.text.endswith("\n>") and lines_whole and answers_unlearnt
