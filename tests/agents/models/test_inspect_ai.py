"""Models of inspect_ai's model layer, by its own mock and by a provider that the tests register."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import pytest

pytest.importorskip("inspect_ai", reason="inspect_ai (extra [inspect]) is not installed")

from inspect_ai.model import (
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall as InspectsCall

from tests.doubles.expert import TASK, arguments_of, next_words
from tests.doubles.server import Request, serving
from tests.doubles.zoo import FAULTS, ZOO
from textcraft_gym import make_agent, make_model, run_episode
from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Message,
    ModelError,
    ModelLimit,
    ModelUnavailable,
    Tool,
    ToolCall,
)
from textcraft_gym.agents.models.completions import REASONING_TOKENS, Price
from textcraft_gym.agents.models.event_loop import submit
from textcraft_gym.agents.models.inspect_ai import InspectModel
from textcraft_gym.cli.model_check import check_model
from textcraft_gym.errors import UnknownName

ASK: dict[str, Any] = {"stop": ("\n", "END"), "max_tokens": 50, "temperature": 0.0, "sample": 3}
USAGE = ModelUsage(input_tokens=7, output_tokens=4, total_tokens=13, input_tokens_cache_read=2)
Asked = tuple[list[Any], list[Any], GenerateConfig]

# Inspect leaves streams of its own unclosed, and uses an old name of another package.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    yield
    gc.collect()  # of those streams here, and not in the next test of another module


class Provider:
    """Answers by a function of what was asked, and keeps that."""

    def __init__(
        self, *outputs: ModelOutput | Callable[[list[Any], list[Any]], ModelOutput]
    ) -> None:
        self.outputs = list(outputs)
        self.asked: list[Asked] = []

    def __call__(
        self, messages: list[Any], tools: list[Any], choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        self.asked.append((messages, tools, config))
        output = self.outputs.pop(0) if len(self.outputs) > 1 else self.outputs[0]
        output = output if isinstance(output, ModelOutput) else output(messages, tools)
        return output.model_copy(update={"usage": output.usage or USAGE})

    def model(self, **options: Any) -> InspectModel:
        """Return the model that asks it."""
        return InspectModel("mockllm/model", model_args={"custom_outputs": self}, **options)


def says(content: Any, stop_reason: Any = "stop", **fields: Any) -> ModelOutput:
    return ModelOutput.from_content("mockllm/model", content, stop_reason, **fields)


def complete(output: ModelOutput, **options: Any) -> Completion:
    return Provider(output).model(**options).complete("p", **ASK)


def test_complete__returns_text_usage_and_cost():
    completion = complete(says("\n\nget 1 oak log\nGot it"), price=Price(2.0, 50.0))
    usage = {"prompt_tokens": 9, "completion_tokens": 4}
    assert completion == Completion("get 1 oak log", usage, cost=(9 * 2.0 + 4 * 50.0) / 1e6)


def test_complete__keeps_reasoning_apart():
    parts = [
        ContentReasoning(reasoning="hm"),
        ContentReasoning(reasoning="???", redacted=True),
        ContentText(text="x"),
    ]
    assert complete(says(parts))[::5] == ("x", "hm")
    assert complete(says("<think>hm</think>x"))[::5] == ("x", "hm")


@pytest.mark.parametrize(
    ("stop_reason", "finish_reason"),
    [
        ("stop", "stop"),
        ("max_tokens", "length"),
        ("unknown", "stop"),
        ("tool_calls", "tool_calls"),
        ("model_length", "length"),
    ],
)
def test_complete__says_why_it_ended(stop_reason: str, finish_reason: str):
    assert complete(says("x", stop_reason)).finish_reason == finish_reason


def test_complete__sends_what_is_asked_for():
    provider = Provider(says("x"))
    provider.model(reasoning_tokens=100, reasoning_effort="low").complete("p", **ASK)
    provider.model(omit=["temperature", "max_tokens"]).complete("p", **ASK | {"temperature": 0.7})
    named = (
        "temperature",
        "max_tokens",
        "seed",
        "stop_seqs",
        "reasoning_tokens",
        "reasoning_effort",
        "max_retries",
    )
    sent = [{name: getattr(config, name) for name in named} for *_, config in provider.asked]
    assert [list(values.values()) for values in sent] == [
        [0.0, 150, None, ["END"], 100, "low", 5],
        [None, None, 3, ["END"], None, None, 5],
    ]
    assert [(message.role, message.text) for message in provider.asked[0][0]] == [("user", "p")]


DIALOGUE = (
    Message("system", "Play."),
    Message("user", "Goal: look."),
    Message(
        "assistant", "", (ToolCall("1", "look", '{"at": "desk"}'), ToolCall("2", "look", "[]"))
    ),
    Message("tool", "a desk", tool_call_id="1"),
    Message("tool", "no", tool_call_id="2"),
)


def test_complete__sends_dialogues_and_tools():
    schema = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
    calls = [InspectsCall(id="3", function="look", arguments={"at": "door"})]
    output = says("")
    output.choices[0].message.tool_calls = calls
    output.choices[0].stop_reason = "tool_calls"
    provider = Provider(output)
    completion = provider.model().complete(
        DIALOGUE, **ASK, tools=(Tool("look", "Look at it.", schema),)
    )
    assert (completion.tool_calls, completion.finish_reason) == (
        (ToolCall("3", "look", '{"at": "door"}'),),
        "tool_calls",
    )
    messages, tools, _ = provider.asked[0]
    assert [(tool.name, tool.description, list(tool.parameters.properties)) for tool in tools] == [
        ("look", "Look at it.", ["at"])
    ]
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "tool"]
    assert isinstance(messages[2], ChatMessageAssistant)
    made, broken = messages[2].tool_calls or ()
    assert (made.arguments, made.parse_error, bool(broken.parse_error)) == (
        {"at": "desk"},
        None,
        True,
    )
    assert [(message.tool_call_id, message.function) for message in messages[3:]] == [
        ("1", "look"),
        ("2", "look"),
    ]
    unasked = provider.model(dialogue=False).complete(DIALOGUE, **ASK)
    assert (unasked.text, unasked.finish_reason) == ('look({"at": "door"})', "stop")
    assert len(provider.asked[1][0]) == 1


def test_complete__gives_room_once_the_model_is_seen_to_reason():
    empty = says("", "max_tokens")
    provider = Provider(empty, says("x"))
    completion = provider.model(price=Price(1e6, 0)).complete("p", **ASK)
    assert (completion.text, completion.cost) == ("x", 18.0)
    assert [config.max_tokens for *_, config in provider.asked] == [50, 50 + REASONING_TOKENS]
    assert complete(empty, reasoning_tokens=10).finish_reason == "length"


LIMITS = {
    "context": says("maximum context length", "model_length"),
    "content_filter": says("was filtered", "content_filter"),
    "refusal": says([ContentText(text="I cannot", refusal=True)], "content_filter"),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_complete__names_the_limit_that_keeps_it_from_an_answer(limit: str):
    nothing = LIMITS[limit].model_copy(update={"usage": ModelUsage(input_tokens=5)})
    with pytest.raises(ModelLimit, match=r"^mockllm/model: ") as caught:
        complete(nothing)
    assert caught.value.limit == limit
    if limit != "context":  # what was paid for is counted
        assert complete(LIMITS[limit])[:2] == ("", {"prompt_tokens": 9, "completion_tokens": 4})


class Refused(Exception):
    """An error as clients of providers raise it."""

    def __init__(self, message: str, status_code: int = 400) -> None:
        super().__init__(message)
        self.status_code = status_code


class Api(ModelAPI):
    """A provider whose behaviour the model's name tells."""

    flying = most = tries = 0

    async def generate(self, *arguments: Any, **more: Any) -> Any:
        """Answer, or raise."""
        Api.tries += 1
        if self.model_name == "slow":
            Api.flying += 1
            Api.most = max(Api.most, Api.flying)
            await asyncio.sleep(0.2)
            Api.flying -= 1
        if self.model_name == "silent":
            await asyncio.sleep(600)
        if self.model_name in ERRORS:
            raise ERRORS[self.model_name][0]
        if self.model_name == "returned":
            return Refused("no such model", 404), None
        return says("x")

    def should_retry(self, ex: BaseException) -> bool:
        """Whether another attempt is worth it."""
        return isinstance(ex, Refused) and ex.status_code >= 500

    def retry_wait(self) -> Any:
        """Wait for nothing."""
        from tenacity import wait_none

        return wait_none()


