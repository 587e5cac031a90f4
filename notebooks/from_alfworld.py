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
# # From alfworld in ten lines
#
# The loop that users of the package alfworld know, with a plain Gymnasium environment. By default
# the households are generated; `games="official"` plays those that `alfworld-download` fetched.

# %%
import gymnasium as gym

import textcraft_gym

env = gym.make(
    "ALFWorld-v0", split="valid_unseen", admissible=True, expert=True, textworld_info=True
)
observation, info = env.reset(seed=0)
print(observation)
done = False
while not done:
    action = info["expert_plan"][
        0
    ]  # your agent chooses one of info["admissible_commands"], or writes its own
    observation, reward, terminated, truncated, info = env.step(action)
    done = terminated or truncated
    print(f"> {action}\n{observation}")
print(info["won"], info["score"], info["moves"], info["gamefile"])

# %% [markdown]
# ## One game, by its name
#
# There is no need to reset until a game comes: a task is an id.

# %%
tasks = textcraft_gym.tasks("ALFWorld-v0", "valid_unseen")
print(len(tasks), tasks[0].id, tasks[0].group, tasks[0].optimal_length)
observation, info = env.reset(seed=0, options={"task": tasks[0].id})
print(observation.splitlines()[-1])

# %% [markdown]
# ## The wording of the papers
#
# Releases of alfworld before 0.4 say `put`, and prompts of papers do so too.

# %%
old = gym.make("ALFWorld-v0", dialect="0.3", expert=True)
observation, info = old.reset(seed=0, options={"task": tasks[0].id})
print([command for command in info["expert_plan"] if command.startswith("put")])

# %% [markdown]
# ## A whole split, with an agent
#
# The explorer reads the text alone and asks no model. `react` with `model=` goes in its place.

# %%
env = gym.make("ALFWorld-v0", split="dev")
explorer = textcraft_gym.make_agent("explorer", profile="alfworld")
jobs = [(task.id, 0) for task in textcraft_gym.tasks("ALFWorld-v0", "dev")]
episodes = list(textcraft_gym.run_episodes([env], explorer, jobs))
print(sum(bool(episode.won) for episode in episodes), "of", len(episodes))
