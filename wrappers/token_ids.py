"""Text as integer ids of its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args
from zlib import crc32

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict

from textcraft_gym.errors import UnknownName, at_least, between
from textcraft_gym.wrappers.text_wrapper import TextWrapper

Keep: TypeAlias = Literal["first", "last"]

PADDING = 0
UNKNOWN = 1
FIRST_WORD = 2
MAX_LENGTH = 1 << 16
_WORD = re.compile(r"[0-9]|[^\W\d_]+|[^\s\w]|_|\d")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; each digit and each sign is a word."""
    return _WORD.findall(text.lower())


def vocabulary_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return every word of some texts once, sorted: a vocabulary for ``TokenIds``."""
    return tuple(sorted({word for text in texts for word in words(text)}))


class TokenIds(TextWrapper):
    """Show text as ids of its words, for networks that are trained from scratch.

    **Observation**: ``tokens``, ``length`` integers, and ``mask``, a 0/1 array of the same length:
    where it is 0, the text is over and the token is 0. A text with more words is cut: its last
    words are kept, or its first. ``info["text"]`` is the text itself. A word is a run of letters, a
    digit, or a sign, in lower case (``words``).

    **Ids**: 0 is padding. With a vocabulary, 1 is any word outside of it, and word ``i`` of it has
    the id ``i + 2``. With ``buckets``, a word has one of the ids 1 to ``buckets``, by its CRC-32:
    the same on every machine, and now and then the same for two words.

    Args:
        env: An environment with text observations.
        length: Number of tokens of an observation, 1 to 65,536.
        vocabulary: The words that have ids, in this order. By default those of the game,
            ``env.unwrapped.vocabulary``, which every game of the suite has; ``vocabulary_of`` makes
            one from any texts.
        buckets: Number of ids for hashing in place of a vocabulary, 1 or more. For WebShop, whose
            products have ten thousand words and more.
        keep: ``last`` or ``first`` words of a text that is too long.

    Raises:
        ValueError: For a number out of bounds; for both a vocabulary and buckets; for a vocabulary
            that is empty, repeats a word, or has an entry that is not a single word; for a game
            without a vocabulary if neither is given; for an environment whose observations are not
            text.
        UnknownName: For another ``keep``.
    """

    def __init__(
        self,
        env: gym.Env[str, Any],
        length: int,
        *,
        vocabulary: Sequence[str] | None = None,
        buckets: int | None = None,
        keep: Keep = "last",
    ) -> None:
        between("length", length, 1, MAX_LENGTH)
        if buckets is not None:
            at_least("buckets", buckets, 1)
        if keep not in get_args(Keep):
            raise UnknownName.of("keep", keep, get_args(Keep))
        if vocabulary is not None and buckets is not None:
            raise ValueError("expected a vocabulary or buckets, got both")
        listed = None if vocabulary is None else list(vocabulary)
        super().__init__(
            env,
            length=length,
            vocabulary=listed,
            buckets=buckets,
            keep=keep,
        )
        self._expect_text(actions=False)
        self.length = length
        self.buckets = buckets
        self.keep = keep
        self.vocabulary: tuple[str, ...] = ()
        if listed is not None:
            self.vocabulary = _checked(listed)
        elif buckets is None:
            self.vocabulary = _of_game(env)
        self._ids = {word: index for index, word in enumerate(self.vocabulary, FIRST_WORD)}
        # Buckets have the ids 1 to ``buckets``: there are no unknown words.
        if buckets is None:
            self.size = FIRST_WORD + len(self.vocabulary)
        else:
            self.size = 1 + buckets
        self.observation_space = Dict(
            {
                "tokens": Box(0, self.size - 1, (length,), np.int64),
                "mask": Box(0, 1, (length,), np.int8),
            }
        )

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a task."""
        text, info = self.env.reset(seed=seed, options=options)
        return self.encode(text), info | {"text": text}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play one action."""
        text, reward, terminated, truncated, info = self.env.step(action)
        return self.encode(text), reward, terminated, truncated, info | {"text": text}

    def encode(self, text: str) -> dict[str, np.ndarray[Any, Any]]:
        """Return the observation for a text."""
        kept = words(text)
        kept = kept[-self.length :] if self.keep == "last" else kept[: self.length]
        tokens, mask = np.zeros(self.length, np.int64), np.zeros(self.length, np.int8)
        tokens[: len(kept)] = [self._id(word) for word in kept]
        mask[: len(kept)] = 1
        return {"tokens": tokens, "mask": mask}

    def decode(self, tokens: Iterable[int]) -> list[str]:
        """Return the words of these ids; ``?`` for those of buckets and of unknown words."""
        names = {index: word for word, index in self._ids.items()}
        return [names.get(int(token), "?") for token in tokens if int(token) != PADDING]

    def _id(self, word: str) -> int:
        if self.buckets is None:
            return self._ids.get(word, UNKNOWN)
        # Python's own hash of a string differs from process to process.
        return 1 + crc32(word.encode("utf-8", "surrogatepass")) % self.buckets


def _checked(vocabulary: Sequence[str]) -> tuple[str, ...]:
    if not vocabulary or len(set(vocabulary)) < len(vocabulary):
        raise ValueError("expected a vocabulary of one or more different words")
    for word in vocabulary:
        if words(word) != [word]:
            raise ValueError(
                f"expected single words in the vocabulary, got {word!r}, "
                f"which reads as {words(word)}"
            )
    return tuple(vocabulary)


def _of_game(env: gym.Env[str, Any]) -> tuple[str, ...]:
    if not env.has_wrapper_attr("vocabulary"):
        raise ValueError(f"{env} has no vocabulary: give a vocabulary or buckets")
    return _words_of(env.get_wrapper_attr("vocabulary"))


@lru_cache(maxsize=8)
def _words_of(vocabulary: str) -> tuple[str, ...]:
    return vocabulary_of([vocabulary])
