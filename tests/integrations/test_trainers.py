"""Dialogues are read by the trainers that they are for, where those are installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import tests.examples.conftest  # noqa: F401  # where the tiny chat model is
from textcraft_gym.cli.demonstrations import expert_trajectories
from textcraft_gym.storage.trajectories import Trajectory, write_trajectories

# The trainers' own imports warn.
pytestmark = pytest.mark.filterwarnings("default")

ODD = Trajectory(
    "My-v0",
    None,
    3,
    [("café 🪵", "half \ud800"), ("no", "stop")],
    won=None,
    reward=0.5,
    system="Play.",
)
"""What a run may hold, and an expert does not write."""


@pytest.fixture
def trajectories() -> list[Trajectory]:
    """Three demonstrations with thoughts, and an odd episode of a world without tasks."""
    played = islice(expert_trajectories("TextCraft-v0", "dev", thoughts=True, distractors=1), 3)
    return [*(trajectory for trajectory in played if trajectory), ODD]


def written(trajectories: list[Trajectory], folder: Path, format: str) -> str:
    """A file of them."""
    file = folder / f"{format}.jsonl"
    write_trajectories(trajectories, file, format)
    return str(file)


def replies(trajectory: Trajectory) -> list[str]:
    """What the player says, as it is written."""
    return [action.encode("utf-8", "replace").decode() for _, action in trajectory.turns]


def qwen(trajectories: list[Trajectory]) -> Any:
    """A tokenizer with Qwen3's chat template."""
    return import_module("textcraft_gym.integrations.tiny_chat_model").tokenizer_for(
        trajectory.messages for trajectory in trajectories
    )


@pytest.mark.parametrize(
    ("format", "assistant_only"), [("openai", True), ("trl", False), ("trl", True)]
)
def test_trl__learns_the_replies_and_nothing_else(
    format: str, assistant_only: bool, trajectories: list[Trajectory], tmp_path: Path
):
    """``SFTTrainer`` trains two steps; with the rows of ``trl`` it needs no option for that."""
    trl = pytest.importorskip("trl", reason="TRL (extra [trl]) is not installed")
    from datasets import load_dataset

    tokenizer = qwen(trajectories)
    network = import_module("textcraft_gym.integrations.tiny_chat_model").network_for(
        tokenizer, width=32
    )
    before = [weight.detach().clone() for weight in network.parameters()]
    config = trl.SFTConfig(
        str(tmp_path),
        use_cpu=True,
        bf16=False,
        max_steps=2,
        per_device_train_batch_size=2,
        max_length=2048,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        **({"assistant_only_loss": True} if assistant_only else {}),
    )
    file = written(trajectories, tmp_path, format)
    data = load_dataset("json", data_files=file, split="train", cache_dir=str(tmp_path / "cache"))
    trainer = trl.SFTTrainer(network, args=config, train_dataset=data, processing_class=tokenizer)
    learnt: list[str] = []
    for row in trainer.train_dataset:
        labels = [token for token in row["labels"] if token != -100]
        learnt += [reply.strip("\n") for reply in tokenizer.decode(labels).split("<|im_end|>")][:-1]
    assert learnt == [reply for trajectory in trajectories for reply in replies(trajectory)]
    trainer.train()
    assert trainer.state.global_step == 2
    assert any(
        (old != new).any() for old, new in zip(before, trainer.model.parameters(), strict=True)
    )


@pytest.fixture
def llama_factory(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """LLaMA-Factory's package of data without its ``__init__``, which imports what reads pictures
    and sounds."""
    spec = find_spec("llamafactory")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("LLaMA-Factory is not installed")
    package = ModuleType("llamafactory.data")
    package.__path__ = [f"{spec.submodule_search_locations[0]}/data"]
    monkeypatch.setitem(sys.modules, "llamafactory.data", package)
    yield package
    for name in [name for name in sys.modules if name.startswith("llamafactory.data.")]:
        del sys.modules[name]


@pytest.mark.parametrize("format", ["sharegpt", "openai"])
def test_llama_factory__skips_none(
    format: str, llama_factory: ModuleType, trajectories: list[Trajectory], tmp_path: Path
):
    """Its own converter makes a prompt and a response of each line; of one that it skips it makes
    nothing."""
    parser, converter = (
        import_module(f"llamafactory.data.{name}") for name in ("parser", "converter")
    )
    page = (Path(__file__).parents[2] / "docs" / "demonstrations.md").read_text(encoding="utf-8")
    described = json.loads(page.partition("```json\n")[2].partition("```")[0])
    (attributes,) = parser.get_dataset_list([format], described)
    assert attributes.dataset_name == f"{format}.jsonl"
    convert = converter.get_dataset_converter(attributes.formatting, attributes, SimpleNamespace())
    lines = Path(written(trajectories, tmp_path, format)).read_text(encoding="utf-8").splitlines()
    for line, trajectory in zip(lines, trajectories, strict=True):
        made = convert(json.loads(line))
        assert made["_system"] == trajectory.system
        *prompt, response = [*made["_prompt"], *made["_response"]]
        assert response == {"role": "assistant", "content": replies(trajectory)[-1]}
        assert [message["role"] for message in prompt] == [
            "user",
            *["assistant", "user"] * (len(trajectory.turns) - 1),
        ]


def test_verl__reads_what_to_imitate_and_what_to_play(
    trajectories: list[Trajectory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its data set for imitation takes Parquet and masks all but the replies; that for rewards
    takes the lines."""
    pytest.importorskip(
        "trl", reason="TRL (extra [trl]), whose chat template is used, is not installed"
    )
    rl = pytest.importorskip(
        "verl.utils.dataset.rl_dataset", reason="verl is not installed", exc_type=ImportError
    )
    import pandas

    # It is for pictures, and is not made for every version of transformers.
    monkeypatch.setitem(
        sys.modules, "verl.models.transformers.qwen2_vl", SimpleNamespace(get_rope_index=None)
    )
    multiturn = import_module("verl.utils.dataset.multiturn_sft_dataset")
    file, tokenizer = written(trajectories, tmp_path, "verl"), qwen(trajectories)
    pandas.read_json(file, lines=True).to_parquet(tmp_path / "verl.parquet")
    config = {"pad_mode": "no_padding", "max_length": 2048}
    imitated = multiturn.MultiTurnSFTDataset(str(tmp_path / "verl.parquet"), tokenizer, config)
    assert len(imitated) == len(trajectories)
    for row, trajectory in zip(imitated, trajectories, strict=True):
        learnt = tokenizer.decode(row["input_ids"][row["loss_mask"].bool()]).split("<|im_end|>")[
            :-1
        ]
        assert [reply.strip("\n") for reply in learnt] == replies(trajectory)
    config = {"cache_dir": str(tmp_path / "cache"), "filter_overlong_prompts": False}
    played = rl.RLHFDataset(file, tokenizer, config)
    assert len(played) == len(trajectories)
    for index, trajectory in enumerate(trajectories):
        row = played[index]
        assert row["raw_prompt"] == trajectory.messages[:2]
        assert (row["data_source"], row["extra_info"]["task"]) == (trajectory.env, trajectory.task)
        assert row["reward_model"] == {"style": "rule", "ground_truth": ""}
