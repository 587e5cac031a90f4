"""The local model with tiny random weights, and with the real ones where they are installed."""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest

from tests.agents.models.tiny_gguf import tiny_adapter, tiny_model
from textcraft_gym import RunSpec, evaluate
from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Dialogue,
    Message,
    ModelError,
    ModelLimit,
)
from textcraft_gym.agents.models import llama_server, local, weights
from textcraft_gym.agents.models.eight_bits import write_eight_bits
from textcraft_gym.agents.models.local import LocalModel
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.reports.records import read_records

try:
    xllamacpp = llama_server.import_xllamacpp()
except ModelError as error:
    pytest.skip(str(error), allow_module_level=True)

HOW: dict[str, Any] = {"stop": (), "max_tokens": 12, "temperature": 0.0, "sample": 0}
PROMPT = "Goal: craft 2 oak planks.\n> get 1 oak log\nGot 1 oak log\n>"


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run beside each other, and threads that wait for a core would make them slow."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and an adapter for it."""
    folder = tmp_path_factory.mktemp("weights")
    tiny_model(folder / "tiny.gguf", **{"llama.context_length": 100_000})
    tiny_adapter(folder / "adapter.gguf")
    return folder


@pytest.fixture
def model(folder: Path) -> Iterator[LocalModel]:
    model = LocalModel(folder / "tiny.gguf", context=512)
    yield model
    model.close()


def requests(count: int, **changed: Any) -> list[CompletionRequest]:
    rng = random.Random(count)
    prompts = [PROMPT + "".join(rng.choices("abc \n>", k=rng.randrange(60))) for _ in range(count)]
    return [CompletionRequest(prompt, **{**HOW, **changed}) for prompt in prompts]


