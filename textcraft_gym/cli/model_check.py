"""A check of a model before a run: what it takes, how it answers, and whether it can play.

A handful of small requests, and one short episode of an easy task; see ``docs/first_model.md``.
"""

from __future__ import annotations

import re
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Form,
    Message,
    Model,
    ModelError,
    ModelUnavailable,
    Prompt,
    Tool,
    form_of,
)
from textcraft_gym.agents.models.completions import REASONING_TOKENS
from textcraft_gym.agents.models.spec import (
    form_of_spec,
    make_model,
    price_of,
    with_options,
    without_key,
)
from textcraft_gym.agents.redaction import HIDDEN
from textcraft_gym.episodes.episode import Episode, EpisodeRunner, Job
from textcraft_gym.episodes.model_calls import ModelCalls
from textcraft_gym.episodes.model_limits import limit_of_error
from textcraft_gym.replies import CommandReader
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec

ENV, SPLIT, TASK = "TextCraft-v0", "dev", "minecraft:jungle_boat"
"""The task to play: four commands, of depth 2."""
MAX_CALLS = 25
"""Maximum number of completions that a check asks for."""
MAX_STEPS = 12
MAX_EXAMPLE = 80
"""Maximum number of characters of a reply that is shown as an example."""

Status = Literal[0, 1, 2]
"""0 if a model can play, 1 if it answers and cannot play, 2 if it cannot be asked."""

_READY = "Reply with the single word: ready"
_GET = Tool(
    "get",
    "Take items.",
    {
        "type": "object",
        "properties": {"count": {"type": "integer"}, "item": {"type": "string"}},
        "required": ["count", "item"],
    },
)
_PLAIN = CompletionRequest(_READY, stop=(), max_tokens=64, temperature=0.0, sample=0)
_ORDER = (Message("system", "You answer in one word."), Message("user", _READY))
_FURTHER: Mapping[str, CompletionRequest] = {
    "temperature": _PLAIN._replace(temperature=0.7, sample=1),
    "stop": _PLAIN._replace(prompt="Count from 1 to 9, on one line: 1 2 3", stop=("7",)),
    "system message": _PLAIN._replace(prompt=_ORDER),
    "tools": _PLAIN._replace(prompt="Take 2 jungle logs: call the tool.", tools=(_GET,)),
}
"""Small requests beside the plain one, by what they try."""

_BUSY = r"status (?:429|5\d\d)"
_ADVICE = {
    r"there is no key|the key is refused": "Set OPENAI_API_KEY (or the provider's own) to a key of this server.",
    r"there is no such model": "Take a name that the server lists: GET /models at the same address.",
    r"none after [\d.]+ s": "Give it more time: timeout=600, in seconds.",
    r"connection failed|no answer from|Cannot connect": "Start the server, or mend the host and port in base_url.",
    r"ends with /v1|HTML": "Mend base_url: it ends where /chat/completions begins, mostly with /v1.",
    r"no money left|quota": "Pay for the account, or take another.",
    r"chat.?template": "A model without a chat template continues texts: endpoint=completion.",
    rf"{_BUSY}|status 200: ": "Wait and try again; the server is busy or in trouble.",
}
"""What to do about a model that cannot be asked, by a part of the message; the first that fits."""
_ADVICE_ON_LIMITS = {
    "context": "Start the server with a longer context: --max-model-len (vLLM), -c (llama-server), "
    "OLLAMA_CONTEXT_LENGTH (Ollama).",
    "length": "Give it more tokens for its reasoning, as below, or have it reason less.",
    "content_filter": "Take another model, or a provider that filters less.",
    "refusal": "Take another model.",
    "empty": "Try another form: --form line or --form chat. A model without a chat template needs endpoint=completion.",
}
_MARKS = {
    "a code block": r"```|~~~",
    "JSON": r"\{\s*\"",
    "tags": r"<(\w+)>[^<]*</\1>",
    "a label": r"(?im)^[*#> ]*action\b[^\n:]*:",
    "a prompt mark": r"(?m)^>",
    "bold": r"\*\*",
    "inline code": r"(?<!`)`[^`\n]+`(?!`)",
    "quotes": r"\A\s*[\"“']",
}
"""What may stand around a command, each found by a pattern."""


class Call(NamedTuple):
    """A request with what came of it.

    Attributes:
        completion: The answer; None if there is none.
        error: Why there is none.
        seconds: How long it took.
    """

    completion: Completion | None
    error: ModelError | None
    seconds: float


