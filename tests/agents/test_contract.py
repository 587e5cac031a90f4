from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.autoplan.autoplan import AutoPlanAgent
from textcraft_gym.agents.contract.agent import EpisodeOver, Play, Routine
from textcraft_gym.agents.contract.model import Message, prompt_messages, prompt_text
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.games import ALFWORLD, MINETECHTREE, TEXTCRAFT, WEBSHOP
from textcraft_gym.agents.lats.lats import LATSAgent
from textcraft_gym.agents.lats.tree_of_thoughts import TreeOfThoughtsAgent
from textcraft_gym.agents.registry import AGENTS, make_agent
from textcraft_gym.testing import AgentContract


class Named(AgentContract):
    """An agent of the suite, by its name."""

    name: str

    def make_agent(self):
        return make_agent(self.name, profile=TEXTCRAFT)


class TestExpert(Named):
    name = "expert"


class TestRandom(Named):
    name = "random"


class TestRandomText(Named):
    name = "random_text"


HOUSEHOLDS = (
    "pick_and_place_simple-KeyChain-None-Drawer-306/trial_00601",
    "look_at_obj_in_light-Bowl-None-DeskLamp-326/trial_00605",
    "pick_clean_then_place_in_recep-Cloth-None-Cabinet-420/trial_00609",
    "pick_heat_then_place_in_recep-Plate-None-Fridge-25/trial_00613",
    "pick_cool_then_place_in_recep-Apple-None-GarbageCan-11/trial_00617",
    "pick_two_obj_and_place-Book-None-Shelf-203/trial_00621",
)
PURCHASES = ("500-B0L7PGCZ57", "750-B0SR72X5M4", "1000-B0704GGV2W", "1250-B08SG1KMV6")


class TestRepeater(Named):
    name = "repeater"
    env_id = "Tabletop-v0"
    tasks = ("stack-block-pyramid/0", "assembling-kits/1", "towers-of-hanoi/2")


class TestExplorer(Named):
    name = "explorer"
    env_id = "ALFWorld-v0"
    tasks = HOUSEHOLDS


class TestNaiveBuyer(Named):
    name = "naive_buyer"
    env_id = "WebShopLite-v0"
    tasks = PURCHASES


class TestReAct(Named):
    name = "react"


class TestADaPTInAHousehold(AgentContract):
    env_id = "ALFWorld-v0"
    tasks = HOUSEHOLDS

    def make_agent(self):
        return make_agent("adapt", profile=ALFWORLD)


class TestADaPTInAShop(AgentContract):
    env_id = "WebShopLite-v0"
    tasks = PURCHASES

    def make_agent(self):
        return make_agent("adapt", profile=WEBSHOP)


class InATechTree(AgentContract):
    """An agent of the suite, by its name, in the world of the tech tree."""

    env_id = "MineTechTree-v0"
    tasks = ("bowl", "leather_boots", "iron_pickaxe", "oak_boat+chest")
    name: str

    def make_agent(self):
        return make_agent(self.name, profile=MINETECHTREE)


class TestADaPTInATechTree(InATechTree):
    name = "adapt"


class TestDEPSInATechTree(InATechTree):
    name = "deps"


class TestDEPSThatGoesToTheNearest(InATechTree):
    def make_agent(self):
        return DEPSAgent(MINETECHTREE, selector="nearest")


class TestCodeAsPoliciesInATechTree(InATechTree):
    name = "code_as_policies"


class TestAdaPlanner(Named):
    name = "adaplanner"


class TestAdaPlannerInAHousehold(AgentContract):
    env_id = "ALFWorld-v0"
    tasks = HOUSEHOLDS

    def make_agent(self):
        return make_agent("adaplanner", profile=ALFWORLD)


class TestAdaPlannerInATechTree(InATechTree):
    name = "adaplanner"


class TestADaPT(Named):
    name = "adapt"


class TestADaPTWithReplay(AgentContract):
    def make_agent(self):
        return ADaPTAgent(TEXTCRAFT, rollback="replay")


class TestAutoPlan(Named):
    name = "autoplan"


