"""A check of a model before a run: what it takes, how it answers, and whether it can play.

It sends a few small requests, and plays one short episode of an easy task; see
``docs/first_model.md``.
"""

from __future__ import annotations

import re
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

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
from textcraft_gym.episodes.model_limits import limit_of_answers, limit_of_error
from textcraft_gym.replies import CommandReader
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec

if TYPE_CHECKING:
    from textcraft_gym.agents.models.openai_compatible import Learned

ENV, SPLIT, TASK = "TextCraft-v0", "dev", "minecraft:jungle_boat"
"""The task to play: four commands, of depth 2."""
MAX_CALLS = 25
"""Maximum number of completions that a check asks for."""
MAX_STEPS = 12
ATTEMPTS = 3
"""Times that a model is asked, and plays, as long as its answers are empty."""
LABEL = 16
"""Width of the labels of lines."""
MAX_EXAMPLE = 80
"""Maximum number of characters of a reply that is shown as an example."""

Status = Literal[0, 1, 2]
"""0 if a model can play, 1 if it answers but cannot play, 2 if it cannot be used."""

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
_PLAIN = CompletionRequest(
    _READY,
    stop=(),
    max_tokens=64,
    temperature=0.0,
    sample=0,
)
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
    r"there is no key|the key is refused": (
        "Set OPENAI_API_KEY, or the provider's own variable, to a valid key for this server."
    ),
    r"there is no such model": (
        "Use a model name that the server lists: GET /models at the same address."
    ),
    r"none after [\d.]+ s": "Allow more time: raise timeout, in seconds.",
    r"connection failed|no answer from|Cannot connect": (
        "Start the server, or correct the host and port in base_url."
    ),
    r"ends with /v1|HTML": (
        "Correct base_url: it ends before /chat/completions, usually with /v1."
    ),
    r"no money left|quota": "Add credit to the account, or use another.",
    r"chat.?template": "A model without a chat template needs endpoint=completion.",
    rf"{_BUSY}|status 200: ": "Wait and try again: the server is busy or failing.",
}
"""What to do about a model that cannot be used, by a part of the message; the first match."""
_ADVICE_ON_LIMITS = {
    "context": (
        "Start the server with a longer context: --max-model-len (vLLM), -c (llama-server), "
        "OLLAMA_CONTEXT_LENGTH (Ollama)."
    ),
    "length": "Allow more tokens for reasoning, as below, or lower the reasoning effort.",
    "content_filter": "Use another model, or a provider with a weaker filter.",
    "refusal": "Use another model.",
}
"""What to do about a limit that ended the episode."""
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
"""Patterns of what may stand around a command."""


class Call(NamedTuple):
    """The result of a request.

    Attributes:
        completion: The answer; None if there is none.
        error: Why there is none.
        seconds: Its duration.
    """

    completion: Completion | None
    error: ModelError | None
    seconds: float


