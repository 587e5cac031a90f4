"""AutoPlan (Ouyang and Li, 2023): its tables and figures of which text worlds can show numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from textcraft_gym.papers.table import (
    Column,
    Paper,
    Row,
    Setting,
    Statement,
    Table,
    Training,
    cells,
    is_above,
)

ALFWORLD = Setting("ALFWorld-v0", "valid_unseen", "autoplan", wrappers=("HelpfulFeedback",))
HOTPOTQA = Setting("HotpotQA-v0", "dev", "autoplan")
ACTIONS = 35
"""Maximum number of actions in ALFWorld, of every method."""
TRIALS = 5
"""Trials of Reflexion."""
TYPES: Mapping[str, str] = {
    "Pick": "pick_and_place_simple",
    "Light": "look_at_obj_in_light",
    "Clean": "pick_clean_then_place_in_recep",
    "Heat": "pick_heat_then_place_in_recep",
    "Cool": "pick_cool_then_place_in_recep",
    "Pick Two": "pick_two_obj_and_place",
}
GAMES: Mapping[str, int] = {
    "Pick": 24,
    "Light": 18,
    "Clean": 31,
    "Heat": 23,
    "Cool": 21,
    "Pick Two": 17,
}
"""Number of games of each type in the test split."""
SHOWN = replace(
    ALFWORLD,
    agent="react",
    args={"demonstrations": "task", "turns": 2 * ACTIONS},
    max_steps=ACTIONS,
)
"""ReAct with whole tasks in its prompt; a thought and an action are two turns."""
REFLEXION = replace(
    SHOWN,
    agent="reflexion",
    args={**SHOWN.args, "d_max": TRIALS},
    max_steps=TRIALS * ACTIONS,
)
ADAPLANNER = Setting("ALFWorld-v0", "valid_unseen", "adaplanner")
NUMBERED = replace(HOTPOTQA, agent="react", args={"form": "numbered", "turns": 20})
"""ReAct with whole tasks in its prompt; a thought with its action is two turns."""
TRAINED = replace(HOTPOTQA, training=Training(50))


def trained(name: str, **training: int | str) -> Setting:
    """Return AutoPlan with a plan for a type of task."""
    how = replace(Training(24), **training)  # type: ignore[arg-type]
    return replace(ALFWORLD, env_args={"task_types": TYPES[name]}, training=how)


TABLE_3A = Table(
    "table3a",
    "Table 3a: ALFWorld, success (%) by type of task",
    "The 134 games of ALFWorld's unseen rooms, where the official games are installed; else as "
    f"many made households. Every method has at most {ACTIONS} actions, Reflexion as many for "
    f"each of {TRIALS} trials, and a game that says why an action failed. AdaPlanner has the plain "
    "game, its episodes end with its last function instead, and its prompts of any set show one "
    "program. ReAct without examples is AutoPlan "
    "without a plan. AutoPlan's plans are trained on 24 games of each type, in 3 batches of 4.",
    tuple(Column(name, group, episodes=GAMES[name]) for name, group in TYPES.items()),
    (
        Row(
            "butler",
            "BUTLER",
            None,
            cells("46 22 39 74 100 24"),
            "it is a network that was trained on the games",
        ),
        Row("adaplanner", "AdaPlanner, 1-shot", ADAPLANNER, cells("100 100 97 96 100 47")),
        Row("react", "ReAct, 2-shot", SHOWN, cells("100 100 100 91 96 76"), needs_examples=True),
        Row(
            "reflexion",
            "Reflexion, 2-shot",
            REFLEXION,
            cells("100 100 100 91 100 94"),
            needs_examples=True,
        ),
        Row(
            "adaplanner_0",
            "AdaPlanner, 0-shot",
            replace(ADAPLANNER, args={"examples": 0}),
            cells("0 0 0 0 0 0"),
        ),
        Row("react_0", "ReAct, 0-shot", ALFWORLD, cells("92 94 87 35 71 59")),
        Row(
            "reflexion_0",
            "Reflexion, 0-shot",
            None,
            cells("96 100 97 52 81 88"),
            "every prompt of the suite's Reflexion in ALFWorld has examples",
        ),
        Row(
            "autoplan",
            "AutoPlan",
            tuple(trained(name) for name in TYPES),
            cells("100 100 97 96 90 82"),
        ),
    ),
    (
        Statement(
            "AutoPlan wins up to 44 points more than the best agent without examples (in Heat, 96 "
            "against 52)",
            (is_above("autoplan", "reflexion_0", "Heat"),),
        ),
    ),
    notes=("AutoPlan's types add up to 127 of 134 games. The text speaks of 137 once.",),
    prompted="ReAct and Reflexion with examples see whole tasks: in the paper two of the type at "
    "hand, here one of each type.",
)
QUESTIONS = (
    "The paper's are 200 questions of the original's development split, judged by three people; "
    "here are 200 made questions, or the original's, by exact match."
)
TABLE_3B = Table(
    "table3b",
    "Table 3b: HotpotQA, accuracy (%)",
    f"{QUESTIONS} Every method has ten actions. ReAct without examples is AutoPlan without a "
    "plan. AutoPlan's plan is trained in 3 batches of 4 out of 50 questions: in the paper hard "
    "ones, here of all levels.",
    (Column("accuracy", episodes=200),),
    (
        Row(
            "chain_of_skills",
            "Chain-of-Skills",
            None,
            cells("90"),
            "it is trained on the questions",
        ),
        Row("react_0", "ReAct, 0-shot", HOTPOTQA, cells("70")),
        Row("react", "ReAct, 6-shot", NUMBERED, cells("75"), needs_examples=True),
        Row("autoplan", "AutoPlan", TRAINED, cells("83")),
    ),
    prompted="ReAct with examples has three where the paper has six.",
)
COSTS = (
    Column("dollars, training"),
    Column("dollars, inference", measure="cost"),
    Column("calls", measure="calls"),
)
PRICES = (
    "Dollars a question. Those of your model are of the prices that you give with it, and of "
    "tests alone; completions stand beside them, since prices have changed."
)
TABLE_4A = Table(
    "table4a",
    "Table 4: cost in ALFWorld",
    f"{PRICES} The settings are those of table 3a.",
    COSTS,
    (
        *(
            Row(key, label, (None, played, played), cells(published), needs_examples=True)
            for key, label, played, published in (
                ("react", "ReAct, 2-shot", SHOWN, "? 3 ?"),
                ("reflexion", "Reflexion, 2-shot", REFLEXION, "? 17 ?"),
            )
        ),
        Row("adaplanner", "AdaPlanner, 1-shot", (None, ADAPLANNER, ADAPLANNER), cells("? 2.1 ?")),
        Row(
            "autoplan",
            "AutoPlan",
            None,
            cells("1.8 1.6 ?"),
            "it has a plan and so a run for each type, and a cell holds one run; those of table "
            "3a say what they took",
        ),
    ),
)
TABLE_4B = Table(
    "table4b",
    "Table 4: cost in HotpotQA",
    f"{PRICES} The settings are those of table 3b.",
    COSTS,
    (
        Row("react_0", "ReAct, 0-shot", (None, HOTPOTQA, HOTPOTQA), cells("? 0.15 ?")),
        Row(
            "react",
            "ReAct, 6-shot",
            (None, NUMBERED, NUMBERED),
            cells("? 0.46 ?"),
            needs_examples=True,
        ),
        Row("autoplan", "AutoPlan", (None, TRAINED, TRAINED), cells("0.26 0.23 ?")),
    ),
    (
        Statement(
            "with its plan AutoPlan costs less than ReAct with examples",
            (is_above("react", "autoplan", "dollars, inference"),),
            "section 4.4",
        ),
    ),
)
ITERATIONS = (1, 2, 3)
AFTER = tuple(Column(f"iteration {number}", TYPES["Heat"]) for number in ITERATIONS)


def after_each(**training: int | str) -> tuple[Setting, ...]:
    """Return AutoPlan in Heat after each iteration of a training."""
    return tuple(trained("Heat", iterations=number, **training) for number in ITERATIONS)


TABLE_5 = Table(
    "table5",
    "Table 5: p-values between batch sizes, in Heat",
    "Of the difference in success between the runs of figure 3, by Student's t-test. The paper "
    "has five runs of each: a p-value takes two seeds at least.",
    tuple(column._replace(measure="p_value") for column in AFTER),
    tuple(
        Row(
            f"batch2_{size}",
            f"batch of 2 and of {size}",
            after_each(batch=2),
            cells(published),
            against=after_each(batch=size),
        )
        for size, published in ((4, "0.44 0.35 0.013"), (8, "0.007 0.110 0.005"))
    ),
)
FIGURE_3 = Table(
    "figure3",
    "Figure 3: success (%) in Heat after each iteration",
    "Plans by batches of 2, 4 and 8 episodes, and one that is updated after summaries alone. "
    "The paper has five runs of each. It shows a picture without numbers.",
    AFTER,
    (
        *(Row(f"batch{size}", f"batch of {size}", after_each(batch=size)) for size in (2, 4, 8)),
        Row("summary", "summary alone", after_each(reflect="summary")),
        Row("react_0", "ReAct, 0-shot", ALFWORLD),
    ),
    (
        Statement(
            "with the summary alone success swings between 0 and 30%, below that of ReAct "
            "without examples",
            tuple(is_above("react_0", "summary", column.heading) for column in AFTER),
        ),
    ),
)
AUTOPLAN = Paper(
    "autoplan",
    "Ouyang and Li, AutoPlan: Automatic Planning of Interactive Decision-Making Tasks With "
    "Large Language Models, 2023",
    (TABLE_3A, TABLE_3B, TABLE_4A, TABLE_4B, TABLE_5, FIGURE_3),
    {
        "table1": "it says in words how the methods differ",
        "table2": "it has the prompts of the update",
        "table6": "it lists what the game says of actions that failed",
        "table7": "it has two templates of each type of task",
        "table8": "it shows correct actions of each type of task",
    },
)
