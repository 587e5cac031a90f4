"""Turns dialogues into tokens, with the tokenizer of the base model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from dialogue import Branch, Example
from packed import MAX_DIALOGUES, Part
from transformers import AutoTokenizer

from textcraft_gym.agents.models.gguf import read_header


def load_tokenizer(file: Path) -> Any:
    """Return the tokenizer in a GGUF file, with the token that the file says ends a text.

    Some releases of transformers take another one.
    """
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    end = read_header(file).metadata["tokenizer.ggml.eos_token_id"]
    tokenizer.eos_token = tokenizer.convert_ids_to_tokens(end)
    return tokenizer


def encode(tokenizer: Any, example: Example) -> Part:
    """Return an example in tokens: its situation, then its dialogues one after another."""
    situation = tokenizer(example.situation, add_special_tokens=False).input_ids
    ids, dialogues, learnt = [*situation], [0] * len(situation), [False] * len(situation)
    for number, branch in enumerate(example.branches, 1):
        whole = tokenizer(branch.text, add_special_tokens=False, return_offsets_mapping=True)
        ids += whole.input_ids
        # The first token of a dialogue is never learnt: no token of its own stands before it.
        learnt += [False, *_learnt(branch, [start for start, _ in whole.offset_mapping])[1:]]
        if branch.end:
            ids.append(tokenizer.eos_token_id)
            learnt.append(True)
        dialogues += [number] * (len(ids) - len(dialogues))
    if len(example.branches) > MAX_DIALOGUES:
        raise ValueError(
            f"expected at most {MAX_DIALOGUES} dialogues of an example, got {len(example.branches)}"
        )
    return Part(np.array(ids, np.uint16), np.array(dialogues, np.uint8), np.array(learnt, bool))


def _learnt(branch: Branch, starts: list[int]) -> list[bool]:
    """Return whether the span in which each token starts is learnt."""
    ends = [*accumulate(len(span.text) for span in branch.spans)]
    return [branch.spans[int(at)].learnt for at in np.searchsorted(ends, starts, side="right")]


def parts(tokenizer: Any, example: Example, longest: int, most: int) -> Iterator[Part]:
    """Yield an example in tokens, in parts: each the situation and the next dialogues that fit.

    A dialogue that does not fit alone is a part of its own; only one of more than ``most`` tokens
    is left out. To leave out the last of each example instead would leave out most of what follows
    a long situation.
    """
    whole = encode(tokenizer, example)
    ends = np.bincount(whole.dialogues, minlength=len(example.branches) + 1).cumsum().tolist()
    situation = ends[0]
    chosen: list[int] = []
    length = situation
    for dialogue, (start, end) in enumerate(pairwise(ends), 1):
        added = end - start
        if chosen and length + added > longest:
            yield _part(whole, chosen)
            chosen, length = [], situation
        if length + added <= most:
            chosen, length = [*chosen, dialogue], length + added
    if chosen:
        yield _part(whole, chosen)


def _part(whole: Part, chosen: list[int]) -> Part:
    """Return the situation and some dialogues of an example, numbered anew."""
    numbers = np.zeros(MAX_DIALOGUES + 1, np.uint8)
    numbers[chosen] = range(1, len(chosen) + 1)
    kept = (whole.dialogues == 0) | (numbers[whole.dialogues] > 0)
    return Part(whole.ids[kept], numbers[whole.dialogues[kept]], whole.learnt[kept])
