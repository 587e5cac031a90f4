"""The phrases in which pages state numbers, each with where its numbers come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from number_sources import (
    LOG,
    RESULTS,
    Number,
    Run,
    board,
    experiment,
    explanations,
    gate,
    gate_counts,
    gate_names,
    gate_success,
    gates,
    invalid,
    log_of,
    logged,
    packed,
    published,
    published_rows,
    published_wins,
    rewarded,
    shipped,
    stated,
    tasks,
    tested,
    trainings,
    won_in_all,
    wrong_purchases,
)
from overview import WORLDS

from textcraft_gym.envs.minetechtree.reliability import PUBLISHED, THREE_ORES
from textcraft_gym.papers.adapt import AGENTS
from textcraft_gym.registration import BUNDLED
from textcraft_gym.reports.agent_names import agent_names


class Phrase(NamedTuple):
    """A text of a page.

    Attributes:
        text: The text, with {} in place of each number. A blank is any white space, and … is
            what else stands in a cell.
        numbers: The numbers.
    """

    text: str
    numbers: tuple[Number, ...]


def phrase(text: str, *numbers: Number) -> Phrase:
    """Return a phrase, which has as many {} as numbers."""
    if text.count("{}") != len(numbers):
        raise ValueError(f"expected as many numbers as {{}} in {text!r}, got {len(numbers)}")
    return Phrase(text, numbers)


Phrases = Iterator[Phrase]
TEXTCRAFT, ALFWORLD, WEBSHOP = WORLDS.values()
"""The table and the column of ADaPT's success in each world."""


def headline() -> Phrases:
    """Yield the first number of README and of the site."""
    yield phrase(
        "it wins {} of the ADaPT paper's {} goals with ADaPT; GPT-3.5, prompted with a few "
        "examples, won {}.",
        packed("adapt/table2", "adapt", "TextCraft").interval.percent,
        tasks("TextCraft-v0", "test"),
        published("adapt/table2", "adapt", "TextCraft").percent,
    )


def success(agent: str, *worlds: tuple[str, str]) -> Phrase:
    """Return the row of an agent: its success in each world, and in parentheses the paper's."""
    numbers = []
    for table, column in worlds:
        numbers += [packed(table, agent, column).interval, published(table, agent, column)]
    return phrase(f"\n| {AGENTS[agent]} |" + " {} ({}) |" * len(worlds), *numbers)


def readme() -> Phrases:
    """Yield the phrases of README."""
    yield from headline()
    for agent in ("react", "adapt"):
        yield success(agent, TEXTCRAFT, ALFWORLD)
    fast = partial(stated, page="docs/speed.md")
    crafting, shop = fast("830,000"), (fast("49,000"), fast("77,000"))
    yield phrase("TextCraft takes {} steps a second", crafting)
    yield phrase("a generated WebShop {} to {}.", *shop)
    yield phrase("byte for byte, {} to {} times", fast("1,700"), fast("3,600"))
    yield phrase("TextCraft {}, WebShop {} to {} [1]", crafting, *shop)
    yield phrase("ALFWorld {} [2]", fast("212,000"))
    for name in BUNDLED:
        yield phrase(f"\n| `{name}` | {{}} ", tasks(name))


def results() -> Phrases:
    """Yield the phrases of the results' first page."""
    yield phrase("digest `{}`", shipped())
    for agent in AGENTS:
        yield success(agent, *WORLDS.values())
    yield phrase("the paper's {} of TextCraft", tasks("TextCraft-v0", "test"))


def world(name: str, table: str, columns: Sequence[str]) -> Phrases:
    """Yield what every world's page has: the number of tasks, and what a paper prints."""
    yield phrase("\n| tasks | {} ", tasks(name))
    for _, label, cells in published_rows(table, columns):
        yield phrase(f"\n| {label} | {' / '.join(['{}'] * len(cells))} |", *cells)


def textcraft() -> Phrases:
    """Yield the phrases of TextCraft's page."""
    table, column = TEXTCRAFT
    yield from world("TextCraft-v0", table, [column])
    yield phrase(
        "\n| best published | ADaPT, {} of the {} goals",
        published(table, "adapt", column).percent,
        tasks("TextCraft-v0", "test"),
    )
    yield phrase(
        "\n| best here | ADaPT, {} of the same goals",
        packed(table, "adapt", column).interval.percent,
    )


