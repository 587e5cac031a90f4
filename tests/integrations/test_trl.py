"""Games as tools: what TRL's trainer is given, and the trainer itself with a tiny model."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import textcraft_gym
from tests.examples.conftest import EXAMPLES
from textcraft_gym import ToolGame, UnknownName
from textcraft_gym.integrations.trl import (
    PROMPT,
    TextCraftGame,
    WebShopGame,
    dataset,
    game,
)
from textcraft_gym.registration import BUNDLED
from textcraft_gym.session import OVER

LADDER = {"task": "minecraft:ladder", "seed": 0}


def tools_of(made: object) -> set[str]:
    """The public methods that TRL makes tools of: those of the class, without the two that it calls
    itself."""
    methods = {
        name
        for name, _ in inspect.getmembers(type(made), inspect.isfunction)
        if not name.startswith("_")
    }
    return methods - {"reset", "get_reward"}


@pytest.mark.parametrize("env_id", BUNDLED)
def test_game__has_one_tool_and_plays_as_the_environment(env_id):
    made = game(env_id, expert=True)()
    assert type(made) is ToolGame
    assert tools_of(made) == {"step"}
    env = gym.make(env_id, expert=True)
    for seed in (1, 1, 2):
        observation, info = env.reset(seed=seed)
        assert (
            made.reset(prompt=[], task=info["task"], seed=seed, environment=env_id) == observation
        )
        rewards = [0.0]
        for action in info["expert_plan"][:5]:
            observation, reward, terminated, _, info = env.step(action)
            rewards.append(reward)
            end = "\nThe game is won." if terminated else ""
            assert made.step(action) == f"{observation}{end}"
            assert made.get_reward() == pytest.approx(sum(rewards))
            if terminated:
                break


def test_game__answers_after_its_end_and_is_played_again():
    made = game("TextCraft-v0", max_steps=2)()
    first = made.reset(**LADDER)
    made.step("inventory")
    assert made.step("Action: get 2 bamboo") == "Got 2 bamboo\nThe game is over."
    assert made.step("get 2 bamboo") == OVER
    assert made.reset(**LADDER) == first
    assert made.step("inventory") == "Inventory: You are not carrying anything."


def test_game__with_a_shaped_reward_tells_how_far_it_came():
    made = game("TextCraft-v0", expert=True, wrappers=["SubgoalReward,gamma=1"])()
    made.reset(**LADDER)
    made.step("inventory")
    assert made.get_reward() == 0
    made.step(made._episode.last.info["expert_plan"][0])
    assert made.get_reward() == pytest.approx(0.1)


def test_verbs__win_textcraft():
    made = game("TextCraft-v0", tools="verbs", distractors=0)()
    assert tools_of(made) == {"get", "craft", "inventory"}
    made.reset(**LADDER)
    for _ in range(7):
        assert made.get(2, "bamboo") == "Got 2 bamboo"
        assert made.craft("1 stick using 2 bamboo") == "Crafted 1 minecraft:stick"
    assert made.inventory() == "Inventory: [stick] (7) "
    assert made.craft("craft 3 ladder using 7 stick") == (
        "Crafted 3 minecraft:ladder\nThe game is won."
    )
    assert made.get_reward() == 1


def test_verbs__shop():
    made, env = game("WebShopLite-v0", tools="verbs")(), gym.make("WebShopLite-v0")
    assert type(made) is WebShopGame
    assert tools_of(made) == {"search", "click"}
    assert made.reset(seed=4) == env.reset(seed=4)[0]
    assert made.search("red shoes") == env.step("search[red shoes]")[0]
    assert made.click("Back to Search") == env.step("click[Back to Search]")[0]


@pytest.mark.parametrize(
    ("amount", "item"),
    [
        (2.0, "bamboo"),
        ("2", "bamboo"),
        ("2.0", "Bamboo"),
        ('"2"', '"bamboo"'),
        (2, "`bamboo`"),
        (2, "[bamboo]"),
        (2, "2 bamboo"),
        (2, "get 2 bamboo"),
        (2, "bamboo.\n"),
    ],
)
def test_get__reads_the_arguments_that_models_write(amount, item):
    made = game("TextCraft-v0", tools="verbs", distractors=0)()
    made.reset(**LADDER)
    assert made.get(amount, item) == "Got 2 bamboo"


@pytest.mark.parametrize(
    "amount", [2.5, "two", None, True, float("inf"), float("nan"), 1e20, -2, 0]
)
def test_get__of_no_whole_number_is_answered_by_the_game(amount):
    made = game("TextCraft-v0", tools="verbs", distractors=0)()
    made.reset(**LADDER)
    assert made.get(amount, "bamboo").startswith("Could not ")


@pytest.mark.parametrize(
    "recipe",
    [
        "craft 1 stick using 2 bamboo",
        "Craft 1 Stick using 2 Bamboo.",
        '"1 stick using 2 bamboo"',
        "[craft 1 stick\nusing 2 bamboo]",
    ],
)
def test_craft__reads_the_recipes_that_models_write(recipe: str):
    made = game("TextCraft-v0", tools="verbs", distractors=0)()
    made.reset(**LADDER)
    made.get(2, "bamboo")
    assert made.craft(recipe) == "Crafted 1 minecraft:stick"


@pytest.mark.parametrize(
    "button", ["[Next >]", "next >", '"Next >"', "[[Next >]]", "click[Next >]", "Next >\n"]
)
def test_click__reads_a_button_as_it_is_written_on_the_page(button: str):
    made = game("WebShopLite-v0", tools="verbs")()
    made.reset(seed=0)
    assert "[Next >]" in made.search("shoe")
    assert "Page 2" in made.click(button)


@pytest.mark.parametrize(
    "keywords",
    [
        "red\nshoe",
        "[red shoe]",
        '"red shoe"',
        "search[red shoe]",
        "red  shoe",
        "Action: x\nred shoe",
    ],
)
def test_search__reads_keywords_on_any_lines(keywords: str):
    made, env = game("WebShopLite-v0", tools="verbs")(), gym.make("WebShopLite-v0")
    made.reset(seed=0)
    env.reset(seed=0)
    words = "action: x red shoe" if "Action" in keywords else "red shoe"
    assert made.search(keywords) == env.step(f"search[{words}]")[0]


def test_search__for_the_word_search_keeps_it():
    made, env = game("WebShopLite-v0", tools="verbs")(), gym.make("WebShopLite-v0")
    made.reset(seed=0)
    env.reset(seed=0)
    assert made.search("Search light") == env.step("search[search light]")[0]


def test_names__that_do_not_exist_raise():
    with pytest.raises(UnknownName, match="unknown tools 'verb'"):
        game("TextCraft-v0", tools="verb")
    with pytest.raises(UnknownName, match="tools for verbs 'alfworld'"):
        game("ALFWorld-v0", tools="verbs")
    with pytest.raises(UnknownName):
        game("TextCraft-v1")
    with pytest.raises(UnknownName, match=r"'max_step'\. Did you mean max_steps"):
        game("TextCraft-v0", max_step=5)


def test_tools__have_schemas():
    utils = pytest.importorskip(
        "transformers.utils", reason="transformers (extra [trl]) is not installed"
    )
    for tool in (
        ToolGame.step,
        TextCraftGame.get,
        TextCraftGame.craft,
        TextCraftGame.inventory,
        WebShopGame.click,
    ):
        schema = utils.get_json_schema(tool)["function"]
        names = set(inspect.signature(tool).parameters) - {"self"}
        assert set(schema["parameters"]["properties"]) == names
        assert all(
            parameter["description"] for parameter in schema["parameters"]["properties"].values()
        )
    assert (
        utils.get_json_schema(TextCraftGame.get)["function"]["parameters"]["properties"]["amount"][
            "type"
        ]
        == "integer"
    )


def test_dataset__is_the_split_and_resets_a_game():
    pytest.importorskip("datasets", reason="datasets (extra [trl]) is not installed")
    rows = dataset("TextCraft-v0", "dev", seeds=[3, 5])
    tasks = [task.id for task in textcraft_gym.tasks("TextCraft-v0", "dev")]
    assert [(row["task"], row["seed"]) for row in rows] == [
        (task, seed) for task in tasks for seed in (3, 5)
    ]
    assert rows[0]["prompt"] == [{"role": "user", "content": PROMPT}]
    assert set(rows["environment"]) == {"TextCraft-v0"}
    env = gym.make("TextCraft-v0")
    assert (
        game("TextCraft-v0")().reset(**rows[1]) == env.reset(seed=5, options={"task": tasks[0]})[0]
    )
    assert len(dataset("ALFWorld-v0", "train", limit=3, prompt="Play.\n\n")) == 3


@pytest.mark.filterwarnings("default")
def test_trainer__plays_worlds_with_the_calls_of_a_model(tmp_path: Path):
    trl = pytest.importorskip("trl", reason="TRL (extra [trl]) is not installed")
    from datasets import concatenate_datasets

    from textcraft_gym.integrations.tiny_chat_model import network_for, tokenizer_for

    ids = ["TextCraft-v0", "ALFWorld-v0"]
    seen = [PROMPT, *(gym.make(env_id).reset(seed=0)[0] for env_id in ids)]
    tokenizer = tokenizer_for([{"role": "user", "content": text}] for text in seen)
    call = '<tool_call>\n{"name": "step", "arguments": {"action": "inventory"}}\n</tool_call><|im_end|>'
    scripted: Any = tokenizer(call)["input_ids"]
    config = trl.GRPOConfig(
        str(tmp_path),
        use_cpu=True,
        bf16=False,
        max_steps=2,
        per_device_train_batch_size=4,
        num_generations=2,
        max_completion_length=400,
        max_tool_calling_iterations=3,
        logging_steps=1,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )
    network = network_for(tokenizer, width=32)
    before = [weight.detach().clone() for weight in network.parameters()]
    trainer = trl.GRPOTrainer(
        network,
        args=config,
        reward_funcs=lambda completions, **_: [float(at % 2) for at in range(len(completions))],
        train_dataset=concatenate_datasets(
            [dataset(ids[0], "dev", limit=2), dataset(ids[1], "train", limit=2)]
        ),
        processing_class=tokenizer,
        environment_factory={env_id: game(env_id) for env_id in ids},
    )
    trainer._generate_single_turn = lambda prompts, *_, **__: (
        [list(scripted) for _ in prompts],
        None,
    )
    trainer.train()
    logged = [log for log in trainer.state.log_history if "tools/call_frequency" in log]
    assert [(log["tools/call_frequency"], log["tools/failure_frequency"]) for log in logged] == [
        (3, 0)
    ] * 2
    assert [log["rewards/ToolGame/mean"] for log in logged] == [0, 0]
    assert any(
        (old != new).any() for old, new in zip(before, trainer.model.parameters(), strict=True)
    )
    observed = {
        made._episode.observation for pool in trainer._environment_pool.values() for made in pool
    }
    assert observed >= {
        "Inventory: You are not carrying anything.",
        "You are not carrying anything.",
    }


def test_page__its_code_does_as_it_says(capsys: pytest.CaptureFixture[str]):
    page = (EXAMPLES.parent / "docs" / "trl.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for extra, block in re.findall(r"```python( extra)?\n(.*?)```", page, re.DOTALL):
        code = compile(block, "docs/trl.md", "exec")
        if not extra:
            exec(code, names)
    said = ["Goal: craft ladder.", "Crafted 3 minecraft:ladder", "The game is won. 1.0", OVER]
    assert capsys.readouterr().out.splitlines() == said
    assert names["shaped"].reset(seed=0)
