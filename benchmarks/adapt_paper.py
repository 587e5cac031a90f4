"""The tables and figures of the ADaPT paper that text worlds can show, in the paper's order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from experiments import SPAN, Experiment, Found, simulated
from paper import Claim, Column, Row, Table

from textcraft_gym.evaluation.metrics import ALL

ALFWORLD = Experiment("ALFWorld-v0", "valid_unseen", "react")
WEBSHOP = Experiment("WebShopLite-v0", "adapt_test", "react", env_args=(("mode", "adapt"),))
TEXTCRAFT = Experiment("TextCraft-v0", "test", "react")
D_MAX = {ALFWORLD: 3, WEBSHOP: 3, TEXTCRAFT: 4}
"""The ReAct experiment of each world, and ADaPT's published ``d_max`` there."""
AGENTS = {
    "react": "ReAct",
    "plan_and_execute": "Plan-and-Execute",
    "try_again": "Try Again with ReAct",
    "reflexion": "Reflexion",
    "adapt": "ADaPT",
}
TASK_TYPES = (
    Column("Pick", "pick_and_place_simple"),
    Column("Clean", "pick_clean_then_place_in_recep"),
    Column("Heat", "pick_heat_then_place_in_recep"),
    Column("Cool", "pick_cool_then_place_in_recep"),
    Column("Look", "look_at_obj_in_light"),
    Column("Pick2", "pick_two_obj_and_place"),
    Column("All", interval=True),
)
BOTH_MEASURES = (Column("score", value="score"), Column("success", interval=True))
SPANS = (3, SPAN, 8)


def of(world: Experiment, agent: str, **args: object) -> Experiment:
    """Return an experiment of an agent in a world."""
    return replace(world, agent=agent, args=tuple(args.items()))


def deepest(world: Experiment, d_max: int) -> Experiment:
    """Return ADaPT with a maximum depth."""
    return of(world, "adapt", d_max=d_max)


def rate(found: Found, experiment: Experiment, group: str = ALL) -> float:
    """Return a success rate."""
    return found[experiment.name][group].rate


def never_falls(rates: Iterable[float]) -> bool:
    """Return whether a series rises or stays, within half a point."""
    return all(after >= before - 0.005 for before, after in pairwise(rates))


BY_CLAIMS = (
    "ADaPT goes on by what each executor claims, and one wrong claim loses the task; the trials of Try Again and "
    "Reflexion end only when the environment says that they won, and the best counts. The model claims falsely and "
    "misjudges by chance alone: without these faults ADaPT wins the most ([model.md](model.md))."
)
BY_PLANS = (
    "The simulated planner knows the game, so that its one plan up front is rarely wrong, where those of GPT-3.5 often "
    "were; and a plan of short steps asks less of the span than one long attempt."
)