class Recorder:
    """A model that keeps the results of its calls."""

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
        """Send one request and return its result."""
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
        """Return whether the model's interface has such requests: with tools, or with messages."""
        if request.tools:
            return self.takes_tools
        return isinstance(request.prompt, str) or self.form != "line"


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
        takes: The further requests that were tried, and their results.
        reasoning: Where the reasoning stands, and how long it is.
        answers: How commands were written in the episode, by the number of replies.
        finish_reasons: Why answers ended, by their number.
        calls: Number of completions asked for.
        tokens: Tokens that the model counted, by kind.
        seconds: Mean duration of a call.
        slowest: Duration of the slowest call, in seconds.
        cost: Cost of the check; None without a price, or where no tokens are counted.
        episode: How the episode ended; empty if none was played.
        won: Whether it won the episode.
        steps: Actions played.
        replies: Number of replies in the episode.
        commands: Actions played that are commands of the game.
        bare: Replies that were a command or a thought alone.
        worded: Replies with words around the command, or in another form than asked for.
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
    won: bool = False
    steps: int = 0
    replies: int = 0
    commands: int = 0
    bare: int = 0
    worded: int = 0
    no_command: int = 0
    cut: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the check as a JSON value."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """Yield the check as lines of text, the verdict last."""
        for name, text in self._rows():
            yield f"{name:<{LABEL - 1}} {text}"
        if self.calls:
            yield ""
        yield self._verdict()
        if self.advice:
            yield self.advice
        if self.status == 0 or self.spec != self.given:
            yield from self._options()

    def _verdict(self) -> str:
        if self.status == 0:
            if self.won:
                return "It can play."
            return "It answers with commands; it did not win this episode."
        answers = "It answers, but cannot play" if self.status == 1 else "It cannot be used"
        return f"{answers}: {self.problem}"

    def _options(self) -> Iterator[str]:
        """Yield the options to play with."""
        options = f"--model {shlex.quote(self.spec)}"
        if self.form != form_of_spec(self.spec):
            options += f" --agent-arg form={self.form}"
        yield options
        if f"api_key={HIDDEN}" in self.spec:
            yield (
                f"The key is hidden: replace {HIDDEN} with it, "
                "or leave out api_key and set OPENAI_API_KEY."
            )

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
            yield from self._episode_rows()
        yield from self._cost_rows()

    def _episode_rows(self) -> Iterator[tuple[str, str]]:
        yield "episode", f"{TASK}, form {self.form}: {self.episode}"
        kinds = f"{self.bare} bare, {self.worded} with words around it, {self.no_command} with none"
        yield (
            "replies",
            f"{self.replies}, with {self.commands} commands; {kinds}, {self.cut} cut off",
        )

    def _cost_rows(self) -> Iterator[tuple[str, str]]:
        if self.calls:
            yield "calls", f"{self.calls}, {self.seconds:.1f} s each, {self.slowest:.1f} s at most"
        if self.tokens:
            tokens = {kind.removesuffix("_tokens"): count for kind, count in self.tokens.items()}
            yield "tokens", _counted(tokens)
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
    run = Run(
        RunSpec(
            ENV,
            SPLIT,
            "react",
            model=spec,
            agent_args=args,
        )
    )
    agent = run.agent  # raises if there is no such form
    try:
        model = Recorder(make_model(spec))
    except ModelError as error:
        shown = without_key(spec)
        return Check(shown, shown, form_of_spec(spec), 2, str(error), advice_on(str(error)))

    plain = _ask_plain(model)
    if plain.error and limit_of_error(plain.error) is None:
        problem = str(plain.error)
        return _check(
            spec,
            model,
            status=2,
            problem=problem,
            advice=advice_on(problem),
        )
    further = {}
    if plain.completion and not plain.completion.is_empty:
        further = _ask_further(model)

    for _ in range(ATTEMPTS):
        asked_before = len(model.calls)
        job, max_calls = Job(TASK, 0), MAX_CALLS - asked_before
        runner = EpisodeRunner(run.env, agent, job, model, MAX_STEPS, max_calls)
        with closing(ModelCalls()) as threads, closing(runner):
            while call := runner.advance():
                threads.answer(call)
        if runner.episode.limit != "empty" or len(model.calls) == MAX_CALLS:
            break

    answers = _completions(model.calls[asked_before:])
    reader = run.prompts.commands(run.profile.name)
    results = _episode_results(runner, answers, reader, args.get("form", model.form))
    return _check(spec, model, takes=_takes(model, further), **results)


def _ask_plain(model: Recorder) -> Call:
    """Return the first answer to the plain request that is not empty, else the last one."""
    for _ in range(ATTEMPTS):
        call = model.ask(_PLAIN)
        answers = _completions([call])
        limit = limit_of_answers(answers, _PLAIN.max_tokens, _PLAIN.prompt) if answers else None
        if limit is None or limit.limit != "empty":
            break
    return call


def _ask_further(model: Recorder) -> dict[str, Call]:
    """Send the further requests that a model's interface has."""
    return {name: model.ask(request) for name, request in _FURTHER.items() if model.knows(request)}


def _completions(calls: Iterable[Call]) -> list[Completion]:
    return [call.completion for call in calls if call.completion]