def alfworld() -> Phrases:
    """Yield the phrases of ALFWorld's page."""
    table, column = ALFWORLD
    yield from world("ALFWorld-v0", table, [column])
    games = packed(table, "adapt", column)
    yield phrase(
        "\n| best published | Reflexion, {} of the {} official games",
        published_wins("autoplan/table3a", "reflexion", "react_0"),
        games.of,
    )
    yield phrase(
        "\n| best here | ADaPT, {} of {} generated households", games.interval.percent, games.of
    )


def webshop() -> Phrases:
    """Yield the phrases of WebShop's page."""
    table = "adapt/table7"
    yield from world("WebShopLite-v0", table, ["score", "success"])
    yield phrase(
        "\n| best published | ADaPT, {} success, GPT-3.5; LATS, score {} |",
        published(table, "adapt", "success").percent,
        published(table, "lats", "score"),
    )
    best = packed(table, "try_again", "success")
    yield phrase(
        "\n| best here | Try Again with ReAct, {} of {} goals", best.interval.percent, best.of
    )
    naive = [packed(table, "naive", column).number for column in ("score", "success")]
    yield phrase("\n| Naive | … | {} / {} |", *naive)
    yield phrase("except {} for ReAct", published("adapt/table2", "react", "WebShop"))
    yield phrase("on {} goals of the original shop", tasks("WebShopLite-v0", "adapt_test"))
    fares = "tests/test_docs.py::test_webshop_page__states_how_the_naive_buyer_fares"
    played = tasks("WebShopLite-v0", "test")
    yield phrase("wins {} of the {} tasks of", tested("124", fares), played)
    yield phrase("with a mean reward of {}.", tested("0.58", fares))


def tech_tree() -> Phrases:
    """Yield the phrases of the tech tree's page."""
    table = "deps/table2"
    yield from world("MineTechTree-v0", table, ["average"])
    yield phrase(
        "\n| best published | DEPS, {} of `table2`", published(table, "deps", "average").percent
    )
    best = packed(table, "deps", "average")
    yield phrase("\n| best here | DEPS, {} of the same {} tasks", best.interval.percent, best.of)
    yield phrase("\n| mine oak logs, birch logs | {}, {} |", *misses("oak log", "birch log"))
    yield phrase("\n| mine other logs | {} |", *misses("log"))
    yield phrase("\n| mine cobblestone | {} |", *misses("cobblestone"))
    yield phrase("\n| mine one iron ore, three at once | {}, {} |", *misses("iron ore", THREE_ORES))
    yield phrase("\n| mine a diamond | {} |", *misses("diamond"))
    yield phrase("\n| mine coal, quartz | {} |", *misses("ore"))
    yield phrase("\n| hunt cows, pigs, sheep | {}, {}, {} |", *misses("cows", "pigs", "sheep"))
    yield phrase(
        "\n| craft without a crafting table, at one | {}, {} |",
        *misses("craft without a table", "craft at a table"),
    )
    yield phrase("\n| smelt in a furnace | {} |", *misses("smelt"))
    yield phrase("\n| equip | {} |", *misses("equip"))


def misses(*kinds: str) -> list[Number]:
    """Return how often kinds of action succeed; those without a rate never miss."""
    source = "textcraft_gym/envs/minetechtree/reliability.py: {}"
    return [Number(f"{PUBLISHED.get(kind, 1):.0%}", source.format(kind)) for kind in kinds]


def hotpotqa() -> Phrases:
    """Yield the phrases of HotpotQA's page."""
    table, column = "autoplan/table3b", "accuracy"
    yield from world("HotpotQA-v0", table, [column])
    yield phrase(
        "\n| best published | AutoPlan, {}, GPT-4; Chain-of-Skills, {}, supervised |",
        published(table, "autoplan", column).percent,
        published(table, "chain_of_skills", column).percent,
    )
    best = packed(table, "react_0", column)
    yield phrase("\n| best here | ReAct, {} of {} questions", best.interval.percent, best.of)


def tabletop() -> Phrases:
    """Yield the phrases of the tabletop's page."""
    table = "deps/table8"
    yield from world("Tabletop-v0", table, ["average"])
    yield phrase(
        "\n| best published | DEP, {} over the kinds", published(table, "dep", "average").percent
    )
    best = packed(table, "dep", "average")
    yield phrase("\n| best here | DEP, {} of {} tables", best.interval.percent, best.of)
    kinds = ("Assembling Kits", "Towers of Hanoi", "Put Block in Bowl", "Packing Shapes")
    yield phrase(
        "of CLIPort's policy ({}, {}, {}, {} and {})",
        *(published(table, "repeater", kind) for kind in kinds),
        published(table, "repeater", "Stack Block Pyramid").percent,
    )


