"""The forms in which an executor talks with a model: each wins each world, by the commands of the
expert."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import textcraft_gym
from textcraft_gym.agents.adapt.conversation import NO_CALL, tools_of
from textcraft_gym.agents.contract.model import Completion, Dialogue, ToolCall, prompt_messages
from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.registration import find
from textcraft_gym.replies import CommandReader

WORLDS = (
    "TextCraft-v0",
    "ALFWorld-v0",
    "WebShopLite-v0",
    "HotpotQA-v0",
    "MineTechTree-v0",
    "Tabletop-v0",
)


def plan_of(env_id: str, task: str | None = None) -> tuple[str, list[str]]:
    """Return a task with its expert plan."""
    env = gym.make(env_id, expert=True)
    _, info = env.reset(seed=0, options={"task": task} if task else None)
    return info["task"], list(info["expert_plan"])


def reader_of(env_id: str) -> CommandReader:
    return Prompts().commands(load_profile(find(env_id).profile).name)


def call_of(reader: CommandReader, command: str, number: int = 0) -> ToolCall:
    """Return the call that plays a command, made of the form alone."""
    for form in reader.forms:
        pattern = re.sub(
            r"\\\{(.+?)\\\}",
            lambda name: r"(\d+)" if name[1] == "count" else "(.+)",
            re.escape(form.form),
        )
        if match := re.fullmatch(pattern, command):
            arguments: dict[str, Any] = dict(zip(form.parameters, match.groups(), strict=True))
            if "count" in arguments:
                arguments["count"] = float(arguments["count"])  # as some servers write numbers
            return ToolCall(f"call_{number}", form.name, json.dumps(arguments))
    raise AssertionError(f"no form of {command!r}")


class Saying:
    """A model that answers one completion after the other, and keeps what it was asked."""

    takes_tools = True

    def __init__(self, form: str, answers: Iterator[Completion]) -> None:
        self.form = form
        self.answers = answers
        self.asked: list[dict[str, Any]] = []

    def complete(self, prompt: Dialogue, *, tools: tuple[Any, ...] = (), **how: Any) -> Completion:
        self.asked.append(
            {"messages": prompt_messages(prompt), "text": str(prompt), "tools": tools, **how}
        )
        return next(self.answers)


def play(env_id: str, model: Any, task: str, agent: str = "react", **args: Any) -> Any:
    made = make_agent(agent, profile=find(env_id).profile, args=args)
    return textcraft_gym.run_episode(gym.make(env_id), made, task=task, seed=0, model=model)


@pytest.mark.parametrize("env_id", WORLDS)
def test_chat__wins_each_world_with_instructions_in_a_system_message(env_id: str):
    task, plan = plan_of(env_id)
    model = Saying("chat", iter([Completion(f"think: I go on.\n{command}") for command in plan]))
    episode = play(env_id, model, task, turns=200, patience=200)
    assert (episode.won, [action for action, _ in episode.transcript[1:]]) == (True, plan)
    first, last = model.asked[0], model.asked[-1]
    assert [message.role for message in first["messages"]] == ["system", "user"]
    assert first["messages"][0].content.endswith("When you see no way to do it, reply task failed!")
    assert not first["messages"][1].content.endswith(">")
    assert {message.role for message in last["messages"][1::2]} == {"user"}
    assert (first["stop"], first["max_tokens"], first["tools"]) == ((), 512, ())


@pytest.mark.parametrize("env_id", WORLDS)
def test_tools__win_each_world_by_calls_of_its_verbs(env_id: str):
    task, plan = plan_of(env_id)
    reader = reader_of(env_id)
    answers = [
        Completion("", tool_calls=(call_of(reader, command, n),)) for n, command in enumerate(plan)
    ]
    model = Saying("tools", iter(answers))
    episode = play(env_id, model, task, turns=200, patience=200)
    assert (episode.won, [action for action, _ in episode.transcript[1:]]) == (True, plan)
    assert model.asked[0]["tools"] == tools_of(reader)
    if len(plan) > 1:
        *_, assistant, result = model.asked[1]["messages"]
        assert assistant.tool_calls == answers[0].tool_calls
        assert (result.role, result.tool_call_id, result.content) == (
            "tool",
            "call_0",
            episode.transcript[1][1],
        )


def test_tools__of_one_answer_are_played_and_answered_in_order():
    task, plan = plan_of("TextCraft-v0", "minecraft:beehive")
    reader = reader_of("TextCraft-v0")
    calls = tuple(call_of(reader, command, n) for n, command in enumerate(plan))
    model = Saying(
        "tools",
        iter(
            [
                Completion("I do all at once.", tool_calls=calls[:2]),
                Completion("", tool_calls=calls[2:]),
            ]
        ),
    )
    episode = play("TextCraft-v0", model, task)
    assert (episode.won, episode.calls) == (True, {"executor": 2})
    roles = [(message.role, message.tool_call_id) for message in model.asked[1]["messages"][2:]]
    assert roles == [("assistant", ""), ("tool", "call_0"), ("tool", "call_1")]


def test_tools__that_do_not_exist_are_answered_and_counted():
    task, _ = plan_of("TextCraft-v0", "minecraft:beehive")
    wrong = (
        ToolCall("a", "fly", "{}"),
        ToolCall("b", "get", '{"count": 2}'),
        ToolCall("c", "get", "no JSON"),
    )
    answers = [
        Completion("", tool_calls=wrong),
        Completion("I do not know."),
        Completion("Task completed!"),
    ]
    model = Saying("tools", iter(answers))
    episode = play("TextCraft-v0", model, task)
    assert (episode.steps, episode.claimed_success) == (0, True)
    # Three calls in one reply, one without a command, and the claim.
    assert episode.replies == {"asked": 3, "bare": 1, "no_command": 4}
    assert [
        message.content for message in model.asked[1]["messages"] if message.role == "tool"
    ] == [NO_CALL] * 3


@pytest.mark.parametrize("env_id", WORLDS)
def test_tools__have_a_name_a_description_and_a_schema(env_id: str):
    tools = tools_of(reader_of(env_id))
    assert len({tool.name for tool in tools}) == len(tools) > 1
    for tool in tools:
        assert re.fullmatch(r"[a-zA-Z0-9_]{1,64}", tool.name)
        assert tool.description
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
        assert all(re.fullmatch(r"[a-z_]+", name) for name in tool.parameters["properties"])


@pytest.mark.parametrize("agent", ["adapt", "plan_and_execute", "try_again", "reflexion"])
def test_chat__is_the_form_of_every_agent_that_has_the_executor(agent: str):
    task, plan = plan_of("TextCraft-v0", "minecraft:beehive")
    said = [f"**Action:** `{command}`" for command in plan]
    planned = (
        ["Here is my plan:\n\n### **Step 1**: craft beehive"] if agent == "plan_and_execute" else []
    )
    model = Saying("chat", map(Completion, [*planned, *said]))
    episode = play("TextCraft-v0", model, task, agent)
    asked = len(planned) + len(plan)
    assert (episode.won, episode.replies) == (True, {"asked": asked, "worded": len(plan)})


def test_replies__are_counted_by_what_stands_around_the_command():
    task, plan = plan_of("TextCraft-v0", "minecraft:beehive")
    said = [
        plan[0],
        "think: now the rest",
        f"I need honeycomb.\n\nAction: {plan[1]}",
        "I am lost.",
        "Task completed!",
    ]
    model = Saying("line", map(Completion, said))
    episode = play("TextCraft-v0", model, task)
    assert (episode.claimed_success, episode.steps) == (True, 3)
    assert episode.replies == {"asked": 5, "bare": 3, "worded": 1, "no_command": 1}


def test_line__is_asked_for_by_name_from_a_chat_model():
    task, plan = plan_of("TextCraft-v0", "minecraft:beehive")
    model = Saying("chat", map(Completion, plan))
    assert play("TextCraft-v0", model, task, form="line").won
    assert [message.role for message in model.asked[0]["messages"]] == ["user"]
    assert (model.asked[0]["stop"], model.asked[0]["max_tokens"]) == (("\n",), 150)


def test_strict_reading__plays_the_first_line_as_the_papers_do():
    task, plan = plan_of("TextCraft-v0", "minecraft:beehive")
    made = make_agent("react", profile="textcraft", args={"turns": 3})
    model = Saying(
        "line", map(Completion, [f"Action: {plan[0]}", f"> {plan[0]}\nmore", f"{plan[0]}."])
    )
    env = gym.make("TextCraft-v0")
    episode = textcraft_gym.run_episode(env, made, task=task, seed=0, model=model, reading="strict")
    played = [action for action, _ in episode.transcript[1:]]
    assert played == [f"Action: {plan[0]}", plan[0], f"{plan[0]}."]
    assert episode.replies == {"asked": 3, "bare": 2, "no_command": 1}


def test_thought__before_an_action_stands_in_the_dialogue_and_the_trace():
    task, plan = plan_of("TextCraft-v0", "minecraft:beehive")
    model = Saying(
        "chat", iter([Completion(f"Thought: wood first.\n{plan[0]}"), Completion("task failed!")])
    )
    episode = play("TextCraft-v0", model, task)
    assert model.asked[1]["messages"][2].content == f"think: wood first.\n{plan[0]}"
    assert model.asked[1]["text"].endswith(
        f"> think: wood first.\nOK.\n> {plan[0]}\n{episode.transcript[1][1]}\n>"
    )
    assert episode.trace.children[0].parts[0] == "think: wood first."


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("I hold the beehive now.\n\n**Task completed!**", True),
        ("think: I hold it. Task completed!\n> inventory", True),
        ("This cannot be done.\ntask failed!", False),
    ],
)
def test_claim__is_found_behind_prose(said: str, claimed: bool):
    task, _ = plan_of("TextCraft-v0", "minecraft:beehive")
    episode = play("TextCraft-v0", Saying("chat", iter([Completion(said)])), task)
    assert (episode.claimed_success, episode.steps) == (claimed, 0)