def _check(
    spec: str,
    model: Recorder,
    *,
    more_reasoning: bool = False,
    **results: Any,
) -> Check:
    """Return a check with all that the calls of a model show.

    Args:
        spec: The model's spec.
        model: The model after its calls.
        more_reasoning: Whether the spec to use has more tokens for reasoning.
        results: Further fields of the check.
    """
    learn: Callable[[], dict[str, Any]] = getattr(model.model, "learned_options", dict)
    learned = learn()
    options = dict(learned)
    if more_reasoning:
        tokens = max(learned.get("reasoning_tokens", 0), REASONING_TOKENS)
        options["reasoning_tokens"] = 4 * tokens
    to_use = with_options(spec, options)

    answers = _completions(model.calls)
    has_learned_to_reason = "reasoning_tokens" in learned and "reasoning_tokens=" not in spec
    fields = {
        "form": model.form,
        "status": 0,
        "address": getattr(model.model, "address", ""),
        "reasoning": _reasoning(model, answers, has_learned_to_reason) if answers else "",
        "finish_reasons": dict(Counter(answer.finish_reason for answer in answers)),
        **_amounts(spec, model.calls),
    }
    return Check(without_key(spec), without_key(to_use), **{**fields, **results})


def _amounts(spec: str, calls: Sequence[Call]) -> dict[str, Any]:
    """Return what calls took: their number, tokens, seconds and cost."""
    answers = _completions(calls)
    tokens: Counter[str] = Counter()
    for answer in answers:
        tokens += Counter(answer.usage)

    cost = None
    if tokens and price_of(spec):
        cost = sum(answer.cost for answer in answers)
    seconds = [call.seconds for call in calls]
    return {
        "calls": len(calls),
        "tokens": dict(tokens),
        "seconds": sum(seconds) / len(seconds),
        "slowest": max(seconds),
        "cost": cost,
    }


def _result(error: ModelError | None) -> str:
    """Return the result of a request in words."""
    if error is None:
        return "taken"
    # A server that is busy or broken has refused nothing.
    is_unknown = re.search(rf"{_BUSY}|no answer from", str(error))
    return f"unknown: {error}" if is_unknown else f"refused: {error}"


def _takes(model: Recorder, further: Mapping[str, Call]) -> dict[str, str]:
    """Return the results of the further requests, and what the model learned from them."""
    results = {name: _result(call.error) for name, call in further.items()}
    tools = further.get("tools")
    if tools and tools.completion:
        results["tools"] = "called" if tools.completion.tool_calls else "offered, but not called"

    learned: Learned | None = getattr(model.model, "learned", None)
    if learned is None:
        return results
    for name, text in _learned_results(learned, results).items():
        if name in results:
            results[name] = text
    parameters = {"parameters": _changes(learned)}
    stream = {"stream": "the server only streams"} if learned.stream else {}
    return {**parameters, **results, **stream}


def _changes(learned: Learned) -> str:
    """Return how parameters are sent to a server that does not take them as they are."""
    changes = [f"{name} is sent as {new}" for name, new in learned.rename.items()]
    if learned.omit:
        changes.append(f"{', '.join(sorted(learned.omit))} left out")
    return "; ".join(changes) or "all taken"


def _learned_results(learned: Learned, results: Mapping[str, str]) -> dict[str, str]:
    """Return the results of requests that the model now sends in another way."""
    changed = {}
    if results.get("temperature") == "taken":
        temperature = "left out" if "temperature" in learned.omit else "taken"
        seed = "without" if "seed" in learned.omit else "with"
        changed["temperature"] = f"{temperature}, {seed} a seed"
    if learned.no_system:
        changed["system message"] = "not sent: the first user message has its text"
    if "stop" in learned.omit:
        changed["stop"] = "left out: answers are cut as they arrive"
    return changed


def _reasoning(
    model: Recorder,
    answers: Sequence[Completion],
    has_learned_to_reason: bool,
) -> str:
    """Return where a model's reasoning stands, and how long it is at most."""
    texts = [answer.reasoning for answer in answers if answer.reasoning]
    tokens = _most_reasoning_tokens(answers)
    if not texts and not tokens:
        return "hidden" if has_learned_to_reason else "none seen"

    place = _place_of_reasoning(model) if texts else "hidden"
    if tokens:
        return f"{place}, {tokens} tokens at most"
    words = max(len(text.split()) for text in texts)
    return f"{place}, {words} words at most"


def _most_reasoning_tokens(answers: Sequence[Completion]) -> int:
    """Return the tokens of the longest reasoning; 0 if the server counts none."""
    # The first call may count an attempt that was cut off, too.
    later = answers[1:] or answers
    return max(answer.usage.get("reasoning_tokens", 0) for answer in later)


def _place_of_reasoning(model: Recorder) -> str:
    learned = getattr(model.model, "learned", None)
    return getattr(learned, "reasoning", "") or "shown"


