from __future__ import annotations

import hashlib

import pytest

from textcraft_gym.reports.differences import as_sentence, differences
from textcraft_gym.runs.run_spec import RunSpec


def config(agent: str = "react", **more) -> dict:
    options = {"model": "tests.doubles:Crafter", **more}
    digests = {"env_sha256": "e", "tasks_sha256": "t", "prompts_sha256": "p", "version": "1"}
    given = {name: options.pop(name) for name in (*digests, "codes") if name in options}
    described = RunSpec("TextCraft-v0", "test", agent, **options).described()
    return {**described, **digests, "codes": ["abc"], **given}


def named_differences(*configs: dict) -> list[str]:
    return differences({f"run {number}": config for number, config in enumerate(configs)})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"max_steps": 300}, "budgets differ: 50 and 300 steps"),
        ({"max_calls": 9}, "budgets differ: 1000 and 9 calls"),
        ({"episode_tokens": 5}, "budgets differ: unlimited and 5 tokens an episode"),
        ({"prompts": "short"}, "prompts differ: standard and short"),
        ({"planner": "openai:m"}, "planners differ: none and openai:m"),
        ({"temperature": 0.7}, "temperatures differ: 0 and 0.7"),
        ({"split": "dev"}, "splits differ: test and dev"),
        ({"limit": 8}, "limits of tasks differ: none and 8"),
        ({"wrappers": ("A", "B")}, "wrappers differ: none and A, B"),
        ({"env_args": {"distractors": 9}}, "distractors differs: default and 9"),
        ({"env_args": {"admissible": True}}, "hints differ: none and admissible commands"),
        ({"seed": 3}, "seeds differ: 0 and 3"),
        ({"version": "2", "codes": ["def"]}, "versions differ: 1 and 2"),
        ({"codes": ["abc", "def"]}, "code differs: abc and abc then def"),
        ({"tasks_sha256": "u"}, "the tasks of one name differ: digests t and u"),
    ],
)
@pytest.mark.parametrize("agent", ["react", "adapt"])
def test_differences__name_each_setting_that_is_not_compared(agent: str, more: dict, said: str):
    options = {"max_steps": 50, **more}
    if "split" in options:
        changed = config(agent, max_steps=50) | options
    else:
        changed = config(agent, **options)
    assert named_differences(config("react", max_steps=50), changed) == [said]


def test_differences__budgets_stand_first_in_one_sentence():
    said = as_sentence(
        named_differences(config(max_steps=50), config("adapt", max_steps=300, seed=1))
    )
    assert said == "Budgets differ: 50 and 300 steps; seeds differ: 0 and 1."
    assert as_sentence([]) == ""


def test_differences__what_is_compared_is_none():
    a, b = "openai:a,endpoint=chat", "openai:b,endpoint=chat,price=1/2"
    assert named_differences(config(model=a), config(model=b)) == []
    assert named_differences(config(model=a), config("adapt", model=a)) == []
    assert named_differences(config(model=a), config("adapt", model=b)) == [
        "models differ: openai:a and openai:b"
    ]
    completion = "openai:b,endpoint=completion"
    assert named_differences(config(model=a), config(model=completion)) == [
        "endpoint differs: chat and completion",
        "form differs: chat and line",
    ]


def test_differences__runs_that_ask_no_model_differ_in_none():
    asking = config("adapt", temperature=0.5, prompts="short", max_calls=3)
    assert named_differences(asking, config("random")) == []
    assert (
        named_differences({**asking, "model": 5}, {**asking, "model": [5]}) == []
    )  # a config may be foreign


def test_differences__of_agents_are_no_options_that_one_alone_takes():
    assert named_differences(config("react"), config("adapt", agent_args={"d_max": 3})) == []
    first, second = (config("adapt", agent_args={"d_max": depth}) for depth in (1, 3))
    assert named_differences(first, second) == ["d_max differs: 1 and 3"]
    assert named_differences(first, config("adapt")) == ["d_max differs: 1 and default"]


def test_differences__of_three_runs_say_whose():
    assert named_differences(
        config(max_steps=50), config(max_steps=300), config(max_steps=300)
    ) == ["budgets differ: 50 (run 0) and 300 (run 1, run 2) steps"]


def test_differences__a_world_that_differs_needs_no_digests():
    other = config(env_args={"tags": "item"}, env_sha256="f", tasks_sha256="u")
    assert named_differences(config(), other) == ["tags differs: default and item"]


def test_differences__cut_long_values_but_tell_them_apart():
    digests = [hashlib.sha256(text).hexdigest() for text in (b"a", b"b")]
    (said,) = named_differences(*(config(env_sha256=digest) for digest in digests))
    assert said.endswith(f"digests {digests[0][:12]}... and {digests[1][:12]}...")
    (said,) = named_differences(config(), config(prompts="x" * 99))
    assert said == f"prompts differ: standard and {'x' * 40}..."
