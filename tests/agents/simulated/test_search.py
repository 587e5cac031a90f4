"""The simulated model under a search: its samples differ, and it judges an attempt from its words."""

from __future__ import annotations

import re
from functools import cache

import pytest

from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.registration import game_profile, make

WORLDS = {"WebShopLite-v0": "test", "HotpotQA-v0": "dev", "TextCraft-v0": "test", "ALFWorld-v0": "valid_unseen"}
every_world = pytest.mark.parametrize("env_id", WORLDS)


@cache
def attempt(env_id: str, index: int) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """Return situation and task of one task, and the actions of its expert with their answers, but for the last."""
    env = make(env_id, split=WORLDS[env_id], expert=True)
    task = env.get_wrapper_attr("tasks")[index].id
    first, info = env.reset(seed=0, options={"task": task})
    played = []
    while len(info["expert_plan"]) > 1:
        action = info["expert_plan"][0]
        observation, *_, info = env.step(action)
        played.append((action, observation))
    return (*load_profile(game_profile(env_id)).read(first), tuple(played))


def turns(played: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(
        f"Thought {number}: I go on.\nAction {number}: {action}\nObservation {number}: {observation}"
        for number, (action, observation) in enumerate(played, 1)
    )


def asked(env_id: str, index: int, steps: int, *, sample: int = 0, temperature: float = 1.0) -> str:
    situation, task, played = attempt(env_id, index)
    head = Prompts().of("lats", game_profile(env_id)).fill(situation=situation, task=task, information="")
    prompt = "\n".join(filter(None, [head.rstrip("\n"), turns(played[:steps]), f"Thought {steps + 1}:"]))
    answer = SimulatedModel(span=9).complete(
        prompt, stop=(f"\nObservation {steps + 1}:",), max_tokens=300, temperature=temperature, sample=sample
    )
    return answer.text.rpartition(f"Action {steps + 1}: ")[2].lower()


def judged(env_id: str, index: int, played: tuple[tuple[str, str], ...], **faults: float) -> int:
    situation, task, _ = attempt(env_id, index)
    prompt = (
        Prompts()
        .of("lats_value", game_profile(env_id))
        .fill(situation=situation, task=task, information="", transcript=turns(played))
    )
    model = SimulatedModel(span=9, **faults)
    text = model.complete(prompt, stop=(), max_tokens=300, temperature=1.0, sample=3).text
    (score,) = re.findall(r"The score is (\d+)\.$", text)
    return int(score)


@every_world
def test_samples__differ_at_temperature_1_only(env_id):
    nodes = [(index, steps) for index in range(6) for steps in range(min(4, len(attempt(env_id, index)[2])))]
    sampled = {node: {asked(env_id, *node, sample=sample) for sample in range(10)} for node in nodes}
    greedy = {node: {asked(env_id, *node, sample=sample, temperature=0.0) for sample in range(10)} for node in nodes}
    assert {len(actions) for actions in greedy.values()} == {1}
    assert max(len(actions) for actions in sampled.values()) > 1
    assert all(actions for actions in sampled.values())
    again = {node: {asked(env_id, *node, sample=sample) for sample in range(10)} for node in nodes}
    assert again == sampled


def test_samples__in_the_shop_choose_among_listings_and_options():
    opened, clicked = set(), set()
    for index in range(8):
        _, _, played = attempt("WebShopLite-v0", index)
        for steps, (_, page) in enumerate(played, 1):
            actions = {asked("WebShopLite-v0", index, steps, sample=sample) for sample in range(20)}
            if "Total results" in page:
                opened.add(len([action for action in actions if re.fullmatch(r"click\[b0\w{8}\]", action)]))
            elif "[Buy Now]" in page:
                clicked.add(len(actions - {"click[features]"}))
    assert max(opened) > 1
    assert max(clicked) > 1


@every_world
def test_judgement__rises_as_the_expert_goes_on(env_id):
    rises = 0
    for index in range(6):
        played = attempt(env_id, index)[2]
        scores = [judged(env_id, index, played[:steps]) for steps in range(len(played) + 1)]
        assert all(1 <= score <= 10 for score in scores)
        rises += scores[-1] > scores[0]
        if len(played) > 1:
            assert scores[-1] >= scores[0]
    assert rises >= 3


@every_world
def test_judgement__is_turned_around_by_a_misjudgement_and_falls_by_a_refusal(env_id):
    played = attempt(env_id, 0)[2]
    right = judged(env_id, 0, played)
    assert judged(env_id, 0, played, misjudge=1.0) == 11 - right
    refusals = {
        "WebShopLite-v0": "Invalid action!",
        "HotpotQA-v0": "Could not find x.",
        "ALFWorld-v0": "Nothing happens.",
    }
    refused = (*played, ("jump", refusals.get(env_id, "Could not execute jump")))
    assert judged(env_id, 0, refused) <= max(1, right)
    assert judged(env_id, 0, (*played, ("task failed!", "The attempt ends here."))) == 1
