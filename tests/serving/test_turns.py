"""A model behind OpenAI's API that plays in the forms of agents: a call of a tool, or ``Action:``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="fastapi (extra [serve]) is not installed")
pytest.importorskip("uvicorn", reason="uvicorn (extra [serve]) is not installed")

import openai
from fastapi.testclient import TestClient

import textcraft_gym
from tests.doubles import ShortCrafter
from tests.integrations.test_agentgym import InProcess, TextCraftClient
from tests.serving.live import serving
from textcraft_gym.integrations.agentgym.app import create_app as agentgym
from textcraft_gym.serving.model.app import create_app
from textcraft_gym.testing import SayingModel


def function(name: str, **properties: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
    }
    return {"type": "function", "function": {"name": name, "parameters": schema}}


STEP = function("step", action="string")
ANSWER = function("final_answer", answer="string")
CAT = function("look_up", word="string", pages="integer")
MANUAL = {"role": "system", "content": "You play a game. Call the tool."}


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    with (
        serving(create_app(ShortCrafter(), "crafter")) as port,
        openai.OpenAI(
            base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0
        ) as client,
    ):
        yield client


def streamed(client: openai.OpenAI, **request: Any) -> tuple[dict[str, Any], str]:
    """The message and the reason of a stream."""
    message: dict[str, Any] = {}
    reason = ""
    for chunk in client.chat.completions.create(**request, stream=True):
        delta = chunk.choices[0].delta
        message["role"] = message.get("role") or delta.role
        message["content"] = (message.get("content") or "") + (delta.content or "")
        for call in delta.tool_calls or ():
            message.setdefault("tool_calls", []).append(call.model_dump(exclude={"index"}))
        reason = chunk.choices[0].finish_reason or reason
    return message, reason


def whole(client: openai.OpenAI, **request: Any) -> tuple[dict[str, Any], str]:
    choice = client.chat.completions.create(**request).choices[0]
    return choice.message.model_dump(exclude_none=True), str(choice.finish_reason)


@pytest.mark.parametrize("ask", [whole, streamed])
def test_tools__win_a_game_and_stop(client: openai.OpenAI, ask: Any):
    game = textcraft_gym.ToolGame("TextCraft-v0")
    messages: list[Any] = [
        MANUAL,
        {"role": "user", "content": game.reset("minecraft:beehive", seed=0)},
    ]
    thoughts = 0
    for _ in range(20):
        message, reason = ask(
            client, model="crafter", messages=messages, tools=[CAT, STEP], temperature=0
        )
        messages.append(message)
        if "tool_calls" not in message:
            break
        (call,) = message["tool_calls"]
        assert (call["function"]["name"], reason) == ("step", "tool_calls")
        answer = game.step(**json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": answer})
        thoughts += bool(message.get("content"))
    assert game.get_reward() == 1
    assert thoughts == 1  # which it thinks once, and finds in the chat from then on
    assert (messages[-1]["content"], reason) == ("The game is won.", "stop")


GAME = textcraft_gym.ToolGame("TextCraft-v0").reset("minecraft:beehive", seed=0)
PLAYED: list[Any] = [MANUAL, {"role": "user", "content": GAME}]
NAMED = {"type": "function", "function": {"name": "final_answer"}}


@pytest.mark.parametrize(
    ("tools", "choice", "called"),
    [
        ([STEP], "auto", "step"),
        ([STEP], "required", "step"),
        ([STEP, ANSWER], "required", "step"),
        ([STEP, ANSWER], NAMED, "final_answer"),
        ([STEP], "none", None),
        ([], "auto", None),
    ],
)
def test_choice__of_a_tool_is_honoured(
    client: openai.OpenAI, tools: list[Any], choice: Any, called: str | None
):
    message, _ = whole(client, model="crafter", messages=PLAYED, tools=tools, tool_choice=choice)
    names = [call["function"]["name"] for call in message.get("tool_calls", ())]
    assert names == ([called] if called else [])


def test_choice__that_is_required_closes_a_game_with_another_tool(client: openai.OpenAI):
    over = [*PLAYED, {"role": "tool", "tool_call_id": "1", "content": "No.\nThe game is over."}]
    message, _ = whole(
        client, model="crafter", messages=over, tools=[STEP, ANSWER], tool_choice="required"
    )
    (call,) = message["tool_calls"]
    assert call["function"] == {
        "name": "final_answer",
        "arguments": json.dumps({"answer": "The game is over."}),
    }


@pytest.mark.parametrize(
    ("tools", "choice", "words"),
    [
        ([CAT], "auto", "expected a tool with exactly one argument, a string, got look_up"),
        ([STEP], NAMED, "exactly one argument, a string, got step"),
        ([function("go", steps="integer")], "required", "exactly one argument"),
    ],
)
def test_tools__that_do_not_fit_are_refused(
    client: openai.OpenAI, tools: list[Any], choice: Any, words: str
):
    with pytest.raises(openai.BadRequestError, match=words) as refused:
        whole(client, model="crafter", messages=PLAYED, tools=tools, tool_choice=choice)
    assert refused.value.param == "tools"


def test_tools__of_a_chat_model_take_the_command_of_its_reply():
    class Talker(SayingModel):
        form = "chat"

    model = Talker("I need wood first.\n\nAction: get 1 oak log")
    with TestClient(create_app(model, "talker")) as client:
        body = {"model": "talker", "messages": PLAYED, "tools": [STEP]}
        answer = client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]
    assert answer["content"] == "I need wood first."
    assert json.loads(answer["tool_calls"][0]["function"]["arguments"]) == {
        "action": "get 1 oak log"
    }


ACTIONS = """You craft items. In every round you read an observation and give an action:
get, craft or inventory. Use this form:

Thought:
why

Action:
the command"""


def test_actions__play_with_agentgyms_server():
    """The loop of AgentGym's evaluator: a manual, a promise, and replies that its client cuts."""
    model = ShortCrafter()
    with TestClient(create_app(model, "crafter")) as served:
        game = TextCraftClient(InProcess(agentgym("textcraft")))
        game.reset(400)
        first = game.observe()
        messages = [
            {"role": "user", "content": ACTIONS},
            {"role": "assistant", "content": "OK. I'll follow your instructions."},
            {"role": "user", "content": first},
        ]
        for _ in range(20):
            body = {"model": "crafter", "messages": messages, "temperature": 0}
            answer = served.post("/v1/chat/completions", json=body).json()
            reply = answer["choices"][0]["message"]["content"]
            output = game.step(reply)
            messages += [
                {"role": "assistant", "content": reply},
                {"role": "user", "content": output.state},
            ]
            if output.done:
                break
    assert output.reward == 1
    assert model.asked[0] == f"{first}\n>"
    thought = model.asked[1].removeprefix(model.asked[0])
    assert thought.startswith(" think: I need ")
    assert model.asked[2].startswith(f"{model.asked[1]} get ")  # the same turns, in ReAct's form
    assert messages[3]["content"].startswith("Thought:\nI need ")
    assert all(message["content"].startswith("Action:\n") for message in messages[5::2])
