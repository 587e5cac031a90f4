"""The dialogues that a language model learns from are true: every answer is the game's, and every
claim holds."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import groupby, islice, pairwise

import crafter
import dialogue
import gates
import gymnasium as gym
import pytest
import textcraft as data
from dialogue import Branch, Example, Span

from tests.examples.conftest import EXAMPLES
from tests.examples.dialogues import branches, learns_only_the_players_lines, turns
from textcraft_gym.agents.adapt.reflexion import ReflexionAgent
from textcraft_gym.agents.adapt.step_plan import parse_plan
from textcraft_gym.agents.games import TEXTCRAFT
from textcraft_gym.agents.games.crafting import read_crafts, read_held
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.textcraft.tasks import find_task, split_tasks
from textcraft_gym.recipes.book import RecipeBook, name_of_ingredient
from textcraft_gym.recipes.splits import paper_splits
from textcraft_gym.task import task_hash

EXAMPLE_COUNT = 200
KINDS = {
    "goal",
    "sub-task",
    "kind",
    "get",
    "impossible",
    "stuck",
    "next trial",
    "plan",
    "full plan",
    "reflection",
}
AGENTS = {"plan": "adapt", "full plan": "plan_and_execute", "reflection": "reflexion"}
"""The agent whose prompt a kind of dialogue begins with; of the others it is ReAct's, the
executor's."""


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


def task_of(branch: Branch) -> str:
    return branch.text.split("Goal: ")[1].split(".\n")[0]


def wanted(branch: Branch) -> tuple[int, str]:
    """Return the amount and the name that a task asks for."""
    _, words = task_of(branch).split(" using ")[0].split(" ", 1)
    amount, _, name = words.partition(" ")
    return (int(amount), name) if amount.isdigit() else (1, words)


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 20)) == list(islice(data.examples(3), 20))
    assert next(iter(data.examples(3))) != next(iter(data.examples(4)))


def test_examples__have_every_kind_of_dialogue(examples: list[Example]):
    kinds = {branch.kind for example in examples for branch in example.branches}
    assert kinds == KINDS


def test_prompts__are_those_that_the_agents_send(examples: list[Example]):
    for example, branch in branches(examples, *KINDS):
        prompt = branch.spans[0].text
        match = re.search(
            r"^(?:Inventory: |From an earlier trial: ).*?(?=\n>|\n+What you did:)",
            prompt,
            re.S | re.M,
        )
        trial = (
            prompt.split("What you did:\n")[1].removesuffix("\n\nReflection:")
            if branch.kind == "reflection"
            else ""
        )
        template = Prompts("short").of(AGENTS.get(branch.kind, "react"), "textcraft")
        filled = template.fill(
            situation=example.situation,
            task=task_of(branch),
            information=match[0] if match else "",
            transcript=trial,
        )
        assert example.situation + prompt == filled, branch.kind


def test_trials__read_what_was_learnt_as_reflexion_writes_it(examples: list[Example]):
    kinds = Counter()
    for _, branch in branches(examples, "next trial", "reflection"):
        prompt = branch.spans[0].text.partition("What you did:")[0]
        earlier = [text.strip(" \n>") for text in prompt.split("From an earlier trial: ")[1:]]
        assert ReflexionAgent(TEXTCRAFT)._learned(earlier) in prompt
        assert all("New plan:\nStep 1: " in text for text in earlier)
        kinds[branch.kind, len(earlier)] += 1
    assert {1, 2} <= {number for kind, number in kinds if kind == "next trial"}
    assert {0, 1, 2} == {number for kind, number in kinds if kind == "reflection"}


def test_trials__that_failed_end_as_the_player_ends_them(examples: list[Example]):
    for _, branch in branches(examples, "reflection"):
        assert "> think: Failed three times. task failed!\n\nReflection:" in branch.text
        assert len(branch.spans[1].text) <= dialogue.LONGEST_REFLECTION + 1


