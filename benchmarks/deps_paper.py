"""The tables and figures of the DEPS paper that text worlds can show, in the paper's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adapt_paper import ALFWORLD, TASK_TYPES, never_falls, of, rate
from experiments import SPAN, Experiment, simulated
from paper import Claim, Column, Row, Table

from textcraft_gym.evaluation.report import markdown_table

TABLE2 = Experiment("MineTechTree-v0", "table2", "deps", env_args=(("reliability", "published"),), max_calls=200)
GROUPS = (*(Column(f"MT{group}", f"MT{group}") for group in range(1, 9)), Column("average", interval=True))
ROUNDS = (0, 1, 3, 5, 12, None)
"""Maximum numbers of re-plans; None for unlimited."""
UNKNOWN = (None,) * 8

TABLE_2 = Table(
    "Table 2: success (%) of planners by task group",
    "The paper's 69 tasks in its own names and limits, in a text world in which single goals fail as often as its "
    "controller missed them (table 18). A whole plan is held to the span, and from MT4 on every plan names more than "
    "five things. DEP and DEPS do the same where there is one goal at a time: the selector has nothing to choose.",
    GROUPS,
    (
        Row("GPT as zero-shot planner", of(TABLE2, "zero_shot"), (*UNKNOWN, 15.42)),
        Row("ProgPrompt", of(TABLE2, "progprompt"), (*UNKNOWN, 16.88)),
        Row("Chain-of-thought", of(TABLE2, "chain_of_thought"), (*UNKNOWN, 18.89)),
        Row("Inner Monologue", of(TABLE2, "inner_monologue"), (*UNKNOWN, 21.64)),
        Row("Code as Policies", of(TABLE2, "code_as_policies"), (*UNKNOWN, 25.77)),
        Row("DEP", of(TABLE2, "dep"), (*UNKNOWN, 39.36)),
        Row("DEPS, plans exempt from the span", replace(TABLE2, model=simulated(exempt_plan=True))),
        Row("DEPS", TABLE2, (79.77, 79.46, 62.40, 53.32, 29.24, 13.80, 12.56, 0.59, 48.56)),
    ),
    cause="A program runs once, so that the first goal that misses ends it, while Inner Monologue asks for the next "
    "goal after each.",
)
TABLE_2_WIDE = replace(
    TABLE_2,
    title="Table 2, with a span of 12",
    about="The same with a model that can keep a plan for a diamond in mind.",
    rows=tuple(
        replace(row, played=replace(row.played, model=simulated(12)))
        for row in TABLE_2.rows
        if isinstance(row.played, Experiment) and "exempt_plan" not in row.played.model
    ),
)


def replanning(rounds: int | None) -> Experiment:
    """Return DEPS with a span of 12 and a maximum number of re-plans."""
    return replace(of(TABLE2, "deps", rounds=rounds), model=simulated(12))


TABLE_4 = Table(
    "Table 4: success (%) of DEPS by the maximum number of re-plans",
    "As table 2 with a span of 12. 12 is the limit in use; unlimited re-plans end with the 200th call.",
    GROUPS,
    tuple(Row("unlimited" if rounds is None else f"{rounds}", replanning(rounds)) for rounds in ROUNDS),
    (
        Claim(
            "success grows with the number of re-plans",
            lambda found: never_falls(rate(found, replanning(rounds)) for rounds in ROUNDS),
        ),
    ),
)
TABLE_5 = Table(
    "Tables 5 and 6: ALFWorld, success (%) by task type",
    "The split `valid_unseen` of made households. In a household DEPS has no selector.",
    TASK_TYPES,
    (
        Row("Zero-shot planner", of(ALFWORLD, "zero_shot")),
        Row("Inner Monologue", of(ALFWORLD, "inner_monologue")),
        Row("DEP(S)", of(ALFWORLD, "deps")),
    ),
    (
        Claim(
            "DEPS wins more than Inner Monologue, which wins more than the zero-shot planner",
            lambda found: (
                rate(found, of(ALFWORLD, "deps"))
                > rate(found, of(ALFWORLD, "inner_monologue"))
                > rate(found, of(ALFWORLD, "zero_shot"))
            ),
        ),
    ),
    cause="Inner Monologue sees the scene after each goal and needs no plan in mind, while DEPS holds a whole plan "
    "in the span. The two are within the spread between runs.",
)
TASK_GROUPS = Table(
    "Table 1: task groups",
    """The groups MT1 to MT8 with their tasks, skills and time limits are the splits of `MineTechTree-v0`:
`textcraft-gym tasks MineTechTree-v0 --split core71`. `table2` is the selection of the paper's table 2.""",
)
SELECTORS = Table(
    "Figure 4: selectors for several goals at once",
    "On [a page of its own](selectors.md): fixed, random, nearest and learned selectors, and the best possible order.",
)
DIAMOND_MODELS = {
    f"span {SPAN}": simulated(),
    "span 12": simulated(12),
    f"span {SPAN}, exempt_plan": simulated(exempt_plan=True),
    "span 8, exempt_plan": simulated(8, exempt_plan=True),
}
"""The models that mine for a diamond; a whole plan for one names eleven things."""


def figure_9(rows: Sequence[Mapping[str, str]]) -> Table:
    """Return the table of the milestones to a diamond."""
    names = list(dict.fromkeys(row["milestone"] for row in rows))
    by_key = {(row["milestone"], row["model"]): row for row in rows}
    models = list(dict.fromkeys(row["model"] for row in rows))
    cells = [(name, *(_milestone(by_key[name, model]) for model in models)) for name in names]
    episodes = rows[0]["episodes"]
    return Table(
        "Figure 9: milestones on the way to a diamond",
        f"DEPS in the world of table 2, the task `diamond`, {episodes} episodes a model: how many reached each "
        "milestone (%), and in parentheses the median tick at which they did.\n\n"
        + markdown_table(("", *models), cells),
    )


def _milestone(row: Mapping[str, str]) -> str:
    reached = f"{100 * int(row['reached']) / int(row['episodes']):.0f}"
    return f"{reached} ({row['median_tick']})" if row["median_tick"] else reached


NOT_HERE = Table(
    "Not here",
    """- Table 3 and the figures of images, of the controller's training and of Minecraft's views need the game and its
  learned controller.
- Tables 7 and 8 are played on a table top, a world that the suite does not have yet.
- Table 18, the success of single goals, is not a result here but an input: `reliability="published"`.""",
)
TABLES = (TASK_GROUPS, TABLE_2, TABLE_2_WIDE, TABLE_4, TABLE_5, SELECTORS)