def board_page() -> Phrases:
    """Yield the phrases of the board."""
    entries = [*board()]
    names = agent_names(entry.agent for entry, _ in entries)
    for entry, source in entries:
        low, high = (f"{100 * bound:.1f}" for bound in (entry.low, entry.high))
        success = Number(f"{100 * entry.success:.1f}%", source)
        bounds = (Number(low, source), Number(high, source))
        spent = (Number(f"{entry.calls:,}", source), Number(f"{entry.cost:.2f}", source))
        digests = re.findall(r"sha256-\w+", entry.model)
        model = re.sub(r"sha256-\w+", "{}", entry.model) or "-"
        row = f"\n| {names[entry.agent]}… | {model} | … | {{}} | {{}} to {{}} | {{}} | {{}} |"
        yield phrase(
            f"{row} {entry.run} |",
            *(Number(digest, source) for digest in digests),
            success,
            *bounds,
            *spent,
        )


def adapt_page() -> Phrases:
    """Yield the phrases of ADaPT's page."""
    table, column = TEXTCRAFT
    yield phrase(
        "wins {} of the paper's {} goals in TextCraft as ReAct and {} as ADaPT.",
        packed(table, "react", column).interval.percent,
        tasks("TextCraft-v0", "test"),
        packed(table, "adapt", column).interval.percent,
    )
    atomic = (published("adapt/figure5", row, "atomic").percent for row in ("react", "adapt"))
    yield phrase("where ADaPT lifts {} to {} |", *atomic)


DEPTHS = ("depth 2", "depth 3", "depth 4")
CRAFTED = {agent: Run(f"TextCraft-v0_test_{agent}_") for agent in AGENTS}
"""The packed runs of the paper's goals in TextCraft."""
KEPT = {
    "TextCraft, goals of an unknown generated book | ReAct": "made",
    "tech tree | ReAct": "minetechtree",
    "tech tree | DEPS": "deps",
    "HotpotQA, a generated wiki | ReAct": "hotpotqa",
    "tabletop, an arm that never misses | DEP": "tabletop",
}
"""The gates of which only counts were kept, by the rows of the model's page."""


def model_page() -> Phrases:
    """Yield the phrases of the language model's page."""
    table, column = TEXTCRAFT
    yield phrase("ADaPT paper's {} goals of TextCraft", tasks("TextCraft-v0", "test"))
    for agent, label in AGENTS.items():
        yield phrase(
            f"\n| {label} | {{}} | {{}} | {{}} | {{}} | {{}} |",
            packed(table, agent, column).interval,
            *map(CRAFTED[agent].group, DEPTHS),
            published(table, agent, column),
        )
    for row, name in KEPT.items():
        yield phrase(f"\n| {row} | {{}} |", gate(name).count)
    alone = packed("adapt/table3", "react", "success, depth 3")
    decomposed = packed("adapt/table3", "adapt", "success, depth 3")
    yield phrase(
        "alone it wins {} of {} goals of depth 3, with ADaPT's plans {} of {}.",
        *(alone.won, alone.of, decomposed.won, decomposed.of),
    )
    yield phrase("ADaPT loses {} of {} goals of depth 3", decomposed.lost, decomposed.of)
    crafting = partial(experiment, "TextCraft-v0 test")
    yield phrase(
        "ReAct won {} and ADaPT {} of these goals on average, but {} with an untrained planner",
        crafting("react trained").mean().percent,
        crafting("adapt d_max=4 trained").mean().percent,
        crafting("adapt d_max=4 trained planner=untrained").mean().percent,
    )
    yield phrase(
        "of {} tasks it wins {} with none, and {}, {} and {} with at most",
        packed("deps/table2", "deps", "average").of,
        *(won_in_all("deps/table4", row) for row in ("0", "1", "3", "5")),
    )
    planners = ("zero_shot", "progprompt", "chain_of_thought", "inner_monologue")
    here = [packed("deps/table2", row, "average").number.percent for row in planners]
    paper = [published("deps/table2", row, "average").percent for row in planners]
    yield phrase("Inner Monologue win {} to {} of the tasks", *extremes(here))
    yield phrase("; {} to {} in the paper). In ALFWorld", *extremes(paper))
    houses = packed("deps/table6", "zero_shot", "average")
    yield phrase("the zero-shot planner wins {} of {}", houses.won, houses.of)
    paper_houses = published("deps/table6", "zero_shot", "average")
    yield phrase("; {} in the paper).\n- **Objects", paper_houses.percent)
    planned = ("zero_shot", "dep")
    yield phrase(
        "win {} and {} where the arm misses ({} and {} in the paper",
        *(packed("deps/table8", row, "average").number.percent for row in planned),
        *(published("deps/table8", row, "average").percent for row in planned),
    )
    light = packed("autoplan/table3a", "react_0", "Light")
    yield phrase("it wins {} of {} games of Light", light.won, light.of)
    yield phrase("where GPT-4 wins {}", published("autoplan/table3a", "react_0", "Light").percent)
    shopping = Run("WebShopLite-v0_adapt_test_react_")
    lost = packed("adapt/table2", "react", "WebShop")
    yield phrase("It loses {} of {} goals as ReAct", lost.lost, lost.of)
    bought = wrong_purchases(shopping.records)["all"]
    yield phrase("buys something in {} of them", shopping.number(bought, "wrong purchases"))
    before, *_, after = rewarded("reward", "test")
    yield phrase(
        "from {} to {} of {} deeper goals",
        *(before.count("won"), after.count("won"), after.count("of")),
    )
    before, after = rewarded("reward-gpu", "test")
    yield phrase("and another from {} to {} in one", before.count("won"), after.count("won"))


