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
# # Learn with MaskablePPO
#
# A small network learns to craft from the game's own reward, in a minute. It cannot read, so it
# gets a fixed list of commands to choose from, with a mask of those that would have an effect.
# sb3-contrib is needed: `pip install '.[rl]'` in a clone of the repository.

# %%
from itertools import cycle

import gymnasium as gym
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import textcraft_gym
from textcraft_gym.wrappers import ActionMasking

GOALS = [task.id for task in textcraft_gym.tasks("TextCraft-v0", "dev")[:6]]
GOALS

# %% [markdown]
# `possible_commands` returns every command that these goals can offer. `ActionMasking` makes a
# discrete action of each, and has the method `action_masks()`, which MaskablePPO calls by itself.


# %%
class Sight(gym.Wrapper):
    """Shows which commands would have an effect, and which of the goals is asked for."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(
            0, 1, (env.action_space.n + len(GOALS),), np.float32
        )
        self.goals = cycle(GOALS)

    def reset(self, *, seed=None, options=None):
        _, info = self.env.reset(seed=seed, options=options or {"task": next(self.goals)})
        return self.sight(info), info

    def step(self, action):
        _, reward, terminated, truncated, info = self.env.step(int(action))
        return self.sight(info), reward, terminated, truncated, info

    def sight(self, info):
        goal = [name == info["task"] for name in GOALS]
        return np.concatenate([info["action_mask"], goal]).astype(np.float32)

    def action_masks(self):
        return self.env.action_masks()


def make():
    game = gym.make("TextCraft-v0", admissible=True, distractors=0, max_episode_steps=10)
    return Sight(ActionMasking(game, commands=game.unwrapped.possible_commands(GOALS)))


env = make()
print(env.observation_space, env.action_space)

# %% [markdown]
# ## Before and after


# %%
def success(model, episodes=60):
    """Return the share of episodes that a model wins, each goal the same number of times."""
    won = 0
    for episode in range(episodes):
        observation, info = env.reset(
            seed=1000 + episode, options={"task": GOALS[episode % len(GOALS)]}
        )
        done = False
        while not done:
            action, _ = model.predict(
                observation, action_masks=env.action_masks(), deterministic=False
            )
            observation, reward, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        won += info["won"]
    return won / episodes


model = MaskablePPO(
    "MlpPolicy",
    DummyVecEnv([make] * 8),
    n_steps=128,
    batch_size=256,
    gamma=0.95,
    ent_coef=0.01,
    seed=0,
)
before = success(model)
model.learn(16_384)
after = success(model)
print(f"before {before:.0%}, after {after:.0%}")
assert after > before + 0.2

# %% [markdown]
# ## What it plays

# %%
observation, info = env.reset(seed=0, options={"task": GOALS[0]})
print(info["task"])
done = False
while not done:
    action, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=True)
    observation, reward, terminated, truncated, info = env.step(action)
    print(env.get_wrapper_attr("commands")[int(action)])
    done = terminated or truncated
print("won:", info["won"])

# %% [markdown]
# [The page of training](../docs/training.md) has the other wrappers, and
# `examples/train_maskable_ppo.py` learns all goals of depth 2, and goals that it never saw, with a
# network that looks at the recipes.