class Recorder:
    """A model that keeps what its calls come to."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.form = form_of(model)
        self.takes_tools: bool = getattr(model, "takes_tools", False)
        self.calls: list[Call] = []

    def complete(
        self,
        prompt: Prompt,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
        tools: tuple[Tool, ...] = (),
    ) -> Completion:
        """Return the model's completion.

        Raises:
            ModelError: If there is none.
        """
        complete: Callable[..., Completion] = self.model.complete
        offered: dict[str, Any] = {"tools": tools} if tools else {}
        start = time.perf_counter()
        completion, failure = None, None
        try:
            completion = complete(
                prompt,
                stop=stop,
                max_tokens=max_tokens,
                temperature=temperature,
                sample=sample,
                **offered,
            )
        except ModelError as error:
            failure = error
        except Exception as error:  # a model is foreign code
            failure = ModelError(f"{type(error).__name__}: {error}")
        self.calls.append(Call(completion, failure, time.perf_counter() - start))
        if completion is None:
            raise failure or ModelError("expected a model to answer with a Completion, got None")
        return completion

    def ask(self, request: CompletionRequest) -> Call:
        """Send one request and return what came of it."""
        with suppress(ModelError):
            self.complete(
                request.prompt,
                stop=request.stop,
                max_tokens=request.max_tokens,
                temperature=request.temperature,
                sample=request.sample,
                tools=request.tools,
            )
        return self.calls[-1]

    def knows(self, request: CompletionRequest) -> bool:
        """Return whether the model takes this kind of request: tools, and messages beside the user's."""
        return (
            self.takes_tools
            if request.tools
            else isinstance(request.prompt, str) or self.form != "line"
        )


