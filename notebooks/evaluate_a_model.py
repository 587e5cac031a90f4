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
# # Evaluate a model and read the report
#
# Two agents play the same tasks with the same model. Here that is the small one in the process,
# which takes a minute or two on two cores, and needs `pip install '.[all]'`, in a clone, and
# `textcraft-gym setup local`; put `openai:NAME` in its place.

# %%
import subprocess
import sys
import tempfile
from pathlib import Path

import textcraft_gym
from textcraft_gym.reports.compare import compare
from textcraft_gym.reports.metrics import summarise_by_group

MODEL = "local"
GOALS = ("beetroot_soup", "ender_chest", "hopper", "jack_o_lantern")  # of depth 3
RUNS = Path(tempfile.mkdtemp())

# %% [markdown]
# A run is a folder. The same call goes on with one that was interrupted.

# %%
records = {}
for agent in ["react", "adapt"]:
    spec = textcraft_gym.RunSpec(
        "TextCraft-v0",
        "test",
        agent,
        model=MODEL,
        tasks=tuple(f"minecraft:{goal}" for goal in GOALS),
        workers=4,
        max_calls=60,
    )
    records[agent] = textcraft_gym.evaluate(spec, RUNS / agent)
sorted(path.name for path in (RUNS / "adapt").iterdir())

# %% [markdown]
# ## Who wins, by how much
#
# Success by recipe depth, with its 95% interval. An episode that broke is an error and counts in no
# rate.

# %%
for agent, run in records.items():
    for group, summary in summarise_by_group(run).items():
        interval = f"{100 * summary.low:.0f} to {100 * summary.high:.0f}"
        won = f"{100 * summary.rate:5.1f}% of {summary.episodes}"
        print(f"{agent:6} {group:8} {won}, 95% interval {interval}")

# %% [markdown]
# Both played the same tasks, so they are compared task by task.

# %%
paired = compare(records["react"], records["adapt"])
print(f"ADaPT minus ReAct: {100 * paired.difference:+.1f} points, p = {paired.p_value:.1g}")

# %% [markdown]
# ## One episode
#
# What the agent said of itself, what the world said, and the tree of what it did.

# %%
episode = max(records["adapt"], key=lambda record: record["k_max"])
print(
    episode["task"],
    "won:",
    episode["won"],
    "claimed:",
    episode["claimed_success"],
    "calls:",
    episode["calls"],
)


def show(node, indent=0):
    """Print a part of an episode and its parts."""
    print("  " * indent + f"{node['role']}: {node['task']} -> {node['outcome']}")
    for part in node[
        "parts"
    ]:  # a text of the model, the index of an action in the transcript, or a part of its own
        if isinstance(part, dict):
            show(part, indent + 1)


show(episode["trace"])

# %% [markdown]
# ## The report
#
# One page with tables, plots, and every episode as a tree like this one, down to actions and
# observations. Open it in a browser.

# %%
page = RUNS / "report.html"
command = [
    sys.executable,
    "-m",
    "textcraft_gym",
    "report",
    str(RUNS / "react"),
    str(RUNS / "adapt"),
    "--out",
    str(page),
]
print(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split(" to ")[0])

# %% [markdown]
# ## Recheck
#
# Every recorded action is played again, and all that follows from it is compared: the model is not
# asked.

# %%
command = [sys.executable, "-m", "textcraft_gym", "verify", str(RUNS / "adapt")]
print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