def extremes(numbers: list[Number]) -> tuple[Number, Number]:
    """Return the least and the greatest number."""
    ordered = sorted(numbers, key=lambda number: float(number.text.rstrip("%")))
    return ordered[0], ordered[-1]


def card() -> Phrases:
    """Yield the phrases of the adapter's card."""
    first, last = log_of(LOG)[0], log_of(LOG)[-1]
    data, plan = first["data"], first["plan"]
    yield phrase("\n| data | {} tokens", logged(f"{data['tokens']:,}"))
    yield phrase("in {} parts", logged(f"{data['parts']:,}"))
    yield phrase("whose digest is {};", logged(data["sha256"][:16]))
    yield phrase("after {} of the tokens", logged(f"{plan['warm_up']:.0%}"))
    yield phrase("{} steps of up to", logged(f"{last['steps']:,}"))
    yield phrase("tokens, {} seconds on one H200", logged(f"{last['seconds']:.0f}"))
    yield from asked()
    shop = packed("adapt/table2", "react", "WebShop")
    yield phrase("WebShop's ReAct wins {} of {}, by rounding", shop.won, shop.of)
    yield from mistakes()
    depths = [packed("adapt/table3", "adapt", f"success, {depth}").count for depth in DEPTHS]
    yield phrase("ADaPT wins {} goals of depth 2, {} of depth 3 and {} of depth 4.", *depths)
    yield from earlier()


def asked() -> Phrases:
    """Yield the rows of the gates, with what was asked for."""
    for name in gate_names():
        gate = gates.GATES[name]
        least = Number(f"{gate.least:.0%}", f"examples/language_model/gates.py: {name}")
        success = [gate_success(name, player) for player in ("PyTorch", "llama.cpp")]
        numbers = (least, *success, *shares(name)[1:])
        yield phrase(f"\n| {gate.name} |" + " {} |" * len(numbers), *numbers)
    bounds = (gates.INVALID, gates.FALSE_CLAIMS)
    source = "examples/language_model/gates.py"
    invalid_actions, false_claims = (Number(f"{bound:.0%}", source) for bound in bounds)
    yield phrase("Less than {} was asked for, and four rows have more", invalid_actions)
    yield phrase("**False claims.** Less than {} was asked for", false_claims)


def shares(name: str, adapter: str = "") -> list[Number]:
    """Return what a gate counted: success, false claims, invalid actions."""
    counts, source = gate_counts(name, adapter), gate(name, adapter).source
    parts = (("won", "episodes"), ("false_claims", "episodes"), ("invalid", "actions"))
    return [Number(str(gates.Count(counts[part], counts[of])), source) for part, of in parts]


SHOPPING = Run("WebShopLite-v0_adapt_test_react_")
DEPS = Run("MineTechTree-v0_table2_deps_reliability=perfect_")
QUESTIONS = Run("HotpotQA-v0_dev_react_")