TABLE_1 = Table(
    "Table 1: ALFWorld, success (%) by task type",
    "The split `valid_unseen`: here 134 households made by the suite, not the paper's 134 games, which play with "
    "`ALFWORLD_DATA`.",
    TASK_TYPES,
    (
        Row(AGENTS["react"], ALFWORLD, (33.3, 67.7, 43.5, 33.3, 55.6, 11.8, 43.3)),
        Row(
            AGENTS["plan_and_execute"],
            of(ALFWORLD, "plan_and_execute"),
            (29.2, 61.3, 47.8, 38.1, 61.1, 11.8, 43.3),
        ),
        Row(AGENTS["try_again"], of(ALFWORLD, "try_again"), (50.0, 51.6, 60.8, 47.6, 61.1, 5.9, 47.8)),
        Row(AGENTS["reflexion"], of(ALFWORLD, "reflexion"), (None,) * 6 + (57.5,)),
        Row(AGENTS["adapt"], of(ALFWORLD, "adapt"), (87.5, 80.6, 60.8, 76.2, 61.1, 52.9, 71.6)),
    ),
    cause=f"{BY_CLAIMS} {BY_PLANS}",
)
TABLE_2_WEBSHOP = Table(
    "Table 2, left: WebShop, score and success (%)",
    "The 100 goals of ADaPT's part of the test split, in the made shop, with pages in ADaPT's format.",
    BOTH_MEASURES,
    (
        Row(AGENTS["react"], WEBSHOP, (42.1, 29.0)),
        Row(AGENTS["plan_and_execute"], of(WEBSHOP, "plan_and_execute"), (27.7, 17.0)),
        Row(AGENTS["try_again"], of(WEBSHOP, "try_again"), (45.4, 30.0)),
        Row(AGENTS["reflexion"], of(WEBSHOP, "reflexion"), (None, 35.0)),
        Row("LATS", None, (75.9, 38.0), note="[lats.md](lats.md)"),
        Row(AGENTS["adapt"], of(WEBSHOP, "adapt"), (60.0, 44.0)),
    ),
    cause=BY_PLANS,
)
TABLE_2_TEXTCRAFT = Table(
    "Table 2, right: TextCraft, success (%)",
    "The paper's 200 goals. The other recipes in the prompt differ: the published ones came from a random state that "
    "leaked between episodes.",
    (Column("success", interval=True),),
    tuple(
        Row(label, of(TEXTCRAFT, agent), (published,))
        for (agent, label), published in zip(AGENTS.items(), (19.0, 27.0, 15.0, 32.0, 52.0), strict=True)
    ),
    cause=f"{BY_CLAIMS} Slips and misjudgements are drawn anew in each trial, so that trying again helps more than it "
    "did a language model that repeats its mistakes.",
)
DEPTHS = Table(
    "Success (%) over the maximum depth of decomposition",
    "With a `d_max` of 1 ADaPT is ReAct with ReAct's budget. WebShop's first plan is at depth 0.",
    tuple(Column(f"d_max {d_max}") for d_max in range(1, 5)),
    tuple(
        Row(world.env, [deepest(world, min(d_max, greatest)) for d_max in range(1, 5)])
        for world, greatest in D_MAX.items()
    ),
    tuple(
        Claim(
            f"success on {world.env} grows with `d_max` up to {greatest}",
            lambda found, world=world, greatest=greatest: never_falls(
                rate(found, deepest(world, d_max)) for d_max in range(1, greatest + 1)
            ),
        )
        for world, greatest in D_MAX.items()
    ),
)
TABLE_3 = Table(
    "Table 3: TextCraft by recipe depth, success (%) and k_max",
    "k_max is the deepest level of decomposition that was executed, over the episodes won.",
    (
        *(Column(f"depth {depth}", f"depth {depth}") for depth in (2, 3, 4)),
        *(Column(f"k_max at depth {depth}", f"depth {depth}", "k_max_won") for depth in (2, 3, 4)),
    ),
    (
        Row("ReAct", TEXTCRAFT, (26.9, 1.8, None, None, None, None)),
        Row("ADaPT", of(TEXTCRAFT, "adapt")),
    ),
    (
        Claim(
            "ReAct falls steeply with depth, ADaPT less so",
            lambda found: (
                rate(found, TEXTCRAFT, "depth 3") < rate(found, TEXTCRAFT, "depth 2") / 2
                and rate(found, of(TEXTCRAFT, "adapt"), "depth 3") > 2 * rate(found, TEXTCRAFT, "depth 3")
            ),
        ),
        Claim(
            "ADaPT decomposes deeper where recipes are deeper",
            lambda found: (
                (found[of(TEXTCRAFT, "adapt").name]["depth 2"].k_max_won or 0.0)
                < (found[of(TEXTCRAFT, "adapt").name]["depth 3"].k_max_won or 0.0)
            ),
        ),
    ),
)


def planned_by(world: Experiment, executor: int, planner: int) -> Experiment:
    """Return ADaPT with executor and planner of different spans."""
    planner_model = "" if planner == executor else simulated(planner)
    return replace(of(world, "adapt"), model=simulated(executor), planner=planner_model)


TABLE_4 = Table(
    "Table 4: planner other than executor, ADaPT's success (%)",
    "The paper pairs language models; here the two roles have simulated models of different spans. A plan one level "
    "down names few things, so that from a span of 3 on the planner's hardly matters.",
    (Column("ALFWorld"), Column("TextCraft")),
    tuple(
        Row(
            f"executor of span {executor}, planner of span {planner}",
            [planned_by(world, executor, planner) for world in (ALFWORLD, TEXTCRAFT)],
        )
        for executor, planner in ((2, 2), (2, 8), (8, 2), (8, 8))
    ),
    (
        Claim(
            "a stronger planner helps a weaker executor",
            lambda found: all(
                rate(found, planned_by(world, 2, 8)) > rate(found, planned_by(world, 2, 2))
                for world in (ALFWORLD, TEXTCRAFT)
            ),
        ),
    ),
    cause="In TextCraft a recipe of more things than the executor's span defeats it at every depth, whoever plans.",
)
DEMONSTRATIONS = {"atomic": "atomic skills", "task": "whole tasks", "both": "both"}


def shown_by(agent: str, demonstrations: str) -> Experiment:
    """Return an agent in ALFWorld whose executor's prompt has these demonstrations; the atomic ones are the default."""
    return of(ALFWORLD, agent) if demonstrations == "atomic" else of(ALFWORLD, agent, demonstrations=demonstrations)