@dataclass(frozen=True)
class Check:
    """What is known of a model after a check.

    Attributes:
        given: The spec that was checked, without secrets, as all else here.
        spec: The spec to use: as given, with the options that were learned.
        form: The executor's form that was played.
        status: Whether it can play.
        problem: Why it cannot; empty if it can.
        advice: What to do about that, if something is known to help.
        address: Where requests are sent; empty for models without a server.
        takes: What the model was asked for beside a plain line, and what came of it.
        reasoning: Where the reasoning stands, and how long it is.
        answers: How commands were written in the episode, by the number of replies.
        finish_reasons: Why answers ended, by their number.
        calls: Number of completions asked for.
        tokens: Tokens that the model counted, by kind.
        seconds: Mean duration of a call.
        slowest: Duration of the slowest call, in seconds.
        cost: Cost of the check; None without a price, or where no tokens are counted.
        episode: How the episode ended; empty if none was played.
        steps: Actions played.
        replies: Number of replies in the episode.
        commands: Actions played that are commands of the game.
        mended: Replies that were read in another form than asked for.
        no_command: Replies without a command of the game.
        cut: Replies that ended at the token limit.
    """

    given: str
    spec: str
    form: Form
    status: Status
    problem: str = ""
    advice: str = ""
    address: str = ""
    takes: Mapping[str, str] = field(default_factory=dict)
    reasoning: str = ""
    answers: Mapping[str, int] = field(default_factory=dict)
    finish_reasons: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0
    tokens: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    slowest: float = 0.0
    cost: float | None = None
    episode: str = ""
    steps: int = 0
    replies: int = 0
    commands: int = 0
    mended: int = 0
    no_command: int = 0
    cut: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the check as a JSON value."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """Yield the check as lines of text, the verdict last."""
        for name, text in self._rows():
            yield f"{name:<15} {text}"
        if self.calls:
            yield ""
        yield {
            0: "It can play.",
            1: f"It answers, and cannot play: {self.problem}",
            2: f"It cannot be asked: {self.problem}",
        }[self.status]
        if self.advice:
            yield self.advice
        if self.status == 0 or self.spec != self.given:
            form = "" if self.form == form_of_spec(self.spec) else f" --agent-arg form={self.form}"
            yield f"--model {shlex.quote(self.spec)}{form}"
            if f"api_key={HIDDEN}" in self.spec:
                yield f"The key is not shown: put it in place of {HIDDEN}, or leave api_key out and set OPENAI_API_KEY."

    def _rows(self) -> Iterator[tuple[str, str]]:
        if self.address:
            yield "address", self.address
        yield from self.takes.items()
        if self.reasoning:
            yield "reasoning", self.reasoning
        if self.answers:
            counts = [f"{text} ({count} of {self.replies})" for text, count in self.answers.items()]
            yield "written as", "; ".join(counts)
        if self.finish_reasons:
            yield "ended by", _counted(self.finish_reasons)
        if self.episode:
            yield "episode", f"{TASK}, form {self.form}: {self.episode}"
            counts = [
                f"{self.mended} mended",
                f"{self.no_command} without a command",
                f"{self.cut} cut off",
            ]
            yield "replies", f"{self.replies}, with {self.commands} commands; {', '.join(counts)}"
        if self.calls:
            yield "calls", f"{self.calls}, {self.seconds:.1f} s each, {self.slowest:.1f} s at most"
        if self.tokens:
            yield (
                "tokens",
                _counted(
                    {kind.removesuffix("_tokens"): count for kind, count in self.tokens.items()}
                ),
            )
        if self.cost is not None:
            yield "cost", f"{self.cost:.6f}"


def check_model(spec: str, form: str | None = None) -> Check:
    """Check a model: ask it for a handful of small completions, and let it play a short episode.

    Args:
        spec: The model, as ``make_model`` takes it.
        form: The executor's form; None for the one that suits the model.

    Raises:
        ValueError: If there is no such form.
    """
    args = {"form": form} if form else {}
    run = Run(RunSpec(ENV, SPLIT, "react", model=spec, agent_args=args))
    agent = run.agent
    try:
        model = Recorder(make_model(spec))
    except ModelError as error:
        shown = without_key(spec)
        return Check(shown, shown, form_of_spec(spec), 2, str(error), advice_on(str(error)))
    plain = model.ask(_PLAIN)
    further = {}
    if plain.completion and not plain.completion.is_empty:
        further = {
            name: model.ask(request) for name, request in _FURTHER.items() if model.knows(request)
        }
    elif plain.error and limit_of_error(plain.error) is None:
        return _checked(
            spec, model, 2, problem=str(plain.error), advice=advice_on(str(plain.error))
        )
    runner = EpisodeRunner(
        run.env, agent, Job(TASK, 0), model, MAX_STEPS, MAX_CALLS - len(model.calls)
    )
    first = len(model.calls)
    with closing(ModelCalls()) as threads, closing(runner):
        while call := runner.advance():
            threads.answer(call)
    reader = run.prompts.commands(run.profile.name)
    played = _played(
        runner, [call.completion for call in model.calls[first:] if call.completion], reader
    )
    return _checked(spec, model, takes=_takes(model, further), form=form or model.form, **played)


def _checked(spec: str, model: Recorder, status: Status = 0, **found: Any) -> Check:
    """Return a check with all that the calls of a model tell."""
    answers = [call.completion for call in model.calls if call.completion]
    learn: Callable[[], dict[str, Any]] = getattr(model.model, "learned_options", dict)
    learned = learn()
    reasons = "reasoning_tokens" in learned and "reasoning_tokens=" not in spec
    options = learned | found.pop("try_with", {})
    seconds = [call.seconds for call in model.calls]
    known = {
        "form": model.form,
        "address": getattr(model.model, "address", ""),
        "reasoning": _reasoning(model, answers, reasons) if answers else "",
        "finish_reasons": dict(Counter(answer.finish_reason for answer in answers)),
        "calls": len(model.calls),
        "tokens": dict(sum((Counter(answer.usage) for answer in answers), Counter())),
        "seconds": sum(seconds) / len(seconds),
        "slowest": max(seconds),
        "cost": sum(answer.cost for answer in answers)
        if price_of(spec) and any(answer.usage for answer in answers)
        else None,
        "status": status,
    }
    return Check(without_key(spec), without_key(with_options(spec, options)), **{**known, **found})


def _came(error: ModelError | None) -> str:
    """Return what came of a request by its error; a server that is busy or broken has refused nothing."""
    if error is None:
        return "taken"
    return (
        f"not known: {error}"
        if re.search(rf"{_BUSY}|no answer from", str(error))
        else f"refused: {error}"
    )


def _takes(model: Recorder, further: Mapping[str, Call]) -> dict[str, str]:
    """Return what came of the further requests, and what the model learned from them."""
    found = {name: _came(call.error) for name, call in further.items()}
    if (call := further.get("tools")) and call.completion:
        found["tools"] = "called" if call.completion.tool_calls else "offered, and not called"
    learned = getattr(model.model, "learned", None)
    if learned is None:
        return found
    changes = [f"{name} is sent as {new}" for name, new in learned.rename.items()]
    changes += [f"{', '.join(sorted(learned.omit))} left out"] if learned.omit else []
    if found.get("temperature") == "taken":
        found["temperature"] = "left out" if "temperature" in learned.omit else "taken"
        found["temperature"] += ", without a seed" if "seed" in learned.omit else ", with a seed"
    if learned.no_system and "system message" in found:
        found["system message"] = "not sent: its text stands in the user's first message"
    if "stop" in learned.omit and "stop" in found:
        found["stop"] = "left out: answers are cut as they arrive"
    stream = {"stream": "the server only streams"} if learned.stream else {}
    return {"parameters": "; ".join(changes) or "all taken", **found, **stream}


def _reasoning(model: Recorder, answers: Sequence[Completion], reasons: bool) -> str:
    """Return where reasoning stands, and how much it is at most, of a model that was perhaps seen to reason."""
    shown = [answer.reasoning for answer in answers if answer.reasoning]
    # The first call may count an attempt that was cut off, too.
    counted = max(answer.usage.get("reasoning_tokens", 0) for answer in answers[1:] or answers)
    if not shown and not counted:
        return "hidden" if reasons else "none seen"
    where = getattr(getattr(model.model, "learned", None), "reasoning", "") or "shown"
    length = f"{counted} tokens" if counted else f"{max(len(text.split()) for text in shown)} words"
    return f"{where if shown else 'hidden'}, {length} at most"


def _played(
    runner: EpisodeRunner, answers: Sequence[Completion], reader: CommandReader
) -> dict[str, Any]:
    """Return what an episode tells of its model."""
    episode, failure = runner.episode, runner.failure
    replies = sum(episode.calls.values())
    commands = sum(reader.is_known(action) for action, _ in episode.transcript if action)
    can_play = episode.won or (failure is None and 2 * commands >= replies)
    found: dict[str, Any] = {
        "episode": _ending(episode),
        "steps": episode.steps,
        "replies": replies,
        "commands": commands,
        "answers": dict(
            Counter(form_of_reply(answer, reader) for answer in answers if not answer.is_empty)
        ),
        **{count: episode.replies.get(count, 0) for count in ("mended", "no_command", "cut")},
    }
    if can_play:
        return found
    if failure is None:
        found["problem"] = (
            f"{replies} replies held {commands} commands of the game; {_example(answers, reader)}"
        )
        found["advice"] = "Try another form, --form chat, tools or line, or a larger model."
    else:
        found["problem"] = str(failure)
        found["advice"] = _ADVICE_ON_LIMITS.get(episode.limit or "", "") or advice_on(str(failure))
    if episode.limit == "length":
        found["try_with"] = {"reasoning_tokens": 4 * REASONING_TOKENS}
    return {**found, "status": 2 if isinstance(failure, ModelUnavailable) else 1}


def _ending(episode: Episode) -> str:
    """Return how an episode ended."""
    if episode.won:
        return f"won in {episode.steps} steps"
    if episode.stop_reason == "agent":
        why = (
            "the model claimed success"
            if episode.claimed_success
            else "the model gave up, or did nothing for long"
        )
        return f"lost after {episode.steps} steps: {why}"
    endings = {
        "limit": f"lost by the model's own limit: {episode.limit}",
        "error": "broken off by an error",
        "max_calls": f"not over after {MAX_CALLS} calls of the check",
    }
    return endings.get(episode.stop_reason, f"not over after {episode.steps} steps")


def form_of_reply(completion: Completion, reader: CommandReader) -> str:
    """Return how a command is written in a reply: bare, between marks, among words, or as calls of tools."""
    if completion.tool_calls:
        return "calls of tools"
    text = completion.text
    turn = reader.read(text)
    if not turn.known:
        return "no command"
    command = turn.action or turn.thought
    if text.strip() == command:
        return "a bare line" if turn.action else "a thought"
    marks = [name for name, pattern in _MARKS.items() if re.search(pattern, text)]
    before, _, after = text.partition(command)
    words = ["before"] if len(re.findall(r"\w+", before)) > 1 and "JSON" not in marks else []
    words += ["after"] if len(re.findall(r"\w+", after)) > 1 else []
    marks += [f"words {' and '.join(words)}"] if words else []
    return ", ".join(marks) or "other signs"


def _example(answers: Sequence[Completion], reader: CommandReader) -> str:
    """Return the beginning of the first reply that holds no command, for a message."""
    texts = (
        answer.text or "; ".join(f"{name}({given})" for _, name, given in answer.tool_calls)
        for answer in answers
    )
    text = next((text for text in texts if not reader.canonical(reader.read(text).action)), "")
    return f"one was {text[:MAX_EXAMPLE]!r}"


def advice_on(message: str) -> str:
    """Return what to do about a model that cannot be asked; empty if the message has to do."""
    return next((advice for part, advice in _ADVICE.items() if re.search(part, message)), "")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
