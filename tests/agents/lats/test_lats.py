"""LATS on small trees, by hand, and in a toy world where the greedy way fails."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, replace
from itertools import cycle
from typing import Any

import gymnasium as gym
import pytest

from tests.agents.lats.keys import IRON, Gambler, KeysEnv, OneWayKeysEnv
from textcraft_gym import run_episode
from textcraft_gym.agents.contract.game_profile import DEFAULT
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.lats.best_of_n import BestOfNAgent
from textcraft_gym.agents.lats.branches import Branch, best, describe, read_score, uct
from textcraft_gym.agents.lats.lats import LATSAgent, backpropagate, select
from textcraft_gym.agents.lats.tree_of_thoughts import TreeOfThoughtsAgent
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.episodes.episode import Episode
from textcraft_gym.errors import Unsupported
from textcraft_gym.verify.replay import REPLAYED, RecordedActions

SMALL: dict[str, Any] = {
    "iterations": 20,
    "samples": 5,
    "root_samples": 3,
    "settings": Settings(lookahead=3, turns=4),
}


def grown(parent: Branch, action: str, **values: Any) -> Branch:
    child = Branch(parent, action=action)
    for name, value in values.items():
        setattr(child, name, value)
    parent.children.append(child)
    return child


def played(agent: Any, env: gym.Env | None = None, model: Any = None, **bounds: Any) -> Episode:
    return run_episode(env or KeysEnv(), agent, seed=0, model=model or Gambler(), **bounds)


def solved_actions(episode: Episode) -> list[str | None]:
    """Return the actions from the root to the last step, by the branches of the record."""
    parents = dict(episode.restores)
    way: list[str | None] = []
    index = len(episode.transcript) - 1
    while index > 0:
        if index in parents:
            index = parents[index]
            continue
        way.append(episode.transcript[index][0])
        index -= 1
    return way[::-1]


def test_uct__by_hand_on_three_nodes():
    root = Branch(visits=5, value=0.3)
    often, seldom = grown(root, "a", visits=4, value=0.5), grown(root, "b", visits=1, value=0.1)
    assert uct(often) == pytest.approx(0.5 + math.sqrt(2 * math.log(5) / 4))  # 1.397
    assert uct(seldom) == pytest.approx(0.1 + math.sqrt(2 * math.log(5)))  # 1.894
    assert round(uct(often), 3) == 1.397
    assert round(uct(seldom), 3) == 1.894
    assert select(root) is seldom
    assert uct(grown(root, "c", value=0.0)) == math.inf
    assert uct(grown(root, "d", value=-1.0)) == -1.0
    assert select(root).action == "c"


def test_backpropagate__keeps_the_mean_of_the_rewards_up_to_the_root():
    root = Branch()
    child = grown(root, "a", value=0.9)
    leaf = grown(child, "b", value=1.0)
    for reward in (1.0, -0.5, 0.25):
        backpropagate(leaf, reward)
    backpropagate(child, 0.5)
    assert (leaf.visits, child.visits, root.visits) == (3, 4, 4)
    assert leaf.value == pytest.approx(0.25)
    assert child.value == root.value == pytest.approx(1.25 / 4)


def test_select__closes_what_has_ended_and_backs_up():
    root = Branch(visits=2)
    ended = grown(root, "a", visits=1)
    grown(ended, "x", terminal=True)
    grown(ended, "y", terminal=True)
    left = grown(root, "b", visits=1, value=-0.9)
    assert select(root) is left
    assert ended.closed
    left.terminal = True
    assert select(root) is None
    assert root.closed
    assert select(Branch(terminal=True)) is None


def test_evaluate__gives_each_child_its_own_judgement_beside_one_that_has_ended():
    """The judgements do not slip to the child that has ended, which comes before all others."""
    agent = LATSAgent()
    root = Branch()
    children = [grown(root, "a", terminal=True), grown(root, "b"), grown(root, "c")]
    scores = {"b": 0.2, "c": 0.8}

    class Judge:
        def judge(self, node: Branch):
            return scores[node.action]
            yield

    for _ in agent.evaluate(Judge(), children):  # type: ignore[arg-type]
        raise AssertionError
    assert [child.value for child in children] == pytest.approx([1.8 / 0.8, 0.25, 1.0])


def test_best__is_solved_before_rewarded_before_ended():
    root = Branch()
    nodes = [
        root,
        grown(root, "a", terminal=True),
        grown(root, "b", terminal=True, reward=0.5),
        grown(root, "c"),
    ]
    assert best(nodes[:2]) is nodes[1]
    assert best(nodes) is nodes[2]
    nodes.append(grown(root, "d", terminal=True, solved=True, reward=0.4))
    assert best(nodes) is nodes[4]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("The score is 7.", 0.7),
        ("It costs 10 dollars. The score is 3.", 0.3),
        ("The score is 10", 1.0),
        ("A score of 2 was too low; the score is 9.", 0.9),
        ("The correctness score: 4", 0.4),
        ("10", -1.0),
        ("", -1.0),
        ("the score is 0", -1.0),
        ("score 100", -1.0),
    ],
)
def test_read_score__takes_the_number_after_the_word(text, score):
    assert read_score(text) == score


def test_lats__succeeds_where_the_greedy_way_fails():
    greedy = played(LATSAgent(**{**SMALL, "iterations": 1, "samples": 1, "root_samples": 1}))
    assert (greedy.won, greedy.reward, greedy.claimed_success) == (False, 0.0, False)
    episode = played(LATSAgent(**SMALL))
    assert (episode.won, episode.reward, episode.claimed_success, episode.stop_reason) == (
        True,
        1.0,
        None,
        "terminated",
    )
    assert solved_actions(episode) == IRON
    assert set(episode.calls) == {"executor", "judge", "reflection"}
    assert (episode.k_max, episode.trace.children[0].role, episode.trace.children[0].outcome) == (
        1,
        "search",
        None,
    )


def test_lats__tells_later_prompts_what_failed():
    model = Gambler()
    played(LATSAgent(**SMALL), model=model)
    reflected = next(
        index for index, text in enumerate(model.asked) if text.endswith("Reflection:")
    )
    later = [text for text in model.asked[reflected + 1 :] if text.endswith("Judgement:")]
    sampled = [
        text for text in model.asked[reflected + 1 :] if "Thought" in text.rpartition("\n")[2]
    ]
    assert sampled
    assert all("From an earlier trial: I should not take gold." in text for text in sampled)
    assert all("I should not take gold.\nThe score is 1." in text for text in later)
    assert "earlier trial" not in "".join(model.asked[:reflected])


def test_lats__draws_its_tree_with_the_chosen_way():
    episode = played(LATSAgent(**SMALL))
    (tree,) = [node for node in episode.trace.children if node.task.startswith("search tree")]
    chosen = [node for node in tree.walk() if node.role == "chosen branch"]
    assert [node.task.partition(":")[0] for node in chosen[1:]] == IRON
    assert [node.depth for node in chosen] == [0, 1, 2, 3]
    assert (chosen[-1].outcome, chosen[0].outcome) == (True, None)
    assert {node.role for node in tree.walk()} == {"chosen branch", "branch", "simulated branch"}
    assert sum(1 for _ in tree.walk()) - 1 == episode.steps
    assert "UCT" in chosen[1].task


def test_describe__says_what_a_node_came_to():
    root = Branch(visits=2, value=0.25)
    node = grown(root, "look", visits=1, value=0.5)
    assert describe(root) == "search tree of 1 actions, visits 2, value 0.25"
    assert describe(node) == f"look: visits 1, value 0.50, UCT {uct(node):.2f}"
    node.terminal, node.reward = True, 0.5
    assert describe(node) == "look: visits 1, value 0.50, reward 0.5"


def test_lats__keeps_one_child_of_equal_actions():
    episode = played(LATSAgent(**{**SMALL, "iterations": 1}), model=Gambler(("take gold",)))
    assert [action for action, _ in episode.transcript[:2]] == [None, "take gold"]
    assert not any(origin == 0 for _, origin in episode.restores)


def test_lats__stops_when_every_way_has_ended():
    episode = played(
        LATSAgent(iterations=30, samples=2, root_samples=2),
        model=Gambler(("open door", "task failed!")),
    )
    assert (episode.won, episode.claimed_success, episode.stop_reason) == (
        False,
        False,
        "terminated",
    )
    assert episode.steps == 1
    assert episode.calls["executor"] == 2


def test_lats__cuts_the_tree_at_its_depth():
    episode = played(
        LATSAgent(**{**SMALL, "settings": Settings(lookahead=3, turns=2), "iterations": 30}),
        model=Gambler(("wait", "take gold")),
    )
    (tree,) = [node for node in episode.trace.children if node.task.startswith("search tree")]
    assert max(node.depth for node in tree.walk()) == 2
    assert not episode.won
    visited = [node.task for node in tree.walk() if node.depth == 2 and "visits 0" not in node.task]
    assert visited
    assert all(
        "value -0.50" in task for task in visited
    )  # what comes to no end counts less than what fails


def test_lats__goes_on_after_an_invalid_action():
    episode = played(LATSAgent(**{**SMALL, "iterations": 1}), model=Gambler(("jump", "wait")))
    assert ("jump", "Nothing happens.") in episode.transcript
    assert episode.error is None


def test_lats__without_an_action_in_any_sample_gives_up():
    class Mute(Gambler):
        def _answer(self, prompt, index):
            return Completion("I cannot.")

    episode = played(LATSAgent(**SMALL), model=Mute())
    assert (episode.steps, episode.won, episode.claimed_success) == (0, False, False)


def test_lats__is_refused_by_name_where_the_world_cannot_go_back_and_replays_by_choice():
    with pytest.raises(Unsupported, match=r"OneWayKeysEnv offers no snapshot.*rollback=replay"):
        played(LATSAgent(**SMALL), OneWayKeysEnv())
    snapshots, replays = (
        played(LATSAgent(**SMALL)),
        played(LATSAgent(**SMALL, rollback="replay"), OneWayKeysEnv()),
    )
    assert (replays.won, replays.restores) == (True, [])
    assert replays.trials > 1
    assert replays.steps > snapshots.steps
    assert replays.calls == snapshots.calls


AGENTS = {
    "lats": lambda: LATSAgent(**{**SMALL, "iterations": 4}),
    "lats with replay": lambda: LATSAgent(**{**SMALL, "iterations": 3}, rollback="replay"),
    "breadth": lambda: TreeOfThoughtsAgent(samples=5, width=2, settings=Settings(turns=4)),
    "depth": lambda: TreeOfThoughtsAgent(order="depth", samples=5, settings=Settings(turns=4)),
    "best_of_n": lambda: BestOfNAgent(n=3, settings=Settings(turns=4)),
}


@pytest.mark.parametrize("name", AGENTS)
def test_search__ends_wherever_a_budget_is_spent_with_a_true_record(name):
    whole = played(AGENTS[name]())
    calls = sum(whole.calls.values())
    bounds = [{"max_steps": steps} for steps in range(1, whole.steps)]
    bounds += [{"max_calls": count} for count in range(calls)]
    ends = set()
    for bound in bounds:
        episode = played(AGENTS[name](), **bound)
        ends.add(episode.stop_reason)
        assert episode.error is None
        assert episode.steps <= bound.get("max_steps", whole.steps)
        assert sum(episode.calls.values()) <= bound.get("max_calls", calls)
        assert episode.claimed_success is bool(episode.won)
        assert any(node.task.startswith("search tree") for node in episode.trace.children)
        assert whole.transcript[: len(episode.transcript)] == episode.transcript
        again = run_episode(
            KeysEnv(), RecordedActions(episode.transcript, episode.restores), seed=0, max_steps=9999
        )
        assert again.transcript == episode.transcript
        assert all(
            getattr(again, field) == getattr(episode, field)
            for field in REPLAYED
            if field != "stop_reason"
        )
    assert "max_steps" in ends


def test_tree_of_thoughts__goes_by_judgements_alone():
    for order in ("breadth", "depth"):
        episode = played(
            TreeOfThoughtsAgent(order=order, samples=5, width=1, settings=Settings(turns=4))
        )
        assert (episode.won, episode.reward) == (False, 0.5), order  # the gold key is judged higher
        assert "reflection" not in episode.calls


def test_tree_of_thoughts__goes_back_in_depth_where_all_is_judged_too_low():
    class Doubting(Gambler):
        def _answer(self, prompt, index):
            answer = super()._answer(prompt, index)
            return (
                Completion("The score is 2.")
                if "Action 1: take gold\n" in prompt and "score" in answer.text
                else answer
            )

    episode = played(
        TreeOfThoughtsAgent(order="depth", samples=5, settings=Settings(turns=4), threshold=0.3),
        model=Doubting(),
    )
    first = [
        node for node in episode.trace.walk() if node.depth == 1 and node.role.endswith("branch")
    ]
    assert [(node.task.partition(":")[0], bool(node.children)) for node in first[:2]] == [
        ("take gold", False),
        ("take iron", True),
    ]


def test_best_of_n__attempts_up_to_n_times_and_stops_at_a_success():
    class Fickle(Gambler):
        """Takes another first action in each attempt."""

        attempts = 0

        def _answer(self, prompt, index):
            if prompt.endswith("Thought 1:"):
                self.attempts += 1
                return Completion(
                    "\nAction 1: take gold" if self.attempts < 3 else "\nAction 1: take iron"
                )
            turn = int(prompt.rpartition("Thought ")[2][:-1])
            way = (
                IRON if "take iron" in prompt.rpartition("Task:")[2] else ["take gold", "open door"]
            )
            return Completion(f" Then.\nAction {turn}: {way[turn - 1]}")

    episode = played(BestOfNAgent(n=5), model=Fickle())
    assert (episode.won, len(episode.restores), episode.steps, episode.reward) == (True, 2, 7, 1.0)
    assert not played(BestOfNAgent(n=2), model=Fickle()).won


@pytest.mark.parametrize(
    ("name", "argument", "wrong"),
    [
        ("lats", "iterations", 0),
        ("lats", "samples", 0),
        ("lats", "judgements", 0),
        ("lats", "reflection_tokens", -1),
        ("lats", "rollback", "reset"),
        ("lats", "temperature", 3),
        ("lats", "lookahead", 0),
        ("tree_of_thoughts", "order", "best"),
        ("tree_of_thoughts", "threshold", 2),
        ("tree_of_thoughts", "width", 0),
        ("best_of_n", "n", 0),
    ],
)
def test_search__refuses_wrong_arguments_by_name(name, argument, wrong):
    with pytest.raises(ValueError, match=f"expected.* {argument}.* got {wrong!r}"):
        make_agent(name, profile=DEFAULT, args={argument: wrong})


def test_lats__plays_the_same_with_the_same_samples():
    first, second = played(LATSAgent(**SMALL)), played(LATSAgent(**SMALL))
    assert asdict(first)["transcript"] == asdict(second)["transcript"]
    assert first == second


def test_reflections__are_on_what_earned_a_part_where_parts_are_rewarded():
    reflected = {}
    for partial_credit in (False, True):
        model = Gambler()
        played(
            LATSAgent(
                replace(DEFAULT, partial_credit=partial_credit), **{**SMALL, "root_samples": 4}
            ),
            model=model,
        )
        prompts = [text for text in model.asked if text.endswith("Reflection:")]
        reflected[partial_credit] = {
            re.findall(r"Action 1: (.+)", prompt)[-1] for prompt in prompts
        }
    assert "open door" in reflected[False]
    assert reflected[True]
    assert "open door" not in reflected[True]


class Talker:
    """Says a command, a thought alone, nonsense and the end, in turn."""

    def __init__(self) -> None:
        self.turns = cycle(
            (
                " I go.\nAction 1: take iron",
                " I think.",
                " I end.\nAction 1: task failed",
            )
        )

    def complete(self, prompt: Any, **how: Any) -> Completion:
        return Completion(next(self.turns))


def test_replies__without_an_action_held_no_command():
    agent = LATSAgent(**{**SMALL, "iterations": 1, "samples": 3, "root_samples": 3})
    episode = played(agent, model=Talker(), max_calls=3)
    assert episode.replies == {"asked": 3, "bare": 2, "no_command": 1}