def _episode_results(
    runner: EpisodeRunner,
    answers: Sequence[Completion],
    reader: CommandReader,
    form: str,
) -> dict[str, Any]:
    """Return the fields of a check that an episode shows."""
    episode, failure = runner.episode, runner.failure
    replies = sum(episode.calls.values())
    commands = sum(reader.is_known(action) for action, _ in episode.transcript if action)
    forms = Counter(form_of_reply(answer, reader) for answer in answers if not answer.is_empty)
    results: dict[str, Any] = {
        "form": form,
        "episode": _ending(episode),
        "won": episode.won is True,
        "steps": episode.steps,
        "replies": replies,
        "commands": commands,
        "answers": dict(forms),
        **{kind: episode.replies.get(kind, 0) for kind in ("bare", "worded", "no_command", "cut")},
    }
    if failure is not None and not episode.won:
        results |= _failure_results(episode, failure, form)
    elif not episode.won and 2 * commands < replies:
        results["status"] = 1
        results["problem"] = (
            f"{replies} replies held {commands} commands of the game; {_example(answers, reader)}"
        )
        results["advice"] = f"Try another form, {_other_forms(form)}, or a larger model."
    return results


def _failure_results(
    episode: Episode,
    failure: Exception,
    form: str,
) -> dict[str, Any]:
    """Return why an episode failed, and what to do about it."""
    problem = str(failure)
    advice = _ADVICE_ON_LIMITS.get(episode.limit or "") or advice_on(problem)
    if episode.limit == "empty":
        advice = f"Try another form, {_other_forms(form)}."
        if form != "line":
            advice += " A model without a chat template needs endpoint=completion."
    return {
        "status": 2 if isinstance(failure, ModelUnavailable) else 1,
        "problem": problem,
        "advice": advice,
        "more_reasoning": episode.limit == "length",
    }


def _other_forms(form: str) -> str:
    """Return the options for the forms that a model is not played in."""
    return " or ".join(f"--form {other}" for other in get_args(Form) if other != form)


def _ending(episode: Episode) -> str:
    """Return how an episode ended."""
    if episode.won:
        return f"won in {episode.steps} steps"
    if episode.stop_reason == "agent":
        reason = "claimed success" if episode.claimed_success else "gave up or stalled"
        return f"lost after {episode.steps} steps: the model {reason}"
    if episode.stop_reason == "limit":
        return f"lost by the model's own limit: {episode.limit}"
    if episode.stop_reason == "error":
        return "stopped by an error"
    if episode.stop_reason == "max_calls":
        return f"not over after {MAX_CALLS} calls of the check"
    return f"not over after {episode.steps} steps"


def form_of_reply(completion: Completion, reader: CommandReader) -> str:
    """Return how a command is written in a reply: bare, in marks, among words, as tool calls."""
    if completion.tool_calls:
        return "tool calls"
    text = completion.text
    turn = reader.read(text)
    if not turn.known:
        return "no command"
    command = turn.action or turn.thought
    if text.strip() == command:
        return "a bare line" if turn.action else "a thought"

    return ", ".join(_signs(text, command)) or "other signs"


def _signs(text: str, command: str) -> list[str]:
    """Return the marks in a reply, and where words stand beside its command."""
    signs = [name for name, pattern in _MARKS.items() if re.search(pattern, text)]
    before, _, after = text.partition(command)
    places = []
    if _has_words(before) and "JSON" not in signs:  # there they are keys
        places.append("before")
    if _has_words(after):
        places.append("after")
    if places:
        signs.append(f"words {' and '.join(places)}")
    return signs


def _has_words(text: str) -> bool:
    """Return whether a text has several words; a single one may be a label."""
    return len(re.findall(r"\w+", text)) > 1


def _example(answers: Sequence[Completion], reader: CommandReader) -> str:
    """Return the beginning of the first reply that holds no command, for a message."""
    for answer in answers:
        calls = [f"{name}({arguments})" for _, name, arguments in answer.tool_calls]
        text = answer.text or "; ".join(calls)
        if not reader.canonical(reader.read(text).action):
            return f"one was {text[:MAX_EXAMPLE]!r}"
    return "the others were thoughts"


def advice_on(message: str) -> str:
    """Return what to do about a model that cannot be used; empty if nothing is known to help."""
    for pattern, advice in _ADVICE.items():
        if re.search(pattern, message):
            return advice
    return ""


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