@modelapi(name="doubles")
def doubles() -> type[ModelAPI]:
    return Api


ERRORS: dict[str, tuple[Exception, type[ModelError], str]] = {
    "key": (Refused("bad key", 401), ModelUnavailable, "bad key"),
    "money": (Refused("insufficient_quota: no credit", 429), ModelUnavailable, "no credit"),
    "gone": (Refused("no such model", 404), ModelUnavailable, "no such model"),
    "down": (Refused("out of order", 503), ModelError, "out of order"),
    "odd": (KeyError("choices"), ModelError, "choices"),
    "long": (Refused("prompt is too long: 9 tokens > 8 maximum"), ModelLimit, "too long"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors__say_what_follows_for_the_run(name: str):
    _, kind, message = ERRORS[name]
    Api.tries = 0
    with pytest.raises(ModelError, match=rf"^doubles/{name}: .*{message}") as caught:
        InspectModel(f"doubles/{name}", max_retries=2).complete("p", **ASK)
    assert type(caught.value) is kind
    assert Api.tries == (3 if name == "down" else 1)


def test_error_that_is_returned__has_no_request_in_it():
    with pytest.raises(ModelUnavailable, match=r"^doubles/returned: no such model$"):
        InspectModel("doubles/returned").complete("p", **ASK)


def test_complete__waits_for_no_answer_without_end(monkeypatch: pytest.MonkeyPatch):
    assert InspectModel("doubles/silent").config.attempt_timeout == 300
    monkeypatch.setattr("textcraft_gym.agents.models.inspect_ai.ATTEMPT_SECONDS", 1)
    Api.tries = 0
    with pytest.raises(ModelError, match=r"^doubles/silent: .*exceeded"):
        InspectModel("doubles/silent", max_retries=1).complete("p", **ASK)
    assert Api.tries == 2


def test_requests__are_in_flight_together():
    model = InspectModel("doubles/slow", max_connections=40)
    request = CompletionRequest("p", (), 5, 0.0, 0)
    Api.most = 0
    futures = [submit(model.complete_async(request)) for _ in range(40)]
    assert [future.result(timeout=60).text for future in futures] == ["x"] * 40
    assert Api.most == 40


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("inspect:doubles/x,temprature=1", "temprature"),
        ("inspect:doubles/x,temperature=1", "temperature"),
        ("inspect:doubles/x,omit=stop", "stop"),
        ("inspect:doubles/x,max_connections=many", "max_connections"),
        ("inspect:nowhere/x", "nowhere"),
        ("inspect:x", "format"),
        ("inspect", r"inspect:PROVIDER/NAME"),
    ],
)
def test_spec__says_what_is_wrong(spec: str, message: str):
    with pytest.raises(ModelError, match=message):
        make_model(spec)


