"""Servers from which no answer comes, asked by each of the ways to ask: each ends in time, small,
and by its name."""

from __future__ import annotations

import time

import pytest

from tests.doubles.server import serving
from tests.doubles.zoo import FAULTS, ZOO
from textcraft_gym import make_model
from textcraft_gym.agents.contract.model import ModelError

KEY = "sk-proj-0123456789abcdefghij"
WAYS = ("endpoint=chat", "endpoint=completion", "stream=true")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FAULTS)
def test_fault__ends_in_time_and_by_its_name(name: str, way: str):
    behaviour = ZOO[name]
    with serving(behaviour.answer) as server:
        model = make_model(f"openai:m,base_url={server.url},api_key={KEY},{behaviour.bounds},{way}")
        before = time.monotonic()
        with pytest.raises(ModelError, match=r"^m: ") as raised:
            model.complete("p", stop=(), max_tokens=5, temperature=0.0, sample=0)
        assert time.monotonic() - before < 60  # of a fault that lasts for ever
    assert behaviour.because in str(raised.value)
    assert len(str(raised.value)) < 2000
    assert KEY[8:] not in str(raised.value)
    assert server.sent < 64 << 20