def test_examples__what_is_learnt_are_the_players_lines_only(examples: list[Example]):
    for _, branch in branches(examples, *KINDS):
        assert learns_only_the_players_lines(branch), branch.text


def test_executor__every_answer_is_the_environments(examples: list[Example]):
    """Plays the whole goals of Minecraft's recipes again, in the registered environment."""
    env = gym.make("TextCraft-v0", split="all")
    book = env.unwrapped.book
    played = 0
    for _, branch in branches(examples, "goal"):
        item = book.ids.get(task_of(branch).removeprefix("craft "))
        if item not in book.recipes:
            continue
        env.reset(seed=0, options={"task": item})
        won = False
        for line, answer, _ in turns(branch):
            if not line.startswith("think:"):
                observation, _, won, _, _ = env.step(line)
                assert observation == answer
        assert won
        played += 1
    assert played > 10


def test_executor__claims_completion_only_of_what_is_held(examples: list[Example]):
    for _, branch in branches(examples, "sub-task", "get"):
        if not branch.text.endswith("Task completed!\n"):
            continue
        amount, item = wanted(branch)
        held = read_held(branch.spans[0].text)
        for line, answer, _ in turns(branch):
            words = line.split(" using ")
            if answer.startswith("Got "):
                _, count, name = line.split(" ", 2)
                held[name] = held.get(name, 0) + int(count)
            elif answer.startswith("Crafted "):
                _, count, name = words[0].split(" ", 2)
                held[name] = held.get(name, 0) + int(count)
                for part in words[1].split(", "):
                    taken, name = part.split(" ", 1)
                    held[name] -= int(taken)
                    assert held[name] >= 0, branch.text
        assert held.get(item, 0) >= amount, branch.text


def test_executor__gives_up_only_what_nothing_gives(examples: list[Example]):
    for example, branch in branches(examples, "impossible"):
        last = turns(branch)[-1][0]
        assert last.endswith("task failed!")
        name = re.sub(r"^think: (Failed \w+( times)?\. )?", "", last).split(" cannot be got")[0]
        assert name not in read_crafts(example.situation).recipes
        assert turns(branch)[-2][1] == f"Could not find {name}"


def test_executor__mistakes_are_not_learnt_and_are_recovered_from(examples: list[Example]):
    wrong = [
        (learnt, branch)
        for _, branch in branches(examples, "goal", "sub-task")
        for _, answer, learnt in turns(branch)
        if answer.startswith("Could not")
    ]
    assert len(wrong) > 10
    assert not [branch.text for learnt, branch in wrong if learnt]


def test_executor__looks_at_what_it_holds_after_a_craft_that_lacked_something(
    examples: list[Example],
):
    looked = 0
    for _, branch in branches(examples, "goal", "sub-task"):
        played = [turn for turn in turns(branch) if not turn[0].startswith("think:")]
        for (_, answer, _), (line, _, learnt) in pairwise(played):
            if answer.startswith("Could not find enough") and learnt:
                assert line == "inventory"
                looked += 1
    assert looked > 10


def test_executor__counts_failures_since_something_was_crafted_and_gives_up_after_three(
    examples: list[Example],
):
    ends = set()
    for _, branch in branches(
        examples, "goal", "next trial", "sub-task", "get", "impossible", "stuck"
    ):
        failures, is_told = 0, True
        for line, answer, _ in turns(branch):
            if line.startswith("think:") and not is_told:
                assert line.startswith(
                    f"think: {('', 'Failed once.', 'Failed twice.', 'Failed three times.')[failures]} "
                )
                assert (failures == 3) <= line.endswith("task failed!"), branch.text
                is_told = True
                ends.add(failures)
            elif line.startswith("think:"):
                assert "Failed" not in line
            elif answer.startswith("Could not"):
                assert is_told, branch.text
                failures, is_told = failures + 1, False
            elif answer.startswith("Crafted"):
                failures = 0
        assert is_told
    assert ends == {1, 2, 3}


