# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # GRPO with TRL on a tiny model
#
# A language model learns to win from the game's reward alone, in about two minutes and without a
# GPU. It is made here, with random weights: first it imitates a player that calls commands at
# random, so that it can play at all, and then TRL's `GRPOTrainer` plays with it. PyTorch and TRL
# are needed: `pip install torch` and `pip install '.[trl]'` in a clone of the repository.

# %%
import random
import tempfile
from statistics import fmean

import torch
from datasets import Dataset
from transformers import PrinterCallback
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

import textcraft_gym
from textcraft_gym.integrations.tiny_chat_model import network_for, tokenizer_for
from textcraft_gym.integrations.trl import PROMPT, dataset, game

torch.set_num_threads(1)  # the model is so small that threads would wait for one another
SEED = 0
ENV_ID, SPLIT = "TextCraft-v0", "dev"
GAME = {"distractors": 0, "max_steps": 6}
GOALS = [
    f"minecraft:{item}"
    for item in ("acacia_slab", "birch_button", "dark_oak_pressure_plate", "jungle_slab")
]

# %% [markdown]
# ## The game as a tool
#
# `game` makes what the trainer calls an environment: its one tool, `step`, plays a command.

# %%
played = game(ENV_ID, **GAME)()
print(played.reset(task=GOALS[0], seed=0))
print(played.step("get 1 acacia logs"))
get_json_schema(textcraft_gym.ToolGame.step)

# %% [markdown]
# ## A player that knows nothing
#
# It draws one of the commands that the game would accept, and says that it is done when it has won.


# %%
def play_at_random(task, rng):
    """Return a dialogue, and whether it was won."""
    episode = textcraft_gym.TextEpisode(ENV_ID, admissible=True, **GAME)
    messages = [{"role": "user", "content": PROMPT + episode.reset(task, seed=0)}]
    while not episode.over:
        action = rng.choice(episode.last.info["admissible_commands"])
        call = {"name": "step", "arguments": {"action": action}}
        messages.append(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"type": "function", "function": call}],
            }
        )
        answer = episode.step(action)
        if episode.over:  # as the tool says it
            answer += "\nThe game is won." if episode.won else "\nThe game is over."
        messages.append({"role": "tool", "name": "step", "content": answer})
    if episode.won:
        messages.append({"role": "assistant", "content": "Done."})
    return messages, episode.won


rng = random.Random(SEED)
games = []
for goal in GOALS:
    games += [play_at_random(goal, rng) for _ in range(60)]
dialogues = [messages for messages, _ in games]
at_random = fmean(won for _, won in games)
print(f"{at_random:.0%} of {len(games)} games won")

# %% [markdown]
# ## Imitation
#
# The model is a Qwen3 of two layers, with 137,000 weights. It learns what the player calls, not
# what the game answers.

# %%
COMMON = {
    "use_cpu": True,
    "bf16": False,
    "report_to": [],
    "save_strategy": "no",
    "disable_tqdm": True,
    "seed": SEED,
}
tools = [get_json_schema(textcraft_gym.ToolGame.step)]
tokenizer = tokenizer_for(dialogues, tools)
imitation = SFTTrainer(
    network_for(tokenizer, seed=SEED),
    SFTConfig(
        tempfile.mkdtemp(),
        assistant_only_loss=True,
        num_train_epochs=8,
        per_device_train_batch_size=8,
        learning_rate=5e-3,
        max_length=None,
        logging_steps=60,
        **COMMON,
    ),
    train_dataset=Dataset.from_list(
        [{"messages": messages, "tools": tools} for messages in dialogues]
    ),
    processing_class=tokenizer,
)
imitation.train()

# %% [markdown]
# ## GRPO
#
# A step plays 32 games, eight of each of four starts. What is better than its group becomes
# likelier, what is worse less likely. The reward is the game's: 1 for the goal, and nothing else. A
# further function of rewards, which gives none, keeps the last dialogues to look at.

# %%
last = []


def keep(completions, environments, **_):
    last[:] = [
        (made.get_reward(), dialogue)
        for made, dialogue in zip(environments, completions, strict=True)
    ]
    return [0.0] * len(completions)


trainer = GRPOTrainer(
    imitation.model,
    args=GRPOConfig(
        tempfile.mkdtemp(),
        max_steps=30,
        per_device_train_batch_size=32,
        num_generations=8,
        max_tool_calling_iterations=GAME["max_steps"],
        max_completion_length=240,
        learning_rate=1e-3,
        lr_scheduler_type="linear",
        logging_steps=1,
        **COMMON,
    ),
    reward_funcs=keep,
    train_dataset=dataset(ENV_ID, SPLIT).filter(lambda row: row["task"] in GOALS),
    processing_class=tokenizer,
    environment_factory=game(ENV_ID, **GAME),
)
trainer.remove_callback(PrinterCallback)
trainer.train()

# %% [markdown]
# ## What it learned

# %%
name = "rewards/ToolGame/mean"
won = [log[name] for log in trainer.state.log_history if name in log]
for at in range(0, len(won), 10):
    share = fmean(won[at : at + 10])
    print(f"steps {at + 1:2} to {at + 10}: {share:4.0%} won {'#' * round(40 * share)}")
assert fmean(won[-10:]) > max(at_random, fmean(won[:5])) + 0.1

# %% [markdown]
# One of the last games that it won:

# %%
for message in next(dialogue for reward, dialogue in last if reward):
    calls = [call["function"]["arguments"]["action"] for call in message.get("tool_calls") or []]
    if message["role"] != "assistant":
        print("   ", message["content"])
    else:
        print(*(calls or [message["content"]]))

# %% [markdown]
# [The page about TRL](../docs/trl.md) has the rest: several worlds at once, a tool for each verb, a
# reward on the way.