@pytest.fixture
def run() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start Python with a program; what still runs at the end of the test is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        started.append(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_complete__continues_a_prompt(model: LocalModel):
    completion = model.complete(PROMPT, **HOW)
    assert completion.usage == {
        "prompt_tokens": len(PROMPT),
        "completion_tokens": 12,
        "cached_tokens": 0,
    }
    assert (
        model.complete(Dialogue(PROMPT, [Message("user", "?")]), **HOW).text
        == completion.text
        != ""
    )


def test_complete__ends_before_a_stop(model: LocalModel):
    text = model.complete(PROMPT, **HOW | {"max_tokens": 40}).text
    stop = text[3:5]
    stopped = model.complete(PROMPT, **HOW | {"max_tokens": 40, "stop": ("never", stop)})
    assert stopped.text == text[: text.index(stop)]
    assert stopped.usage["completion_tokens"] < 40


def test_complete__ends_at_the_context_if_the_model_never_stops(model: LocalModel):
    usage = model.complete(PROMPT, **HOW | {"max_tokens": 10**9}).usage
    assert usage["prompt_tokens"] + usage["completion_tokens"] == pytest.approx(512, abs=1)


def test_complete__reads_only_what_is_new_of_a_longer_prompt(model: LocalModel):
    """Prompts grow by an answer and an observation; each slot knows the one that it read last."""
    prompts = [f"{name}: {PROMPT}" for name in ("one", "two", "three", "four")]
    for turn in range(3):
        answers = model.complete_many([CompletionRequest(prompt, **HOW) for prompt in prompts])
        for prompt, answer in zip(prompts, answers, strict=True):
            assert isinstance(answer, Completion)
            read_before = (
                len(prompt.encode()) - 60 if turn else 0
            )  # without the answer, whose bytes may be none of UTF-8
            assert answer.usage["cached_tokens"] >= read_before
        prompts = [
            f"{prompt}{answer.text}\nGot it\n>"
            for prompt, answer in zip(prompts, answers, strict=True)
        ]


def test_complete_many__answers_alike_in_any_order(folder: Path):
    batch = [*requests(9), *requests(3, max_tokens=7), *requests(4, temperature=0.8, sample=3)]
    expected = dict(
        zip(batch, LocalModel(folder / "tiny.gguf", context=512).complete_many(batch), strict=True)
    )
    for seed in range(3):
        again = random.Random(seed).sample(batch, len(batch))
        answers = LocalModel(folder / "tiny.gguf", context=512).complete_many(again)
        assert dict(zip(again, answers, strict=True)) == expected
    assert all(isinstance(answer, Completion) for answer in expected.values())


def test_complete_many__computes_equal_requests_once(model: LocalModel):
    first, second, third = model.complete_many([*requests(1), *requests(1), *requests(1, sample=4)])
    assert first is second is third  # a sample means nothing at temperature 0
    assert model.complete_many([]) == []


def test_complete__draws_by_the_sample(model: LocalModel):
    def draw(sample: int) -> str:
        return model.complete(PROMPT, **HOW | {"temperature": 1.0, "sample": sample}).text

    for sample in (0, 1, 2**32 - 1, 2**70, -1):
        assert draw(sample) == draw(sample)
    assert len({draw(sample) for sample in range(6)}) == 6


def test_complete_many__refuses_the_prompts_that_are_too_long(model: LocalModel):
    long = CompletionRequest("x" * 900, **HOW)
    short = requests(3)
    answers = model.complete_many([short[0], long, short[1], long, short[2]])
    assert [isinstance(answer, ModelError) for answer in answers] == [
        False,
        True,
        False,
        True,
        False,
    ]
    message = "tiny.gguf: the prompt has 900 tokens, and the context of the model ends at 512"
    assert message in str(answers[1])
    with pytest.raises(ModelLimit, match=message) as refused:
        model.complete("x" * 900, **HOW)
    assert refused.value.limit == "context"


@pytest.mark.parametrize(
    "prompt",
    ["", "\0", "a\0b", "\ud800", "x\udfff\ud83dy", "\x1b[2J\x07\r\n\x7f", "é🙂\u2028", "<eos>"],
)
def test_complete__takes_any_text(model: LocalModel, prompt: str):
    completion = model.complete(prompt, **HOW)
    assert completion.text.isascii() or completion.text.encode()  # a lone surrogate has no encoding
    assert (completion.usage["completion_tokens"] > 0) == bool(prompt)
    assert (
        model.complete(PROMPT, **HOW | {"stop": (prompt or "\udc00",)}).usage["completion_tokens"]
        >= 1
    )


def test_complete__refuses_an_answer_of_no_tokens(model: LocalModel):
    with pytest.raises(ModelError, match="expected max_tokens of 1 or more, got 0"):
        model.complete(PROMPT, **HOW | {"max_tokens": 0})


def test_complete__refuses_a_temperature_that_is_no_number(model: LocalModel):
    with pytest.raises(ModelError, match=r"tiny\.gguf"):
        model.complete(PROMPT, **HOW | {"temperature": float("nan")})
    assert model.complete(PROMPT, **HOW).text


def test_adapter__changes_the_answers(
    folder: Path, model: LocalModel, monkeypatch: pytest.MonkeyPatch
):
    adapted = make_model(f"local:{folder}/tiny.gguf,adapter={folder}/adapter.gguf,context=512")
    assert re.fullmatch(
        r"local:tiny\.gguf,adapter=adapter\.gguf,digest=sha256-[0-9a-f]{12}", adapted.name
    )
    assert adapted.complete(PROMPT, **HOW).text != model.complete(PROMPT, **HOW).text
    # The suite's own goes with the default weights alone, and only they name its prompts.
    monkeypatch.setattr(weights, "_bundled_weights", lambda: folder / "tiny.gguf")
    (folder / "adapters").mkdir()
    monkeypatch.setattr(weights, "ADAPTERS", folder / "adapters")
    # The weights themselves were not trained on short prompts.
    assert (LocalModel().options.files.adapter, LocalModel().prompts) == (None, None)
    tiny_adapter(folder / "adapters/ours.gguf")
    assert (LocalModel().options.files.adapter, LocalModel().prompts) == (
        folder / "adapters/ours.gguf",
        "short",
    )
    for other in (
        LocalModel(adapter="none"),
        LocalModel(folder / "tiny.gguf"),
        make_model("local:adapter=none"),
    ):
        assert (other.options.files.adapter, other.prompts) == (None, None)


def test_adapter__that_was_replaced_meanwhile_is_not_played(folder: Path):
    model = make_model(
        f"local:{folder}/tiny.gguf,adapter={folder}/adapter.gguf,context=512,slots=1"
    )
    before, text = model.name, model.complete(PROMPT, **HOW).text
    content = (folder / "adapter.gguf").read_bytes()
    (folder / "adapter.gguf").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert model.complete(PROMPT, **HOW).text == text  # it is loaded
    model.close()
    assert model.name == before
    with pytest.raises(
        ModelError, match=r"the files differ: their digest is sha256-.*, expected sha256-"
    ):
        model.complete(PROMPT, **HOW)


@pytest.fixture
def tiny_default(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny model and its adapter in place of the default weights; gives the folder of temporary
    files."""
    adapters, temporary = tmp_path / "adapters", tmp_path / "temporary"
    adapters.mkdir()
    temporary.mkdir()
    shutil.copy(folder / "adapter.gguf", adapters)
    monkeypatch.setattr(weights, "_bundled_weights", lambda: folder / "tiny.gguf")
    monkeypatch.setattr(weights, "ADAPTERS", adapters)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


def test_default_weights__are_computed_at_eight_bits_with_the_adapter_in_them(
    tiny_default: Path, folder: Path
):
    write_eight_bits(folder / "tiny.gguf", folder / "adapter.gguf", folder / "eight.gguf")
    default, written = LocalModel(context=512), LocalModel(folder / "eight.gguf", context=512)
    assert (default.options.eight_bits, written.options.eight_bits) == (True, False)
    batch = requests(6)
    assert default.complete_many(batch) == written.complete_many(batch)
    assert default.complete_many(batch) != LocalModel(
        folder / "tiny.gguf", context=512
    ).complete_many(batch)
    assert [*tiny_default.iterdir()] == []  # it left no file behind


def test_default_weights__that_cannot_be_written_are_an_error(tiny_default: Path):
    model = LocalModel(context=512)
    tiny_default.rmdir()
    with pytest.raises(
        ModelError, match=r"its weights of 8 bits cannot be written: .*No such file"
    ):
        model.complete(PROMPT, **HOW)
    tiny_default.mkdir()
    assert model.complete(PROMPT, **HOW).text


def test_default_weights__of_an_unknown_type_are_computed_as_they_are(
    tiny_default: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(local, "can_be_written", lambda model, adapter: False)
    model = LocalModel(context=512)
    assert not model.options.eight_bits
    assert model.complete(PROMPT, **HOW).text


def test_chat__writes_messages_in_the_models_template(tmp_path: Path):
    each = "{% for message in messages %}<{{ message.role }}>{{ message['content'] }}\n{% endfor %}"
    template = each + "{% if add_generation_prompt %}<assistant>{% endif %}"
    file = tiny_model(tmp_path / "chat.gguf", **{"tokenizer.chat_template": template})
    messages = [Message("system", "Play."), Message("user", "Well?")]
    chat, plain = pickle.loads(pickle.dumps(LocalModel(file, chat=True))), LocalModel(file)
    written = "<system>Play.\n<user>Well?\n<assistant>"
    assert (
        chat.complete(Dialogue("Play. Well?", messages), **HOW).text
        == plain.complete(written, **HOW).text
    )
    assert (
        chat.complete("Well?", **HOW).text == plain.complete("<user>Well?\n<assistant>", **HOW).text
    )
    strict = template.replace("{% endfor %}", "{{ raise_exception('no system') }}{% endfor %}")
    strict_model = LocalModel(tiny_model(file, **{"tokenizer.chat_template": strict}), chat=True)
    with pytest.raises(ModelError, match="chat template rejects this prompt: no system"):
        strict_model.complete(messages, **HOW)
    with pytest.raises(ModelError, match="chat template is broken"):
        LocalModel(tiny_model(file, **{"tokenizer.chat_template": "{% for"}), chat=True)
    with pytest.raises(ModelError, match="has no chat template"):
        LocalModel(tiny_model(file), chat=True)
    adding = "{{ 1 + messages[0].content if messages[1] else 'p' }}"
    picky = LocalModel(tiny_model(file, **{"tokenizer.chat_template": adding}), chat=True)
    answers = picky.complete_many([CompletionRequest(prompt, **HOW) for prompt in (messages, "p")])
    assert [type(answer) for answer in answers] == [
        ModelError,
        Completion,
    ]  # a TypeError of the template
    assert "chat template rejects this prompt: unsupported operand" in str(answers[0])
    spy = "{{ ''.__class__.__mro__ }}"
    with pytest.raises(ModelError, match="rejects this prompt"):
        LocalModel(tiny_model(file, **{"tokenizer.chat_template": spy}), chat=True).complete(
            "p", **HOW
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("threads=0", r"expected threads in 1\.\.\d+, got 0"),
        ("threads=100000", r"expected threads in 1\.\.\d+, got 100000"),
        ("threads=two", "expected threads to be a whole number, got 'two'"),
        ("context=0", r"expected context in 64\.\.100000, got 0"),
        ("context=1000000000", r"expected context in 64\.\.100000, got 1000000000"),
        ("slots=0", r"expected slots in 1\.\.256, got 0"),
        ("slots=true", "expected slots to be a whole number, got True"),
        ("chat=yes", "expected chat to be true or false, got 'yes'"),
        ("adaptor=x", "Did you mean adapter"),
        ("adapter=missing.gguf", "missing.gguf cannot be read: No such file"),
        ("adapter=TINY", "holds type 'model', expected a LoRA adapter"),
    ],
)
def test_make_model__says_what_is_wrong_with_an_option(options: str, message: str, folder: Path):
    with pytest.raises(ModelError, match=message):
        make_model(f"local:{folder}/tiny.gguf,{options.replace('TINY', str(folder / 'tiny.gguf'))}")


def test_make_model__says_what_is_wrong_with_a_file(tmp_path: Path):
    (tmp_path / "no.gguf").write_text("no weights")
    (tmp_path / "cut.gguf").write_bytes(tiny_model(tmp_path / "m.gguf").read_bytes()[:50_000])
    other, wordy = {"blk.0.attn_q.weight": (64, 64)}, {"adapter.lora.alpha": "two"}
    for spec, message in (
        (f"local:{tmp_path}/none.gguf", "none.gguf cannot be read: No such file"),
        (f"local:{tmp_path}", "cannot be read: Is a directory"),
        (f"local:{tmp_path}/no.gguf", "no.gguf is not a GGUF file"),
        (f"local:{tmp_path}/cut.gguf", "cut.gguf is cut short"),
        (
            f"local:{tiny_adapter(tmp_path / 'a.gguf')}",
            "holds type 'adapter', architecture",
        ),
        (f"local:{tmp_path}/m.gguf,adapter={tmp_path}/no.gguf", "no.gguf is not a GGUF file"),
        (
            f"local:{tmp_path}/m.gguf,adapter={tiny_adapter(tmp_path / 'o.gguf', layers=other)}",
            "for another model",
        ),
        (
            f"local:{tmp_path}/m.gguf,adapter={tiny_adapter(tmp_path / 'w.gguf', **wordy)}",
            "an alpha of 'two'",
        ),
    ):
        with pytest.raises(ModelError, match=message):
            make_model(spec)


def test_complete__says_that_llama_cpp_cannot_load_a_file(tmp_path: Path):
    """What its header does not show is found at the first request, and breaks nothing."""
    strange = LocalModel(
        tiny_model(tmp_path / "m.gguf", **{"tokenizer.ggml.pre": "no such tokenizer"}), slots=2
    )
    for _ in range(2):
        with pytest.raises(
            ModelError, match=r"m\.gguf: llama\.cpp cannot load it with 2 x 512 tokens: ."
        ):
            strange.complete(PROMPT, **HOW)


def test_make_model__refuses_more_memory_than_there_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    spec = f"local:{folder}/tiny.gguf,context=100000,slots=256"
    monkeypatch.setattr(local, "available_memory", lambda: 2**30)
    with pytest.raises(
        ModelError,
        match=r"256 slots of 100000 tokens need 6\.6 GiB of memory, and 1\.0 GiB are free",
    ):
        make_model(spec)
    monkeypatch.setattr(local, "available_memory", lambda: None)
    make_model(spec)


def test_complete__refuses_more_memory_than_other_models_leave(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    model = LocalModel(folder / "tiny.gguf", context=64, slots=1)
    monkeypatch.setattr(local, "available_memory", lambda: 2**20)
    with pytest.raises(ModelError, match=r"the weights and 1 slots of 64 tokens need 0\.5 GiB"):
        model.complete("x", **HOW)


def test_make_model__counts_the_weights_as_memory(folder: Path, monkeypatch: pytest.MonkeyPatch):
    needed = 512 * 2**20 + 2 * 2 * (32 + 32) * 64 + (folder / "tiny.gguf").stat().st_size
    monkeypatch.setattr(local, "available_memory", lambda: needed)
    LocalModel(folder / "tiny.gguf", context=64, slots=1)
    monkeypatch.setattr(local, "available_memory", lambda: needed - 1)
    with pytest.raises(ModelError, match="the weights and 1 slots of 64 tokens need"):
        LocalModel(folder / "tiny.gguf", context=64, slots=1)


def test_make_model__counts_the_weights_that_it_writes(
    tiny_default: Path, monkeypatch: pytest.MonkeyPatch
):
    matrices = 257 * 32 + 2 * (4 * 32 * 32 + 3 * 32 * 64)
    needed = 512 * 2**20 + 2 * 2 * (32 + 32) * 64 + matrices * 34 // 32 + 5 * 32 * 4
    monkeypatch.setattr(local, "available_memory", lambda: needed)
    LocalModel(context=64, slots=1)
    monkeypatch.setattr(local, "available_memory", lambda: needed - 1)
    with pytest.raises(ModelError, match="the weights and 1 slots of 64 tokens need"):
        LocalModel(context=64, slots=1)


def test_available_memory__is_what_a_container_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(llama_server, "_CONTROL_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("anon 850000\ninactive_file 50000\n")
    assert llama_server.available_memory() == 150_000
    (tmp_path / "memory.max").write_text("max\n")
    assert llama_server.available_memory() != 150_000


def test_available_memory__is_a_plausible_number():
    free = llama_server.available_memory()
    assert free is None or 2**20 < free < 2**50


def test_make_model__says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(weights, "WEIGHTS_PACKAGE", "no_such_weights")
    with pytest.raises(ModelError, match="textcraft-gym setup local; or name another one"):
        make_model("local")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(
        ModelError, match=r"needs the package xllamacpp .*: textcraft-gym setup local"
    ):
        make_model("local")


def test_make_model__loads_nothing_before_the_first_request(folder: Path):
    start = time.perf_counter()
    threads = threading.active_count()
    for _ in range(10):
        make_model(f"local:{folder}/tiny.gguf,slots=8")
    assert time.perf_counter() - start < 2
    assert threading.active_count() == threads


@pytest.mark.parametrize(
    ("name", "worker", "expected"), [("1", False, 1), ("x", False, None), ("", True, 1)]
)
def test_threads__are_few(
    name: str, worker: bool, expected: int | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", name)
    monkeypatch.setattr(
        local.multiprocessing, "parent_process", lambda: object() if worker else None
    )
    assert 1 <= local._default_threads() <= 4
    assert expected in (None, local._default_threads())


def test_threads__are_those_of_the_process_that_computes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    threads = []
    monkeypatch.setattr(
        local, "LlamaServer", lambda options: threads.append(options.threads) or 1 / 0
    )
    models = [LocalModel(folder / "tiny.gguf"), LocalModel(folder / "tiny.gguf", threads=2)]
    monkeypatch.setattr(local, "_default_threads", lambda: 7)
    for model in pickle.loads(pickle.dumps(models)):
        with pytest.raises(ZeroDivisionError):
            model.complete(PROMPT, **HOW)
    assert threads == [7, 2]


def test_name__tells_models_apart_that_answer_otherwise(
    folder: Path, tiny_default: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(local, "_template_source", lambda header: "{{ messages }}")
    as_stored = LocalModel(folder / "tiny.gguf", adapter=weights.ADAPTERS / "adapter.gguf")
    assert len({as_stored.name, LocalModel().name, LocalModel(chat=True).name}) == 3


def test_close__stops_what_is_computed(folder: Path):
    model = LocalModel(folder / "tiny.gguf", context=100_000, slots=1)
    failed: list[str] = []

    def ask() -> None:
        try:
            model.complete(PROMPT, **HOW | {"max_tokens": 90_000})
        except ModelError as error:
            failed.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.5)
    start = time.perf_counter()
    model.close()
    thread.join()
    assert failed == ["local:tiny.gguf: the model is closed"]
    assert time.perf_counter() - start < 5
    assert model.complete(PROMPT, **HOW).text  # it is loaded again
    model.close()
    model.close()


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[llama_server.ServerOptions]:
    """What is loaded, one item each time."""
    loaded: list[llama_server.ServerOptions] = []
    start = llama_server._start
    monkeypatch.setattr(
        llama_server, "_start", lambda options: loaded.append(options) or start(options)
    )
    return loaded


def test_close__ends_the_whole_batch(folder: Path, loads: list[llama_server.ServerOptions]):
    model = LocalModel(folder / "tiny.gguf", context=100_000, slots=1)
    batches: list[list[Completion | Exception]] = []
    long = [
        CompletionRequest(PROMPT, **HOW | {"max_tokens": tokens}) for tokens in (80_000, 90_000)
    ]
    threads = [
        threading.Thread(target=lambda: batches.append(model.complete_many(long)), daemon=True)
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    model.close()
    for thread in threads:
        thread.join(20)
    assert [str(answer) for batch in batches for answer in batch] == [
        "local:tiny.gguf: the model is closed"
    ] * 4
    assert len(loads) == 1


def test_close__ends_a_batch_that_is_asked_one_by_one(
    model: LocalModel, loads: list[llama_server.ServerOptions], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(llama_server.LlamaServer, "unload", lambda server: model.close())
    answers = model.complete_many([CompletionRequest("x" * 900, **HOW), *requests(2)])
    assert [str(answer) for answer in answers] == ["local:tiny.gguf: the model is closed"] * 3
    assert len(loads) == 1


def test_complete__loads_nothing_while_the_program_ends(
    model: LocalModel, loads: list[llama_server.ServerOptions], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(llama_server, "_exiting", threading.Event())
    llama_server._exiting.set()
    with pytest.raises(ModelError, match="the model is closed"):
        model.complete(PROMPT, **HOW)
    assert loads == []


def test_complete__of_several_threads_loads_one_model(
    model: LocalModel, monkeypatch: pytest.MonkeyPatch
):
    made = []

    def slowly(options: llama_server.ServerOptions) -> llama_server.LlamaServer:
        time.sleep(0.05)
        made.append(llama_server.LlamaServer(options))
        return made[-1]

    monkeypatch.setattr(local, "LlamaServer", slowly)
    threads = [
        threading.Thread(target=model.complete, args=(PROMPT,), kwargs=HOW) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_end__frees_the_memory_after_another_interrupt(
    model: LocalModel, monkeypatch: pytest.MonkeyPatch
):
    state = llama_server._State(model.options, [object()])
    state.idle.clear()

    def interrupted(timeout: float) -> bool:
        monkeypatch.setattr(state.idle, "wait", lambda timeout: state.idle.set())
        raise KeyboardInterrupt

    monkeypatch.setattr(state.idle, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        llama_server._end(state)
    assert state.native == []


def test_server__is_reached_from_this_machine_with_its_key_alone(
    model: LocalModel, monkeypatch: pytest.MonkeyPatch
):
    def everywhere() -> Any:
        params = xllamacpp.CommonParams()
        params.hostnames = ["0.0.0.0"]
        return params

    # Whatever the default is.
    changed = SimpleNamespace(**{**vars(xllamacpp), "CommonParams": everywhere})
    monkeypatch.setattr(llama_server, "import_xllamacpp", lambda: changed)
    native = llama_server._start(model.options)
    assert native.listening_address.startswith("http://127.0.0.1:")
    body = json.dumps({"prompt": PROMPT, "max_tokens": 1}).encode()
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(
            urllib.request.Request(f"{native.listening_address}/completions", body)
        )


def test_server__closes_as_soon_as_it_is_loaded(
    model: LocalModel, run: Callable[..., subprocess.Popen[str]]
):
    code = """
import sys
from textcraft_gym.agents.models import llama_server
from textcraft_gym.agents.models.local import LocalModel

model = LocalModel(sys.argv[1], context=512)
for _ in range(100):
    llama_server._start(model.options)
"""
    process = run(code, model.options.files.weights)
    assert process.wait(timeout=30) == 0


def test_complete__names_a_version_of_xllamacpp_that_it_does_not_know(
    model: LocalModel, monkeypatch: pytest.MonkeyPatch
):
    installed = re.escape(version("xllamacpp"))
    message = f"another version of xllamacpp than the installed {installed}: .*"
    for native in (
        SimpleNamespace(),
        SimpleNamespace(handle_completions=lambda body, collect: collect({"choices": [{}]})),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(llama_server, "_load", lambda options, native=native: native)
            with pytest.raises(ModelError, match=message + "('handle_completions'|'index')"):
                model.complete(PROMPT, **HOW)
        model.close()
    strange = SimpleNamespace(CommonParams=SimpleNamespace)
    monkeypatch.setattr(llama_server, "import_xllamacpp", lambda: strange)
    with pytest.raises(ModelError, match=message + "'model'"):
        model.complete(PROMPT, **HOW)


def test_cassette__has_the_answers_of_each_adapter_at_a_path(folder: Path, tmp_path: Path):
    adapter, tape = tmp_path / "a.gguf", tmp_path / "tape.sqlite"
    spec = f"local:{folder}/tiny.gguf,adapter={adapter},context=512"
    answers, names = [], []
    for strength in (8.0, 80.0):
        tiny_adapter(adapter, **{"adapter.lora.alpha": strength})
        recording = make_model(spec, cassette=tape)
        answers.append(recording.complete(PROMPT, **HOW).text)
        names.append(recording.name)
        assert (
            make_model(spec, cassette=tape, replay_only=True).complete(PROMPT, **HOW).text
            == answers[-1]
        )
    assert answers[0] != answers[1]
    digest = re.search("digest=[^,]*", names[0])
    assert digest is not None
    with pytest.raises(ModelError, match="the files differ: their digest is sha256-"):
        make_model(f"{spec},{digest[0]}")
    adapter.unlink()
    replayed = make_model(f"{spec},{digest[0]}", cassette=tape, replay_only=True)
    assert replayed.complete(PROMPT, **HOW).text == answers[0]
    with pytest.raises(ModelError, match=r"a\.gguf cannot be read"):
        make_model(spec, cassette=tape, replay_only=True)


def test_pickle__gives_a_model_that_loads_itself(model: LocalModel):
    expected = model.complete(PROMPT, **HOW)
    again = pickle.loads(pickle.dumps(model))
    assert again.complete(PROMPT, **HOW) == expected


INTERRUPTED = """
import sys
from textcraft_gym.agents.models.local import LocalModel
model = LocalModel(sys.argv[1], context=100_000, slots=1)
how = {"stop": (), "temperature": 0.0, "sample": 0}
model.complete("ready", max_tokens=3, **how)
print("ready", flush=True)
try:
    model.complete("x" * int(sys.argv[2]), max_tokens=90_000, **how)
except KeyboardInterrupt:
    print("interrupted", model.complete("again", max_tokens=3, **how).usage["completion_tokens"], flush=True)
    raise
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT")
@pytest.mark.parametrize("prompt", [1, 60_000], ids=["writing", "reading"])
def test_complete__stops_at_an_interrupt(
    prompt: int, folder: Path, run: Callable[..., subprocess.Popen[str]]
):
    process = run(INTERRUPTED, folder / "tiny.gguf", prompt)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)
    start = time.perf_counter()
    out, err = process.communicate(timeout=60)
    assert (out, err.splitlines()[-1]) == ("interrupted 3\n", "KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT
    assert time.perf_counter() - start < 10  # far less on an idle machine


def test_exit__while_the_model_writes_is_clean_and_silent(
    folder: Path, run: Callable[..., subprocess.Popen[str]]
):
    code = INTERRUPTED.split("try:")[0] + (
        "import threading, time\n"
        "ask = lambda: model.complete('x', max_tokens=90_000, **how)\n"
        "threading.excepthook = lambda error: None\n"
        "threading.Thread(target=ask, daemon=True).start()\n"
        "time.sleep(0.3)\n"
    )
    process = run(code, folder / "tiny.gguf")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "ready\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_fork__loads_its_own(folder: Path, run: Callable[..., subprocess.Popen[str]]):
    code = (
        INTERRUPTED.split("try:")[0]
        + (
            "import os, warnings\n"
            "warnings.simplefilter('ignore')\n"
            "child = os.fork()\n"
            "print(model.complete('after', max_tokens=4, **how).text.encode(), flush=True)\n"
            "if not child: os._exit(0)\n"  # as multiprocessing ends a process; llama.cpp does not survive another end
            "print(os.waitpid(child, 0)[1])\n"
        )
    )
    process = run(code, folder / "tiny.gguf")
    out, err = process.communicate(timeout=60)
    ready, first, second, status = out.splitlines()
    assert (process.returncode, err, ready, first, status) == (0, "", "ready", second, "0")


@pytest.mark.parametrize("backend", ["loop", "process"])
def test_evaluate__plays_with_it(backend: str, folder: Path, tmp_path: Path):
    spec = RunSpec(
        "TextCraft-v0",
        "test",
        "react",
        agent_args={"turns": 3, "max_tokens": 8},
        model=f"local:{folder}/tiny.gguf,context=8192",
        prompts="short",
        limit=4,
        workers=2,
        backend=backend,
    )
    records = evaluate(spec, tmp_path / "run")
    assert [(record["error"], record["stop_reason"]) for record in records] == [(None, "agent")] * 4
    assert all(record["tokens"]["completion_tokens"] > 0 for record in records)
    if backend == "loop":
        again = evaluate(replace(spec, workers=2), tmp_path / "again")
        assert [timeless(record) for record in again] == [timeless(record) for record in records]


def timeless(record: dict[str, Any]) -> str:
    """Return the bytes of a record, without the times."""
    return json.dumps(
        {key: value for key, value in record.items() if "second" not in key and key != "start"}
    )


def test_evaluate__counts_an_episode_as_lost_whose_prompt_is_too_long(folder: Path, tmp_path: Path):
    spec = RunSpec(
        "TextCraft-v0",
        "test",
        "react",
        model=f"local:{folder}/tiny.gguf,context=64",
        limit=2,
        workers=2,
    )
    evaluate(spec, tmp_path / "run")
    for record in read_records(tmp_path / "run"):
        assert (record["stop_reason"], record["limit"], record["won"]) == (
            "limit",
            "context",
            False,
        )
        assert record["error"] is None


@pytest.fixture(scope="module")
def smollm2() -> Iterator[LocalModel]:
    """The default weights."""
    try:
        model = LocalModel(adapter="none", slots=2, context=2048, threads=1)
    except ModelError as error:
        pytest.skip(str(error))
    yield model
    model.close()


def test_default_weights__continue_a_text(smollm2: LocalModel):
    how = HOW | {"stop": ("\n",), "max_tokens": 20}
    turns = "".join(f"> get {n} oak log\nGot {n} oak log\n" for n in range(1, 5))
    completion = smollm2.complete(f"{turns}>", **how)
    assert completion.text.startswith(" get 5 oak log")
    longer = smollm2.complete(f"{turns}> get 5 oak log\nGot 5 oak log\n>", **how)
    assert longer.usage["cached_tokens"] >= completion.usage["prompt_tokens"] - 1


@pytest.mark.slow
def test_default_weights__play_the_same_episodes_twice(smollm2: LocalModel, tmp_path: Path):
    spec = RunSpec(
        "TextCraft-v0",
        "test",
        "react",
        agent_args={"turns": 3, "max_tokens": 12},
        model="local:adapter=none,slots=2,context=2048",
        prompts="short",
        limit=3,
        workers=3,
    )
    first, second = (
        [timeless(record) for record in evaluate(spec, tmp_path / name)] for name in "ab"
    )
    assert first == second
    assert '"error": null' in first[0]


@pytest.mark.parametrize("default", [True, False])
def test_benchmark__asks_llama_cpps_own_server_with_the_same_weights(
    default: bool, tiny_default: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks"))
    benchmark = import_module("local_model")
    given = {} if default else {"file": folder / "tiny.gguf", "adapter": folder / "adapter.gguf"}
    model = LocalModel(**given, context=512, slots=2)
    with benchmark.own_server(model) as address:
        text, tokens = benchmark.ask(address, PROMPT)
        assert min(benchmark.beside(model, address, 1, 2)) > 0
    answer = model.complete(PROMPT, **HOW | {"stop": ("\n",), "max_tokens": 24})
    assert (answer.text, answer.usage["completion_tokens"]) == (text, tokens)
    model.close()


@pytest.mark.slow
def test_default_weights__say_at_eight_bits_what_they_say_as_they_are_stored(smollm2: LocalModel):
    """The differential test of working the adapter in, on what an agent asks."""
    adapter = weights.bundled_adapter()
    stored = LocalModel(
        smollm2.options.files.weights, adapter=adapter, slots=2, context=2048, threads=1
    )
    written = LocalModel(adapter=adapter, slots=2, context=2048, threads=1)
    env = gym.make("TextCraft-v0", split="dev")
    batch = []
    for seed in range(8):
        situation, _, goal = env.reset(seed=seed)[0].rpartition("\n")
        batch.append(
            CompletionRequest(
                f"{situation}\n{goal}\n>", **HOW | {"stop": ("\n",), "max_tokens": 60}
            )
        )
    texts = [
        [answer.text for answer in model.complete_many(batch) if isinstance(answer, Completion)]
        for model in (stored, written)
    ]
    same = [text == other for text, other in zip(*texts, strict=True)]
    assert sum(same) >= 6, texts


def test_default_weights__split_texts_as_the_tokenizer_that_they_are_trained_with(
    smollm2: LocalModel,
):
    transformers = pytest.importorskip(
        "transformers", reason="the package transformers is not installed"
    )
    pytest.importorskip("gguf", reason="the package gguf is not installed")
    file = smollm2.options.files.weights
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel, params.verbosity = str(file), 256, 1, -1
    server = xllamacpp.Server(params)
    rng = random.Random(0)
    # No digits after several line ends or spaces, between which transformers does not split as this
    # model's own does.
    words = [
        "get 2 oak log",
        ">",
        " think: I need 6 planks...",
        "\n",
        "\n\n",
        " ",
        "é",
        "🙂",
        "x1234567",
        "<|im_end|>",
        "\t",
        "'s",
    ]
    for text in [
        PROMPT,
        *("".join(rng.choices(words, k=rng.randrange(1, 30))) for _ in range(100)),
    ]:
        body = json.dumps({"content": text, "add_special": True, "parse_special": True}).encode()
        with urllib.request.urlopen(
            urllib.request.Request(f"{server.listening_address}/tokenize", body)
        ) as answer:
            assert json.load(answer)["tokens"] == tokenizer(text)["input_ids"], text