def mistakes() -> Phrases:
    """Yield what the card counts in the packed episodes."""
    runs = (SHOPPING, CRAFTED["adapt"], DEPS, QUESTIONS)
    actions = [invalid(run.records) for run in runs]
    numbers = [
        run.number(f"{each.repeated} of {each.refused}", "invalid actions that repeat one")
        for run, each in zip(runs, actions, strict=True)
    ]
    yield phrase("{} in WebShop's ReAct, {} in ADaPT (its", *numbers[:2])
    yield phrase("{} in DEPS and {} in HotpotQA.", *numbers[2:])
    new = [
        run.number(f"{each.new:.1%}", "invalid actions that repeat none")
        for run, each in zip(runs, actions, strict=True)
    ]
    yield phrase("Without the repeats {}, {}, {} and {} of the other actions", *new)
    crafting, held = CRAFTED["adapt"], "parts said to be held"
    yield phrase(
        "In ADaPT {} of the {} follow",
        *(crafting.number(count, held) for count in (actions[1].held, actions[1].refused)),
    )
    counts = wrong_purchases(SHOPPING.records).values()
    wrong = [SHOPPING.number(count, "wrong purchases") for count in counts]
    yield phrase(
        "Of the {} wrong purchases of WebShop's ReAct {} lack an attribute, {} lack an option, {} "
        "cost too much and {} are other goods",
        *wrong,
    )
    lost = packed("adapt/table2", "react", "WebShop").lost
    yield phrase("Of the {} goals that ReAct loses it buys something else in {},", lost, wrong[0])
    missed, every = (DEPS.number(n, "explanations") for n in explanations(DEPS.records))
    won = DEPS.number(sum(record["won"] for record in DEPS.records), "won")
    losses = DEPS.number(len(DEPS.records) - int(won.text), "lost")
    tree = DEPS.number(len(DEPS.records), "tasks")
    yield phrase(
        "Of table 3's {} tasks it loses {}; {} of the {} explanations", tree, losses, missed, every
    )


ALL_WORLDS = ("adapt", "alfworld", "webshop", "minetechtree", "hotpotqa")
"""The gates in the card's last table."""


def earlier() -> Phrases:
    """Yield the rows of the earlier trainings, and of the shipped one beside them."""
    for name, log in trainings().items():
        label = name or "worlds, shipped"
        tokens = logged(f"{log_of(log)[-1]['tokens']:,}", log)
        numbers = []
        for row in ("unseen", "made"):
            counts = gate_counts(row, name)
            source = gate(row, name).source
            numbers += [
                gate(row, name).count,
                Number(str(counts["false_claims"]), source),
                shares(row, name)[2],
            ]
        yield phrase(f"\n| {label} | {{}} |" + " {} |" * len(numbers), tokens, *numbers)
        played = [row in gate_names(name) for row in ALL_WORLDS]
        if any(played):
            cells = "".join(" {} |" if each else " |" for each in played)
            won = [gate(row, name).count for row in ALL_WORLDS if row in gate_names(name)]
            yield phrase(f"\n| {label} | {{}} |{cells}\n", tokens, *won)


TYPES = (
    "pick_and_place_simple",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "look_at_obj_in_light",
    "pick_two_obj_and_place",
)
PLAYERS = {
    "ReAct": "react",
    "Plan-and-Execute": "plan_and_execute",
    "Try Again with ReAct": "try_again",
    "Reflexion": "reflexion",
}
"""The agents of the experiment other than ADaPT, by their rows."""


def experiment_page() -> Phrases:
    """Yield the phrases of the experiment's page, of earlier adapters."""
    share = dict(part.split("=") for part in log_of(EARLIER)[0]["plan"]["worlds"].split(","))
    yield phrase(
        "They are {} and {} of the examples",
        *(logged(f"{float(share[world]):.0%}", EARLIER) for world in ("webshop", "minetechtree")),
    )
    yield from crafting_rows()
    yield from household_rows()
    for label, agent in {**PLAYERS, "ADaPT": "adapt"}.items():
        shop = experiment("WebShopLite-v0 adapt_test", f"{agent} trained")
        printed = [published("adapt/table7", agent, column) for column in ("score", "success")]
        numbers = (shop.score(), shop.mean(), *printed)
        yield phrase(f"\n| {label} | {{}} | {{}} | {{}} and {{}} |", *numbers)
    for agent in ("react", "plan_and_execute", "adapt"):
        tree = experiment("MineTechTree-v0 core71", f"{agent} trained")
        groups = [tree.mean(f"MT{number}") for number in range(1, 9)]
        yield phrase(f"\n| {AGENTS[agent]} |" + " {} |" * 9 + "\n", *groups, tree.mean())
    score, won = (packed("adapt/table7", "naive", column).number for column in ("score", "success"))
    printed = [published("adapt/table7", "naive", column) for column in ("score", "success")]
    yield phrase("scores {} there and wins {} ({} and {} in", score, won.percent, *printed)
    yield from reward_rows()


