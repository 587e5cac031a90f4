"""Trains a tiny language model with TRL's GRPOTrainer on goals of TextCraft.

The model is made on the spot (``tiny_chat_model.py``). First it imitates a player that calls tools at random, from
which it learns how a call is written and which commands there are, but not what leads to a goal. Then GRPO plays with
it: the reward is 1 for the goal and, with ``SubgoalReward``, a third for each of the three steps on the way.

    python examples/grpo_trl.py            # four minutes on two cores
    python examples/grpo_trl.py --smoke    # a smoke test: some imitation and two steps of GRPO
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from statistics import fmean
from typing import Any

from datasets import Dataset
from tiny_chat_model import network_for, tokenizer_for
from transformers import PreTrainedModel, PreTrainedTokenizerFast
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

import textcraft_gym
from textcraft_gym.integrations.trl import PROMPT, TextGame, ToolGame, dataset, game

ENV_ID, SPLIT = "TextCraft-v0", "dev"
GAME: dict[str, Any] = {"distractors": 0, "max_steps": 6}
SHAPED: dict[str, Any] = {"expert": True, "wrappers": [f"SubgoalReward,gamma=1,scale={1 / 3}"]}
GOALS = 4
"""Number of goals: the first of the split that take three actions."""
DEMONSTRATIONS = 60
"""Number of random episodes to imitate, for each goal."""
STEPS, EPISODES, GROUP = 25, 32, 8
"""Steps of GRPO, episodes of a step, and episodes of one goal among them."""
COMMON: dict[str, Any] = {"use_cpu": True, "bf16": False, "report_to": [], "save_strategy": "no", "disable_tqdm": True}


def demonstration(task: str, rng: random.Random) -> list[dict[str, Any]]:
    """Return the dialogue of a player that calls random commands, and is done when it has won."""
    play = textcraft_gym.TextEpisode(ENV_ID, admissible=True, **GAME)
    messages: list[dict[str, Any]] = [{"role": "user", "content": PROMPT + play.reset(task, seed=0)}]
    while not play.over:
        call = {"name": "step", "arguments": {"action": rng.choice(play.last.info["admissible_commands"])}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": call}]})
        messages.append({"role": "tool", "name": "step", "content": play.step(call["arguments"]["action"])})
    return [*messages, {"role": "assistant", "content": "Done."}] if play.won else messages


def imitate(goals: list[str], count: int) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """Return a model that plays at random, and its tokenizer."""
    rng = random.Random(0)
    dialogues = [demonstration(goal, rng) for goal in goals for _ in range(count)]
    tools = [get_json_schema(TextGame.step)]
    tokenizer = tokenizer_for(json.dumps(dialogue) for dialogue in [*dialogues, tools])
    settings = SFTConfig(
        tempfile.mkdtemp(),
        assistant_only_loss=True,
        num_train_epochs=3,
        per_device_train_batch_size=8,
        learning_rate=5e-3,
        max_length=None,
        logging_steps=30,
        **COMMON,
    )
    rows = Dataset.from_list([{"messages": dialogue, "tools": tools} for dialogue in dialogues])
    trainer = SFTTrainer(network_for(tokenizer), settings, train_dataset=rows, processing_class=tokenizer)
    trainer.train()
    return trainer.model, tokenizer


def learn(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, goals: list[str], steps: int
) -> list[dict[str, float]]:
    """Train with GRPO, and return what was logged in each step."""
    starts = dataset(ENV_ID, SPLIT, distractors=0).filter(lambda row: row["task"] in goals)
    settings = GRPOConfig(
        tempfile.mkdtemp(),
        max_steps=steps,
        per_device_train_batch_size=EPISODES,
        num_generations=GROUP,
        max_tool_calling_iterations=GAME["max_steps"],
        max_completion_length=480,
        learning_rate=1e-3,
        lr_scheduler_type="constant",
        logging_steps=1,
        reward_weights=[0.0],
        **COMMON,
    )
    trainer = GRPOTrainer(
        model,
        args=settings,
        reward_funcs=won,
        train_dataset=starts,
        processing_class=tokenizer,
        environment_factory=game(ENV_ID, **GAME, **SHAPED),
    )
    trainer.train()
    return [log for log in trainer.state.log_history if "reward" in log]


def won(environments: list[ToolGame], **_: Any) -> list[float]:
    """Return for each episode whether it was won; only logged, since its weight is 0."""
    return [float(made.get_reward() > 1) for made in environments]


def main() -> None:
    """Imitate, learn, and print how many episodes were won at the beginning and at the end."""
    parser = argparse.ArgumentParser(description="Learn TextCraft with TRL's GRPO.")
    parser.add_argument("--smoke", action="store_true", help="little imitation, and two steps of GRPO")
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    began = time.perf_counter()
    tasks = textcraft_gym.tasks(ENV_ID, SPLIT)
    goals = [task.id for task in tasks if task.optimal_length == 3][:GOALS]
    model, tokenizer = imitate(goals, 2 if arguments.smoke else DEMONSTRATIONS)
    print(f"imitation took {time.perf_counter() - began:.0f} s", flush=True)
    logs = learn(model, tokenizer, goals, 2 if arguments.smoke else arguments.steps)
    window = max(1, len(logs) // 6)
    for name, part in (("first", logs[:window]), ("last", logs[-window:])):
        won, reward, calls = (
            fmean(log[key] for log in part) for key in ("rewards/won/mean", "reward", "tools/call_frequency")
        )
        print(f"{name} {window} steps: {100 * won:.0f}% won, reward {reward:.2f}, {calls:.1f} calls an episode")
    print(f"{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
