"""The code of the pages about trainers, against the trainers themselves, for a few steps each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.examples import conftest  # noqa: F401  puts the examples on the path

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' own, of one another


def run_blocks(
    page: str, changes: dict[str, str], *, without: str = "", names: dict[str, Any]
) -> dict[str, Any]:
    """Run the Python of a page, without some sections, with changes that make it short; each must
    be in the page."""
    sections = re.split(r"^(?=## )", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = "".join(section for section in sections if not re.match(f"## ({without})\n", section))
    code = "\n".join(
        block for _, block in re.findall(r"```python( extra)?\n(.*?)```", text, re.DOTALL)
    )
    for old, new in changes.items():
        assert old in code, old
        code = code.replace(old, new)
    exec(compile(code, page, "exec"), names)
    return names


def test_training__stable_baselines3_learns():
    pytest.importorskip("sb3_contrib", reason="sb3-contrib (extra [rl]) is not installed")
    short = {
        "gamma=0.99)\nmodel": "n_steps=32, gamma=0.99)\nmodel",
        "10_000": "32",
        "vector, gamma": "vector, n_steps=4, gamma",
    }
    made = run_blocks("training.md", short, without="Ray|RLlib", names={})
    assert made["model"].num_timesteps == 32
    assert made["env"].action_space.contains(int(made["action"]))


@pytest.mark.ray
def test_training__ray_plays_and_rllib_learns():
    for module in ("ray.rllib.algorithms.ppo", "torch"):
        pytest.importorskip(
            module,
            reason="RLlib with PyTorch is not installed: make test-ray",
            exc_type=ImportError,
        )
    small = ".training(train_batch_size_per_learner=64, minibatch_size=32, num_epochs=1)"
    changes = {
        '"dev") for seed in range(4)': '"dev")[:2] for seed in range(2)',
        "    print(episode.task, ": "    played.append(episode); print(episode.task, ",
        "PPOConfig()": f"PPOConfig().env_runners(num_env_runners=0){small}",
        "algorithm.train()": "trained = algorithm.train(); algorithm.stop()",
    }
    made = run_blocks("training.md", changes, without="Stable-Baselines3", names={"played": []})
    assert len(made["played"]) == 4
    assert made["trained"]["num_env_steps_sampled_lifetime"] >= 64


def test_trl__trains_and_makes_a_trainer_of_several_worlds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("trl", reason="TRL (extra [trl]) is not installed")
    from textcraft_gym.integrations.tiny_chat_model import network_for, tokenizer_for

    monkeypatch.chdir(tmp_path)
    tokenizer = tokenizer_for([[{"role": "user", "content": "Play the game with commands."}]])
    model = '"Qwen/Qwen3-1.7B", '
    tiny = "network_for(tokenizer, width=32), processing_class=tokenizer, "
    settings = "use_cpu=True, bf16=False, report_to=[], per_device_train_batch_size=2, num_generations=2, max_steps=1, "
    changes = {
        model: tiny,
        '"Qwen/Qwen3-1.7B",\n': f"{tiny}\n",
        '"runs/grpo",\n': f'"runs/grpo", {settings}\n',
        "max_completion_length=8192": "max_completion_length=16",
        "trainer.train()": "trainer.train(); steps = trainer.state.global_step",
    }
    made = run_blocks("trl.md", changes, names={"network_for": network_for, "tokenizer": tokenizer})
    assert made["steps"] == 1
    assert len(made["rows"]) > len(made["factories"]) == 3