def test_executor__looks_at_what_it_made_after_many_crafts(examples: list[Example]):
    looked = set()
    for _, branch in branches(examples, "goal", "sub-task"):
        lines = turns(branch)
        crafts = 0
        for (line, answer, _), (after, inventory, _), *said in zip(
            lines, lines[1:], lines[2:], strict=False
        ):
            crafts = crafts + 1 if answer.startswith("Crafted") else crafts if " of " in line else 0
            if crafts >= 3 and "Inventory" in inventory:
                assert after == "inventory"
                assert re.search(r": Held: \D+ \d+ of \d+", said[0][0])
                looked.add(", so " in said[0][0])
    assert looked == {False, True}


def test_executor__reads_the_list_again_after_a_craft_that_no_command_allows(
    examples: list[Example],
):
    corrected = repeated = 0
    for example, branch in branches(examples, "goal", "sub-task", "kind"):
        lines = turns(branch)
        for (_, answer, _), (line, _, learnt) in pairwise(lines):
            if answer.startswith("Could not find a valid recipe") and learnt:
                for quoted in re.findall(r"The list has: (.+?)\. ", line):
                    for command in quoted.split("; "):
                        assert re.search(rf"^craft \d+ {command}$", example.situation, re.MULTILINE)
                        corrected += 1
        crafts = [line for line, answer, _ in lines if "valid recipe" in answer]
        repeated += len(crafts) > len(set(crafts))
        learnt_crafts = [line for line, answer, learnt in lines if learnt and "valid" in answer]
        assert not learnt_crafts, branch.text
    assert corrected > 20
    assert repeated


def test_executor__sees_when_a_command_makes_less_than_it_took_it_to_make(
    examples: list[Example],
):
    seen = 0
    for _, branch in branches(examples, "goal", "sub-task", "kind"):
        for line, _, learnt in turns(branch):
            if said := re.search(r"It makes (\d+), not (\d+)\. .* makes (\d+)\.", line):
                assert int(said[1]) < int(said[2])
                assert said[3] == said[1]
                assert learnt
                before = branch.text.partition(line)[0]
                assert re.search(rf"> craft {said[2]} .+\nCrafted {said[1]} ", before), branch.text
                seen += 1
    assert seen > 5


def test_executor__says_what_a_part_was_for_and_what_is_missing_still(examples: list[Example]):
    missing = set()
    for _, branch in branches(examples, "goal", "sub-task"):
        wanted = {("1", branch.text.split("Goal: craft ")[-1].split(".\n")[0])}
        for line, _, _ in turns(branch):
            if said := re.match(r"think: (?:[A-Z][^:]+\. )?(\d+) (\D+?):", line):
                wanted.add((said[1], said[2]))
            if said := re.match(r"think: Now (\d+) (\D+?): Held: ", line):
                assert (said[1], said[2]) in wanted, branch.text
                missing.add(", so " in line)
    assert missing == {False, True}


def test_executor__sees_by_the_inventory_what_it_took_for_held(examples: list[Example]):
    seen = 0
    for _, branch in branches(examples, "goal", "sub-task", "kind"):
        lines = turns(branch)
        for (now, _, learnt), (_, failure, _), (look, _, _), (again, _, then) in zip(
            lines, lines[1:], lines[2:], lines[3:], strict=False
        ):
            if now.startswith("think: Now ") and ", so " not in now and not learnt:
                assert failure.startswith("Could not find enough items")
                assert look == "inventory"
                assert again.startswith("think: Failed ")
                assert then
                seen += 1
    assert seen > 3


def test_executor__compares_numbers_that_stand_side_by_side(examples: list[Example]):
    kinds = set()
    for _, branch in branches(examples, "goal", "sub-task"):
        for line in (line for line, _, learnt in turns(branch) if learnt):
            said = line.partition("Held: ")[2].partition(".")[0] + ";"
            for held, needed, more in re.findall(r" (\d+) of (\d+)(?:, so (\d+) more)?;", said):
                assert int(needed) == int(held) + int(more) if more else int(held) >= int(needed), (
                    line
                )
                kinds.add(bool(more))
            if listed := re.search(r"makes (\d+)\.((?: \d+: \d+[,.])+) (\d+) times:", line):
                makes, times = int(listed[1]), int(listed[3])
                assert (
                    listed[2]
                    == f" {', '.join(f'{time}: {time * makes}' for time in range(1, times + 1))}."
                ), line
                kinds.add("listed")
    assert kinds == {False, True, "listed"}