FIGURE_5 = Table(
    "Figure 5 and table 6: ALFWorld's executors, success (%)",
    "The executor's prompt demonstrates atomic skills, whole tasks, or both. What the simulated model makes of them is "
    "a rule of its own: a demonstrated task frees its appliance or lamp from the span, and without single skills the "
    "end of a search takes a place in it ([manual.py](../../agents/simulated/manual.py)).",
    tuple(Column(name) for name in DEMONSTRATIONS.values()),
    tuple(
        Row(AGENTS[agent], [shown_by(agent, demonstrations) for demonstrations in DEMONSTRATIONS])
        for agent in ("react", "adapt")
    ),
    (
        Claim(
            "ADaPT wins more than its executor alone with each of the three",
            lambda found: all(
                rate(found, shown_by("adapt", name)) > rate(found, shown_by("react", name)) for name in DEMONSTRATIONS
            ),
        ),
    ),
)
MODELS = Table(
    "Other models: success (%) over the span",
    "The paper repeats its comparison with other language models; here the span stands for them. "
    "[spans.md](spans.md) has every span.",
    tuple(Column(f"{world.env}, span {span}") for world in D_MAX for span in SPANS),
    tuple(
        Row(label, [replace(of(world, agent), model=simulated(span)) for world in D_MAX for span in SPANS])
        for agent, label in AGENTS.items()
    ),
    (
        Claim(
            "ADaPT wins the most with every model",
            lambda found: all(
                rate(found, replace(of(world, "adapt"), model=simulated(span)))
                >= max(rate(found, replace(of(world, agent), model=simulated(span))) for agent in AGENTS)
                for world in D_MAX
                for span in SPANS
            ),
        ),
    ),
    cause=f"{BY_CLAIMS} At large spans the executor does nearly everything alone, and what it takes for done is never "
    "decomposed, so that ADaPT and ReAct meet.",
)


def with_products(agent: str, products: int) -> Experiment:
    """Return an agent in WebShop with a number of products on a page of results; 3 are the default."""
    experiment = of(WEBSHOP, agent)
    if products == 3:
        return experiment
    return replace(experiment, env_args=(*experiment.env_args, ("products_per_page", products)))


TABLE_7 = replace(
    TABLE_2_WEBSHOP,
    title="Table 7: WebShop, score and success (%), by pages",
    about="As table 2, with the pages of ReAct's program, which show no listing beyond the third.",
    rows=tuple(
        replace(
            row,
            played=replace(row.played, env_args=(("mode", "react"),)) if isinstance(row.played, Experiment) else None,
        )
        for row in TABLE_2_WEBSHOP.rows
    ),
)
TABLE_8 = Table(
    "Table 8: WebShop by products on a page of results",
    "Products that the agents read on a page: the three of the other tables, or all ten of the site's page.",
    (
        Column("3, score", value="score"),
        Column("3, success"),
        Column("10, score", value="score"),
        Column("10, success"),
    ),
    tuple(
        Row(AGENTS[agent], [with_products(agent, products) for products in (3, 3, 10, 10)])
        for agent in ("react", "adapt")
    ),
)
FIGURE_7 = Table(
    "Figure 7: model calls per episode",
    "Completions of all roles, of all trials.",
    (Column("ALFWorld", value="calls"), Column("WebShop", value="calls"), Column("TextCraft", value="calls")),
    tuple(Row(label, [of(world, agent) for world in D_MAX]) for agent, label in AGENTS.items()),
    (
        Claim(
            "ADaPT makes more calls than ReAct",
            lambda found: all(
                found[of(world, "adapt").name][ALL].calls > found[world.name][ALL].calls for world in D_MAX
            ),
        ),
    ),
)
FIGURE_12 = Table(
    "Figure 12: what the agent claims against what it won (%)",
    "Precision is the share of claimed episodes that were won, recall the share of won episodes that were claimed.",
    tuple(
        Column(f"{name}: {heading}", value=value)
        for name in ("ALFWorld", "WebShop", "TextCraft")
        for heading, value in (("claimed", "claimed"), ("precision", "precision"), ("recall", "recall"))
    ),
    tuple(Row(AGENTS[agent], [of(world, agent) for world in D_MAX for _ in range(3)]) for agent in ("react", "adapt")),
)
NOT_HERE = Table(
    "Not here",
    """- Table 5 lists the atomic skills that each world's demonstrations show; so do the prompts in
  [agents/prompts/react](../../agents/prompts/react). It has no results.
- LATS, of tables 2 and 7, is a tree search that goes back in the environment; the suite does not have it yet.
- The figures of prompts, plans and examples have no numbers; `textcraft-gym report` draws such traces from any run.""",
)
TABLES = (
    TABLE_1,
    TABLE_2_WEBSHOP,
    TABLE_2_TEXTCRAFT,
    DEPTHS,
    TABLE_3,
    TABLE_4,
    FIGURE_5,
    MODELS,
    TABLE_7,
    TABLE_8,
    FIGURE_7,
    FIGURE_12,
    NOT_HERE,
)