def test_spec__makes_a_model_with_its_options():
    model = make_model(
        "inspect:doubles/x,price=1/2,omit=seed+stop_seqs,max_connections=9,reasoning_tokens=5"
    )
    assert isinstance(model, InspectModel)
    assert (model.price, model.omit, model.room.tokens) == (Price(1, 2), {"seed", "stop_seqs"}, 5)
    assert (model.config.max_connections, model.config.max_retries) == (9, 5)


def test_option__is_one_of_inspects():
    with pytest.raises(UnknownName, match="max_conections"):
        InspectModel("doubles/x", max_conections=3)


@pytest.mark.parametrize("form", ["chat", "tools"])
@pytest.mark.parametrize("agent", ["react", "adapt", "plan_and_execute"])
def test_episode__is_won_in_each_form(agent: str, form: str):
    def plays(messages: list[Any], tools: list[Any]) -> ModelOutput:
        turns = [{"role": message.role, "content": message.text} for message in messages]
        words = next_words(Request("/v1/chat/completions", {}, {"messages": turns}))
        output = says(f"Action: {words.text}" if not words.is_plan else words.text)
        if tools:
            verb, arguments = arguments_of(words.text)
            assert verb in [tool.name for tool in tools]
            output = ModelOutput.for_tool_call("m", verb, arguments, content="")
        return output

    provider = Provider(plays)
    player = make_agent(agent, profile="textcraft", args={"form": form})
    env = gym.make("TextCraft-v0", split="test")
    episode = run_episode(env, player, task=TASK, seed=0, model=provider.model())
    assert episode.won
    assert any(tools for _, tools, _ in provider.asked) == (form == "tools")


def test_package__does_not_import_inspect_before_it_is_asked_for():
    model = "textcraft_gym.make_model('openai:m,api_key=none')"
    code = f"import sys, textcraft_gym; {model}; sys.exit('inspect_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_check__tries_a_model_of_inspect(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("openai", reason="inspect_ai asks such servers by the package openai")
    monkeypatch.setenv("ZOO_API_KEY", "none")
    with serving(ZOO["think tags"].answer) as server:
        check = check_model(f"inspect:openai-api/zoo/m,base_url={server.url}")
    assert (check.status, check.reasoning) == (0, "shown, 20 words at most")
    assert check.spec == f"{check.given},reasoning_tokens=4096"


@pytest.mark.parametrize("name", FAULTS)
def test_complete__names_what_no_answer_comes_from(name: str, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("openai", reason="inspect_ai asks such servers by the package openai")
    monkeypatch.setenv("ZOO_API_KEY", "sk-proj-0123456789abcdefghij")
    with serving(ZOO[name].answer) as server:
        model = make_model(
            f"inspect:openai-api/zoo/m,base_url={server.url},attempt_timeout=1,max_retries=0"
        )
        before = time.monotonic()
        with pytest.raises(ModelError, match=r"^openai-api/zoo/m: ") as raised:
            model.complete("p", **ASK)
        assert time.monotonic() - before < 60
    assert "0123456789" not in str(raised.value)