def test_executor__says_of_each_part_what_the_inventory_has_and_of_an_absent_one_nothing(
    examples: list[Example],
):
    counts = {"held": 0, "absent": 0}
    for _, branch in branches(examples, "goal", "sub-task"):
        for (_, inventory, _), (line, _, learnt) in pairwise(turns(branch)):
            if (
                inventory.startswith("Inventory:")
                and learnt
                and (said := re.search(r"Held: ([^.]*)\.", line))
            ):
                held = read_held(inventory)
                for name, count in re.findall(r"(?:^|; )(\D+) (\d+) of ", said[1]):
                    assert held.get(name, 0) == int(count), (line, inventory)
                    counts["held" if int(count) else "absent"] += 1
    assert min(counts.values()) > 5, counts


def test_executor__says_after_each_third_craft_how_many_they_were(examples: list[Example]):
    said = set()
    for _, branch in branches(examples, "goal", "sub-task"):
        lines = turns(branch)
        for (_, answer, _), (line, _, _) in pairwise(lines):
            if counted := re.fullmatch(r"think: (\d+) of (\d+)\.", line):
                assert answer.startswith("Crafted"), branch.text
                assert int(counted[1]) % 3 == 0 < int(counted[1]) <= int(counted[2])
                said.add(counted[1] == counted[2])
        answers = [answer for line, answer, _ in lines if not line.startswith("think:")]
        runs = [len([*same]) for answer, same in groupby(answers) if answer.startswith("Crafted")]
        assert max(runs, default=0) <= 3 or "think: 3 of " in branch.text, branch.text
    assert said == {False, True}


def test_executor__claims_a_kind_when_so_many_of_one_item_of_it_are_crafted():
    rng = random.Random(2)
    claims = 0
    for situation in islice(data.Situation.drawn(rng), 80):
        kinds = {
            name_of_ingredient(slot.ingredient): slot.ingredient
            for recipe in situation.shown
            for slot in recipe.slots
        }
        for branch in situation.example(rng).branches:
            if branch.kind == "kind" and branch.text.endswith("Task completed!\n"):
                amount, kind = wanted(branch)
                crafted = Counter[str]()
                for _, answer, _ in turns(branch):
                    if answer.startswith("Crafted "):
                        _, count, item = answer.split()
                        crafted[item] += int(count)
                assert max(crafted[item] for item in situation.book.members[kinds[kind]]) >= amount
                claims += 1
    assert claims > 10


def test_executor__thoughts_say_of_each_part_whether_a_command_makes_it(examples: list[Example]):
    ways = set()
    for example, branch in branches(examples, "goal", "plan"):
        listed = read_crafts(example.situation).recipes
        for name, way in re.findall(r"\d+ ([^,()]+) \((get|craft)\)", branch.spans[1].text):
            if name in listed or name in RecipeBook.load().ids:
                assert way == ("craft" if name in listed else "get")
                ways.add(way)
    assert ways == {"get", "craft"}


