"""The same bytes whatever the hash seed and the order of play; and the same as ever."""

from __future__ import annotations

import pytest

from tests.hash_seeds import printed

PLAY = """
import hashlib, json, sys
import gymnasium as gym
import textcraft_gym

env = gym.make("MineTechTree-v0", split="all", admissible=True, expert=True)
tasks = [task.id for task in env.get_wrapper_attr("tasks")] + ["oak_boat+chest", "white_bed+cooked_mutton+torch"]
played = []
for task in tasks[:: int(sys.argv[1])]:
    text, info = env.reset(seed=7, options={"task": task})
    said = [task, text, info["expert_plan"]]
    while not info["won"]:
        observation, _, _, _, info = env.step(info["expert_plan"][0])
        said += [observation, info["ticks"], info["admissible_commands"]]
    played.append(said)
print(hashlib.sha256(json.dumps(sorted(played)).encode()).hexdigest())
"""
GOLDEN = "09977745b3fb8a451973850c94fdde6590cf589d99f21c0c4603a8a86f6a56c7"
"""A new digest is a new version of the environment, unless only plans that tie or what is
admissible have changed."""


@pytest.mark.parametrize(("hash_seed", "direction"), [(0, "1"), (4242, "-1")])
def test_all_tasks__read_alike_in_any_process_and_order(hash_seed, direction):
    assert printed(hash_seed, PLAY, direction) == GOLDEN