class TestAutoPlanThatReflects(AgentContract):
    def make_agent(self):
        return AutoPlanAgent(TEXTCRAFT, plan="1. Craft.\n", reflect="full")


class TestPlanAndExecute(Named):
    name = "plan_and_execute"


class TestLATS(Named):
    name = "lats"

    def make_agent(self):
        return make_agent(
            self.name, profile=TEXTCRAFT, args={"iterations": 2, "samples": 2, "root_samples": 3}
        )


class TestLATSWithReplay(AgentContract):
    def make_agent(self):
        return LATSAgent(TEXTCRAFT, iterations=2, samples=2, root_samples=2, rollback="replay")


class TestLATSInAShop(AgentContract):
    env_id = "WebShopLite-v0"
    tasks = PURCHASES

    def make_agent(self):
        return LATSAgent(WEBSHOP, iterations=2, samples=2, root_samples=3)


class TestTreeOfThoughts(Named):
    name = "tree_of_thoughts"

    def make_agent(self):
        return make_agent(self.name, profile=TEXTCRAFT, args={"samples": 2, "width": 2})


class TestTreeOfThoughtsInDepth(AgentContract):
    env_id = "ALFWorld-v0"
    tasks = HOUSEHOLDS

    def make_agent(self):
        return TreeOfThoughtsAgent(ALFWORLD, order="depth", samples=2, settings=Settings(turns=6))


class TestBestOfN(Named):
    name = "best_of_n"


class TestTryAgain(Named):
    name = "try_again"


class TestDEPS(Named):
    name = "deps"


class TestDEP(Named):
    name = "dep"


class TestZeroShot(Named):
    name = "zero_shot"


class TestChainOfThought(Named):
    name = "chain_of_thought"


class TestInnerMonologue(Named):
    name = "inner_monologue"


class TestProgPrompt(Named):
    name = "progprompt"


class TestCodeAsPolicies(Named):
    name = "code_as_policies"


class TestReflexion(Named):
    name = "reflexion"


class TestAnAgentThatDoesNotKnowTheGame(AgentContract):
    def make_agent(self):
        return make_agent("adapt")


class TestAFunction(AgentContract):
    def make_agent(self):
        return lambda observation, info: "inventory"


def test_contract__is_tested_for_every_agent():
    assert {agent.name for agent in Named.__subclasses__()} == set(AGENTS)


class Keeping:
    """Plays as often as it ever played."""

    played = 0

    def episode(self, play: Play) -> Routine:
        type(self).played += 1
        for _ in range(self.played):
            yield from play.act("inventory")
        return None


class Deaf:
    def episode(self, play: Play) -> Routine:
        while True:
            with suppress(EpisodeOver):
                yield from play.act("inventory")


class Credulous:
    """Takes a model's every word for JSON."""

    def episode(self, play: Play) -> Routine:
        completion = yield from play.ask("?")
        return bool(json.loads(completion.text))


@pytest.mark.parametrize(
    ("agent", "broken"),
    [
        (Keeping, {"plays_the_same_again", "keeps_nothing_of_one_episode_for_another"}),
        (Deaf, {"stops_when_its_steps_are_spent", "ends_and_says_whether_it_succeeded"}),
        (Credulous, {"bears_whatever_a_model_says"}),
        (lambda: lambda observation, info: info["secret"], {"plays_in_a_foreign_world"}),
    ],
)
def test_contract__fails_for_an_agent_that_breaks_it(agent, broken):
    class Contract(AgentContract):
        def make_agent(self):
            return agent()

    contract = Contract()
    tests = {
        name.removeprefix("test_agent__"): name
        for name in dir(contract)
        if name.startswith("test_agent__")
    }
    assert broken <= set(tests)
    for test in broken:
        with pytest.raises(AssertionError):
            getattr(contract, tests[test])()


def test_prompt__takes_messages_in_openais_form():
    prompt: Any = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
    assert prompt_messages(prompt) == (Message("system", "a"), Message("user", "b"))
    assert prompt_text(prompt) == "a\n\nb"
