from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.agents.adapt.step_plan import (
    MAX_NESTING,
    MAX_STEP_LENGTH,
    MAX_STEPS,
    Group,
    Plan,
    parse_plan,
)

ABC = "Step 1: a\nStep 2: b\nStep 3: c\n"


def all_of(*parts: Plan) -> Group:
    return Group("all", parts)


def any_of(*parts: Plan) -> Group:
    return Group("any", parts)


@pytest.mark.parametrize(
    ("order", "plan"),
    [
        ("Execution Order: (Step 1 AND Step 2 AND Step 3)", all_of("a", "b", "c")),
        ("Execution Order: (Step 1 OR Step 2 OR Step 3)", any_of("a", "b", "c")),
        ("Execution Order: (Step 1 AND (Step 2 OR Step 3))", all_of("a", any_of("b", "c"))),
        ("Execution Order: Step 1 AND Step 2 OR Step 3", any_of(all_of("a", "b"), "c")),
        ("Execution Order: Step 1 OR Step 2 AND Step 3", any_of("a", all_of("b", "c"))),
        ("execution order: step 3 and step 1", all_of("c", "a")),
        ("Execution Order: Step 1, Step 2, Step 3", all_of("a", "b", "c")),
        ("Execution Order: 1 AND 2", all_of("a", "b")),
        ("Execution Order: (Step 1 AND (Step 2 OR Step 3", all_of("a", any_of("b", "c"))),
        ("Execution Order: Step 1) AND Step 2)", all_of("a", "b")),
        ("Execution Order: (Step 1 OR Step 2)) AND Step 3", all_of(any_of("a", "b"), "c")),
        ("Execution Order: (((Step 2)))", "b"),
        ("Execution Order: Step 1 AND Step 9", "a"),
        ("Execution Order: Step 1 AND Step 1", all_of("a", "a")),
        ("Execution Order:", all_of("a", "b", "c")),
        ("Execution Order: AND OR ( )", all_of("a", "b", "c")),
        ("", all_of("a", "b", "c")),
        ("Execution Order: Step 2\nStep 4: d\nExecution Order: Step 4", "b"),
    ],
)
def test_parse_plan__reads_the_order(order: str, plan: Plan):
    assert parse_plan(ABC + order) == plan


def test_parse_plan__goes_by_the_printed_number():
    text = "# Think first.\nStep 2: second\n\nStep 1: first\n  - step 7. seventh\nExecution Order: (1 AND 2 AND 7)"
    assert parse_plan(text) == all_of("first", "second", "seventh")


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "I cannot plan this.", "# Step 1: no", "Step 1:", "Execution Order: (Step 1)"],
)
def test_parse_plan__of_nothing_is_none(text: str):
    assert parse_plan(text) is None


def render(plan: Plan) -> tuple[str, list[str]]:
    """Write a plan as a careful planner would: every group in brackets, every step with a number of
    its own."""
    number = itertools.count(1)
    steps: list[str] = []

    def order(part: Plan) -> str:
        if isinstance(part, Group):
            return (
                "(" + {"all": " AND ", "any": " OR "}[part.logic].join(map(order, part.parts)) + ")"
            )
        steps.append(f"Step {next(number)}: {part}")
        return f"Step {len(steps)}"

    line = order(plan)
    return line, steps


plans = st.recursive(
    st.sampled_from(["get 2 oak logs", "craft 1 chest", "a step with AND and (brackets)"]),
    lambda parts: st.builds(
        Group, st.sampled_from(["all", "any"]), st.lists(parts, min_size=2, max_size=4).map(tuple)
    ),
    max_leaves=12,
)


@given(plans)
def test_parse_plan__reads_back_what_was_written(plan: Plan):
    line, steps = render(plan)
    assert parse_plan("\n".join([*steps, f"Execution Order: {line}"])) == plan


pieces = st.sampled_from(
    [
        "Step",
        "step ",
        "1",
        "2",
        "3",
        ":",
        " text",
        "\n",
        "#",
        "(",
        ")",
        " AND ",
        " or ",
        ",",
        "Execution Order:",
        "٣",
    ]
)


def depth(plan: Plan | None) -> int:
    return 1 + max(map(depth, plan.parts)) if isinstance(plan, Group) else 0


@given(st.lists(st.one_of(pieces, st.text()), max_size=60).map("".join))
def test_parse_plan__never_raises(text: str):
    assert depth(parse_plan(text)) <= 2 * MAX_NESTING + 2


@pytest.mark.parametrize(
    "order", ["(" * 100_000, ")" * 100_000, "Step 1 OR (" * 50_000, "Step 1 AND " * 50_000]
)
def test_parse_plan__bounds_what_is_endless(order: str):
    plan = parse_plan(ABC + "Execution Order: " + order)
    assert plan is not None
    assert depth(plan) <= 2 * MAX_NESTING + 2


def test_parse_plan__bounds_the_steps():
    plan = parse_plan("\n".join(f"Step {n}: do {n}" for n in range(10 * MAX_STEPS)))
    assert isinstance(plan, Group)
    assert len(plan.parts) == MAX_STEPS


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("My plan and its execution order.\nStep 1: a\nStep 2: b", Group("all", ("a", "b"))),
        ("Step 1: a\nStep 2: follow the execution order 1: yes\nStep 3: c", None),
        ("Step 1: a\nStep 2: b\nExecution Order:\n(Step 1 OR Step 2)", Group("any", ("a", "b"))),
        (
            "Step 1: a\nStep 2: b\nStep 3: c\nExecution Order: (Step 1 OR Step 2), it takes 3 logs",
            Group("any", ("a", "b")),
        ),
        ("Step 1: a\nStep 2: b\nExecution Order: 1OR2", Group("any", ("a", "b"))),
        (
            "**Step 1:** a\n- Step 2: b\n**Execution Order:** (Step 1 OR Step 2)",
            Group("any", ("a", "b")),
        ),
        ("Step 1: a\nStep 1: b\nStep 2: c", Group("all", ("a", "c"))),
    ],
)
def test_parse_plan__reads_what_models_write(text: str, plan: Group | None):
    expected = plan or Group("all", ("a", "follow the execution order 1: yes", "c"))
    assert parse_plan(text) == expected


def test_parse_plan__bounds_nesting_and_length():
    deep = parse_plan(
        "Step 1: a\nStep 2: b\nExecution Order: " + "(1 AND (2 OR " * 50 + "1" + "))" * 50
    )

    def depth(plan) -> int:
        return 1 + max(map(depth, plan.parts)) if isinstance(plan, Group) else 0

    assert depth(deep) <= 2 * MAX_NESTING + 2
    assert parse_plan("Step 1: " + "x" * 5000) == "x" * MAX_STEP_LENGTH