EARLIER = RESULTS / "training/lm-seed0.jsonl"


def crafting_rows() -> Phrases:
    """Yield the rows of TextCraft's tables in the experiment."""
    rows = {label: f"{agent} trained" for label, agent in PLAYERS.items()}
    rows |= {f"ADaPT, `d_max` {d_max}": f"adapt d_max={d_max} trained" for d_max in (2, 3, 4)}
    planned = "adapt d_max=4 trained"
    planners = {
        "planner untrained": f"{planned} planner=untrained",
        "planner trained for a tenth": f"{planned} planner=trained for a tenth",
        "planner trained": planned,
    }
    paper = {label: agent for agent, label in AGENTS.items()} | {"ADaPT, `d_max` 4": "adapt"}
    for label, player in (*rows.items(), *planners.items()):
        played = experiment("TextCraft-v0 test", player)
        numbers = [played.spread(group) for group in (*DEPTHS, "")]
        if label in paper:
            numbers.append(published("adapt/table2", paper[label], "TextCraft"))
        end = " |\n" if label in rows and label not in paper else "\n"
        yield phrase(f"| {label} |" + " {} |" * len(numbers) + end, *numbers)


def household_rows() -> Phrases:
    """Yield the rows of ALFWorld's table in the experiment."""
    deep = "adapt trained"
    rows = {label: f"{agent} trained" for label, agent in PLAYERS.items()}
    rows |= {f"ADaPT, `d_max` {d_max}": f"adapt d_max={d_max} trained" for d_max in (1, 2, 4)}
    rows |= {
        "ADaPT, `d_max` 3": deep,
        "`d_max` 3, planner untrained": f"{deep} planner=untrained",
        "`d_max` 3, planner trained for a tenth": f"{deep} planner=trained for a tenth",
    }
    paper = {label: agent for agent, label in AGENTS.items()} | {"ADaPT, `d_max` 3": "adapt"}
    for label, player in rows.items():
        played = experiment("ALFWorld-v0 valid_unseen", player)
        numbers = [*map(played.mean, TYPES), played.spread()]
        if label in paper:
            numbers.append(published("adapt/table1", paper[label], "All"))
        end = "\n" if label in paper else " |\n"
        yield phrase(f"| {label} |" + " {} |" * len(numbers) + end, *numbers)


def reward_rows() -> Phrases:
    """Yield what learning from reward won, with two earlier adapters."""
    heads = {"reward": "{} goals of no round |", "reward-gpu": "the same {} goals, on the GPU |"}
    for name, head in heads.items():
        first, *later = rewarded(name, "test")
        rows = f"{head} … | … | … | … |\n|---|---|---|---|---|\n| before | {{}} | {{}} | | |"
        numbers = [first.count("of"), first.share, first.bounds("interval")]
        for test in later:
            rows += f"\n| after round {test.line['test']} |" + " {} |" * 4
            numbers += [test.share, test.bounds("interval")]
            numbers += [test.gain(first), test.bounds("difference")]
        yield phrase(rows, *numbers)
    begins = "Round 1 won {} of {} sampled episodes and learned from {} goals"
    endings = {
        "reward": "; round 2 won {} of {} and learned from {}.",
        "reward-gpu": ". Round 2 won {} of {}, of other goals, and learned from {}.",
    }
    for name, ends in endings.items():
        counts = ("won", "of", "goals_learnt")
        rounds = rewarded(name, "round")
        yield phrase(begins + ends, *(each.count(count) for each in rounds for count in counts))


PAGES: Mapping[str, Callable[[], Phrases]] = {
    "README.md": readme,
    "docs/index.md": headline,
    "benchmarks/results/README.md": results,
    "benchmarks/board/README.md": board_page,
    "docs/worlds/textcraft.md": textcraft,
    "docs/worlds/alfworld.md": alfworld,
    "docs/worlds/webshop.md": webshop,
    "docs/worlds/tech_tree.md": tech_tree,
    "docs/worlds/hotpotqa.md": hotpotqa,
    "docs/worlds/tabletop.md": tabletop,
    "docs/worlds/index.md": lambda: iter(()),
    "docs/agents/adapt.md": adapt_page,
    "docs/language_model.md": model_page,
    "docs/language_model_experiment.md": experiment_page,
    "agents/models/adapters/README.md": card,
}
"""The pages, with the phrases of each."""
