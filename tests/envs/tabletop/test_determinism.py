"""The same bytes whatever the hash seed and the order of play; and the same as ever."""

from __future__ import annotations

import pytest

from tests.hash_seeds import printed

PLAY = """
import hashlib, json, sys
import gymnasium as gym
import textcraft_gym
from textcraft_gym.envs.tabletop.state import KINDS

env = gym.make("Tabletop-v0", split="all", admissible=True, expert=True, reliability="cliport")
tasks = sorted(env.get_wrapper_attr("tasks"), key=lambda task: KINDS.index(task.group))
tasks = [task.id for task in tasks][::5]
played = []
for task in tasks[:: int(sys.argv[1])]:
    text, info = env.reset(seed=7, options={"task": task})
    said = [task, text, info["expert_plan"]]
    while info["expert_plan"]:
        observation, reward, _, _, info = env.step(info["expert_plan"][0])
        said += [observation, reward, info["admissible_commands"], env.unwrapped.picture()]
    played.append(said)
print(hashlib.sha256(json.dumps(sorted(played)).encode()).hexdigest())
"""
GOLDEN = "013d9de524bb671e2b2f13ce550c48b2ea45de9e9fa5b51948dc84076b79f448"
"""A new digest is a new version of the environment, unless only the picture has changed."""


@pytest.mark.parametrize(("hash_seed", "direction"), [(0, "1"), (4242, "-1")])
def test_all_tasks__read_alike_in_any_process_and_order(hash_seed, direction):
    assert printed(hash_seed, PLAY, direction) == GOLDEN