def test_tasks__none_is_a_goal_of_the_test_split(examples: list[Example]):
    book = RecipeBook.load()
    test = {book.names[item] for item in paper_splits(book)["test"]}
    for example, branch in branches(examples, *KINDS - {"get"}):
        _, name = wanted(branch)
        if read_crafts(example.situation).recipes.keys() <= book.ids.keys():
            assert name not in test


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tasks__none_has_the_hash_of_a_goal_of_the_test_split(
    seed: int, monkeypatch: pytest.MonkeyPatch
):
    """Of the seeds of the experiment, and of all books: a hash is of the goal and of every command
    of its tree."""
    situations: list[data.Situation] = []
    make = data.Situation.example
    monkeypatch.setattr(
        data.Situation, "example", lambda self, rng: situations.append(self) or make(self, rng)
    )
    drawn = [*islice(data.examples(seed), EXAMPLE_COUNT // 2)]
    books = {id(situation.book): situation.book for situation in situations}
    test = {task_hash("TextCraft-v0", task) for task in split_tasks(RecipeBook.load(), "test")}
    learnt: set[str] = set()
    for situation, example in zip(situations, drawn, strict=True):
        names = {wanted(branch)[1] for branch in example.branches}
        items = {situation.book.ids[name] for name in names & situation.book.ids.keys()} | {
            situation.goal
        }
        crafted = [item for item in items if item in situation.book.recipes]
        learnt |= {task_hash("TextCraft-v0", find_task(situation.book, item)) for item in crafted}
    assert len(test) == 200
    assert len(learnt) > len(drawn)
    assert len(books) > 30
    assert not learnt & test


def test_tasks__a_name_that_is_mixed_of_two_is_no_goal_of_the_test_split():
    book = RecipeBook.load()
    test = {book.names[item] for item in paper_splits(book)["test"]}
    situation = next(
        drawn for drawn in data.Situation.drawn(random.Random(0)) if drawn.book is book
    )
    rng = random.Random(0)
    attempts = [branch for _ in range(3000) if (branch := situation.impossible(rng))]
    assert len(attempts) > 1000
    assert not test & {wanted(branch)[1] for branch in attempts}


def test_tasks__the_executors_are_of_depth_1_and_2():
    rng = random.Random(1)
    depths = set()
    for situation in islice(data.Situation.drawn(rng), EXAMPLE_COUNT):
        for branch in situation.example(rng).branches:
            name = wanted(branch)[1]
            if (
                branch.kind in ("goal", "sub-task", "impossible", "stuck", "full plan")
                and name in situation.book.ids
            ):
                depths.add(situation.book.depths[situation.book.ids[name]])
    assert depths == {1, 2}


def test_plans__are_read_by_the_agents_and_name_what_the_command_takes(examples: list[Example]):
    for example, branch in branches(examples, "plan"):
        plan = parse_plan(branch.spans[1].text)
        steps = [plan] if isinstance(plan, str) else list(plan.parts)
        comment, *_ = branch.spans[1].text.strip().splitlines()
        thought = re.sub(r" \((get|craft)\)", "", comment)
        command, _, makes = thought.split(": ", 1)[1].split(".")[0].partition(" makes ")
        assert f"craft {makes} {command}\n" in f"{example.situation}\n"
        assert len(steps) == command.count(",") + 2
        assert branch.end


def test_plans__begin_with_the_amount_that_is_asked_for(examples: list[Example]):
    using = 0
    for _, branch in branches(examples, "plan"):
        task, comment = task_of(branch), branch.spans[1].text.strip().removeprefix("# ")
        amount = re.match(r"(?:craft|get) (\d+) ", task)
        assert comment.startswith(f"{amount[1] if amount else 1} "), branch.text
        using += " using " in task
    assert using > 5


def test_writer__a_text_is_its_spans():
    branch = Branch("goal", (Span("Goal: x.\n>", False), Span(" get 1 x\n", True)))
    assert branch.text == "Goal: x.\n> get 1 x\n"


def test_situation__draws_books_for_training_only(monkeypatch: pytest.MonkeyPatch):
    seeds = set()
    make = data.made_book
    monkeypatch.setattr(
        data,
        "made_book",
        lambda seed, *arguments, **named: seeds.add(seed) or make(seed, *arguments, **named),
    )
    rng = random.Random(0)
    for _ in islice(data.Situation.drawn(rng), 60):
        pass
    assert len(seeds) > 10
    assert max(seeds) < data.TRAINING_SEEDS
    for book in (gates.UNKNOWN_BOOK, reward_book()):
        assert int(re.search(r"seed=(\d+)", book)[1]) >= data.TRAINING_SEEDS


def test_situation__of_the_made_goals_one_in_four_at_least_take_a_kind_that_a_command_makes():
    made = [
        situation
        for situation in islice(data.Situation.drawn(random.Random(1)), 250)
        if situation.forbidden == set()
    ]
    listed = [(situation.text, situation.book.names[situation.goal]) for situation in made]
    taking = 0
    for text, goal in listed:
        outputs = re.findall(r"^craft \d+ (.+) using", text, re.MULTILINE)
        last_words = {output.split()[-1] for output in outputs}
        parts = re.findall(rf"^craft \d+ {re.escape(goal)} using (.+)$", text, re.MULTILINE)
        names = {
            part.split(" ", 1)[1] for listed_parts in parts for part in listed_parts.split(", ")
        }
        taking += bool(names & last_words)
    assert len(made) > 100
    assert taking > len(made) / 4


def test_situation__of_the_made_books_many_have_broad_commands_and_names_that_are_much_alike():
    made = [
        situation
        for situation in islice(data.Situation.drawn(random.Random(2)), 150)
        if not situation.forbidden
    ]
    broad = [
        situation
        for situation in made
        if sum(len(recipe.slots) > 2 for recipe in situation.shown) > 2
    ]
    alike = [
        situation
        for situation in made
        if len({name.split()[0] for name in situation.book.names.values()})
        < 5
        < len(situation.book.names)
    ]
    assert len(broad) > len(made) / 5
    assert len(alike) > len(made) / 5
    for situation in alike[:5]:
        assert len(set(situation.book.names.values())) == len(situation.book.names)
        assert {len(name.split()) for name in situation.book.names.values()} == {4}


@pytest.mark.parametrize("style", [style for style in data.STYLES if style])
def test_made_book__of_another_style_has_the_same_recipes_with_other_names(style: str):
    book, alike = (
        data.made_book(7, 3, 80, "invented", 3, style=variant) for variant in ("", style)
    )
    assert len(alike.ids) == len(book.ids)
    if style == "nested":
        stems = [
            name for name in alike.ids if any(other.startswith(f"{name} ") for other in alike.ids)
        ]
        assert len(stems) > len(book.ids) / 5
    else:
        assert not set(alike.ids) & set(book.ids)
    assert sorted(book.depths.values()) == sorted(alike.depths.values())
    assert len(book.base_items) == len(alike.base_items)
    assert sorted(_shapes(book)) == sorted(_shapes(alike))
    assert {len(items) for items in book.members.values()} == {
        len(items) for items in alike.members.values()
    }


def _shapes(book: RecipeBook) -> list[tuple]:
    return [
        (recipe.makes, *(slot.amount for slot in recipe.slots))
        for recipes in book.recipes.values()
        for recipe in recipes
    ]


def test_thoughts__that_are_long_go_on_in_the_next_turn_with_a_whole_sentence():
    sentences = [f"{number} {'x' * 120}." for number in range(6)]
    thought = " ".join(sentences)
    assert crafter.turns(thought) == [" ".join(sentences[at : at + 2]) for at in (0, 2, 4)]
    assert crafter.turns("Failed once. task failed!") == ["Failed once. task failed!"]


def test_executor__that_gave_up_after_a_mistake_that_was_none_is_not_learnt():
    situation = next(data.Situation.drawn(random.Random(0)))
    for failed in (False, True):
        player = situation.crafter(random.Random(0), "craft a thing")
        player.failed = failed
        assert (player.give_up("impossible", "It cannot be had.") is None) == failed


def reward_book() -> str:
    """Return the book of the example that learns from rewards, which cannot be imported without
    PyTorch."""
    text = (EXAMPLES / "language_model" / "reward.py").read_text(encoding="utf-8")
    return re.search(r'^BOOK = "(.*)"', text, re.MULTILINE)[1]
