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
# # Play the worlds
#
# Every world is a Gymnasium environment of strings. Importing `textcraft_gym` registers them.

# %%
import gymnasium as gym

import textcraft_gym

# %% [markdown]
# A first observation has all that a player is told.

# %%
env = gym.make("TextCraft-v0", distractors=2)
observation, info = env.reset(seed=0, options={"task": "minecraft:ladder"})
print(observation)

# %% [markdown]
# Any string is an action. One that makes no sense is answered, changes nothing, and leaves a short
# code in `info`.

# %%
for action in ["get 1 oak logs", "craft 4 oak planks using 1 oak logs", "climb the ladder"]:
    observation, reward, terminated, truncated, info = env.step(action)
    print(f"> {action}\n{observation}")
info

# %% [markdown]
# ## All six
#
# The expert plays the first task that the seed draws in each world.

# %%
WORLDS = [
    "TextCraft-v0",
    "ALFWorld-v0",
    "WebShopLite-v0",
    "MineTechTree-v0",
    "HotpotQA-v0",
    "Tabletop-v0",
]
for world in WORLDS:
    env = gym.make(world, expert=True)
    observation, info = env.reset(seed=3)
    print(f"=== {world}: {info['task']}\n{observation.strip()[-300:]}")
    done, total = False, 0.0
    while not done:
        action = info["expert_plan"][0]
        observation, reward, terminated, truncated, info = env.step(action)
        total, done = total + reward, terminated or truncated
        print(f"> {action}\n{observation.strip()[:200]}")
    assert info["won"], world
    print(f"reward {total:.2f}\n")

# %% [markdown]
# ## What could be done now
#
# `admissible=True` lists the commands that would have an effect, made from what the player can see.

# %%
env = gym.make("ALFWorld-v0", admissible=True)
observation, info = env.reset(seed=1)
print(observation)
info["admissible_commands"][:10]

# %% [markdown]
# ## The same bytes, always
#
# The same id, task and seed give the same texts, in every process and on every machine.

# %%
assert env.reset(seed=1)[0] == gym.make("ALFWorld-v0").reset(seed=1)[0] == observation

# %% [markdown]
# ## Many at once

# %%
vector = gym.make_vec("TextCraft-v0", 4)
observations, infos = vector.reset(seed=0)
observations, rewards, terminations, truncations, infos = vector.step(["inventory"] * 4)
print(type(vector).__name__, list(observations), textcraft_gym.__version__)
