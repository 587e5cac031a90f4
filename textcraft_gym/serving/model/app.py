"""The application that serves a model by OpenAI's API. Extra ``[serve]``."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias, TypeVar
from uuid import uuid4

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field, field_validator
from starlette.exceptions import HTTPException

from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Message,
    Model,
    ModelLimit,
    Prompt,
    form_of,
)
from textcraft_gym.agents.models.spec import prompts_of
from textcraft_gym.episodes.model_calls import Answer
from textcraft_gym.serving.answers import json_answer
from textcraft_gym.serving.model.batching import Batcher, Overloaded
from textcraft_gym.serving.model.chat_prompt import chat_prompt
from textcraft_gym.serving.model.refusal import Refused
from textcraft_gym.serving.model.tools import (
    CalledTool,
    Player,
    Tool,
    ToolChoice,
    call_of,
    described,
    player_of,
)
from textcraft_gym.serving.model.turns import Ask, Turn, Turns, asks_for_actions, end_of

MAX_BODY = 4 * 1024 * 1024
MAX_TOKENS = 256
"""Maximum number of tokens of an answer for which a request names none."""

Stops: TypeAlias = Annotated[list[str], Field(max_length=16)]
Result = TypeVar("Result")
_SEEDS = 1 << 31
_PIECES = re.compile(r"\s*\S+|\s+")
"""What a streamed answer is sent in: a word with the blanks before it."""
_CODES = {404: "not_found", 405: "method_not_allowed"}


class Part(BaseModel):
    """A piece of a message."""

    type: Literal["text"]
    text: str


class ChatMessage(BaseModel):
    """A message; the roles that answer the model count as the user's, and calls as its words."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None
    tool_calls: list[CalledTool] | None = None

    @field_validator("content", mode="before")
    @classmethod
    def _is_text(cls, content: Any) -> Any:
        for part in content if isinstance(content, list) else ():
            kind = part.get("type") if isinstance(part, dict) else None
            if isinstance(kind, str) and kind != "text":
                raise ValueError(f"this model takes only text, not a part of type {kind}")
        return content

    @property
    def message(self) -> Message:
        """The message as the models of this suite take it."""
        content = self.content or ""
        text = content if isinstance(content, str) else "".join(part.text for part in content)
        if self.tool_calls:
            command = "\n".join(call.said for call in self.tool_calls)
            text = Turn((text,), command).labelled if text else command
        roles = {"developer": "system", "tool": "user", "function": "user"}
        return Message(roles.get(self.role, self.role), text)


class StreamOptions(BaseModel):
    """What a stream has besides the text."""

    include_usage: bool = False


class Sampling(BaseModel):
    """What both kinds of request may ask for; whatever else they hold is ignored."""

    model: str
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    stop: str | Stops | None = None
    seed: int | None = None
    n: Annotated[int, Field(ge=1, le=16)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None

    @property
    def limit(self) -> int:
        """Maximum number of tokens of an answer."""
        return self.max_tokens or MAX_TOKENS

    @property
    def streams_usage(self) -> bool:
        """Whether a stream ends with the usage."""
        return self.stream_options is not None and self.stream_options.include_usage

    def requests(self, prompts: Sequence[Prompt]) -> list[CompletionRequest]:
        """Return ``n`` requests for each prompt; the seed counts up with the sample."""
        # OpenAI's default.
        temperature = 1.0 if self.temperature is None else self.temperature
        first_seed = random.randrange(_SEEDS) if self.seed is None else self.seed
        stops = [self.stop] if isinstance(self.stop, str) else self.stop or []
        # An empty one would end every answer at once.
        stop = tuple(filter(None, stops))
        requests = []
        for prompt in prompts:
            for sample in range(self.n or 1):
                seed = (first_seed + sample) % _SEEDS
                requests.append(CompletionRequest(prompt, stop, self.limit, temperature, seed))
        return requests


class ChatRequest(Sampling):
    """A request for the next message of a chat."""

    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    max_completion_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None

    @property
    def limit(self) -> int:
        """Maximum number of tokens of an answer."""
        return self.max_completion_tokens or super().limit


class TextRequest(Sampling):
    """A request to continue texts."""

    prompt: str | Annotated[list[str], Field(min_length=1, max_length=64)]


class Endpoints:
    """The endpoints of OpenAI's API for one model.

    Args:
        name: The name by which requests name the model.
        batcher: The model.
    """

    def __init__(self, name: str, batcher: Batcher) -> None:
        self.name = name
        self.batcher = batcher
        self.turns = Turns(batcher.model, batcher.answers)
        self._about = {
            "id": name,
            "object": "model",
            "created": int(time.time()),
            "owned_by": "textcraft-gym",
            **_wishes(batcher.model),
        }

    async def models(self) -> Response:
        """List the model."""
        return json_answer({"object": "list", "data": [self._about]})

    async def model(self, name: str) -> Response:
        """Describe the model."""
        self._check(name)
        return json_answer(self._about)

    async def chat(self, request: Request, body: ChatRequest) -> Response:
        """Answer a chat: with text, or with a call of the tool that plays the game."""
        messages = [message.message for message in body.messages]
        player = player_of(body.tools, body.tool_choice)
        ask: Ask = self.batcher.answers
        if player or (self.turns.is_line and asks_for_actions(messages)):
            ask = partial(self._take_turns, messages, player)
        return await self._respond(request, body, [chat_prompt(messages)], _Chat(), ask)

    async def completions(self, request: Request, body: TextRequest) -> Response:
        """Continue texts."""
        prompts = [body.prompt] if isinstance(body.prompt, str) else body.prompt
        return await self._respond(request, body, prompts, _Text(), self.batcher.answers)

    async def _take_turns(
        self,
        messages: Sequence[Message],
        player: Player | None,
        requests: Sequence[CompletionRequest],
    ) -> list[Answer]:
        """Return a turn for each request: a call, or a reply with ``Action:``."""
        end = end_of(messages)
        if player and end:
            return [_closing(player, end) for _ in requests]
        turns = await asyncio.gather(*(self.turns.turn(messages, request) for request in requests))
        answers: list[Answer] = []
        for taken in turns:
            answers.append(taken if isinstance(taken, Exception) else _reply(*taken, player))
        return answers

    def _check(self, name: str) -> None:
        if name != self.name:
            message = f"model {name!r} is not served here: expected {self.name!r}"
            raise Refused(404, message, "model_not_found")

    async def _respond(
        self,
        request: Request,
        body: Sampling,
        prompts: Sequence[Prompt],
        form: _Form,
        ask: Ask,
    ) -> Response:
        self._check(body.model)
        requests = body.requests(prompts)
        try:
            answers = await _unless_gone(request, ask(requests))
        except Overloaded as error:
            raise Refused(503, str(error), "overloaded") from error
        completions = [_completion(answer) for answer in answers]
        reasons = [_finish_reason(completion, body.limit) for completion in completions]
        usage = _usage(completions, body.n or 1)
        head = {
            "id": f"{form.prefix}-{uuid4().hex}",
            "created": int(time.time()),
            "model": self.name,
        }
        if body.stream:
            chunks = _chunks(
                {**head, "object": form.chunk},
                completions,
                reasons,
                form,
                usage if body.streams_usage else None,
            )
            return StreamingResponse(chunks, media_type="text/event-stream")
        choices = []
        for index, (completion, reason) in enumerate(zip(completions, reasons, strict=True)):
            choice = {"index": index, "logprobs": None, "finish_reason": reason}
            choices.append({**choice, **form.whole(completion)})
        return json_answer({**head, "object": form.object, "choices": choices, "usage": usage})


class _Form(ABC):
    """How an endpoint writes its answers."""

    prefix: str
    object: str
    chunk: str

    @abstractmethod
    def whole(self, completion: Completion) -> dict[str, Any]:
        """Return the part of a choice that holds its completion."""

    @abstractmethod
    def pieces(self, completion: Completion) -> Iterator[dict[str, Any]]:
        """Yield the parts of the choices of a stream; the last ends it, and is empty."""


class _Chat(_Form):
    prefix, object, chunk = "chatcmpl", "chat.completion", "chat.completion.chunk"

    def whole(self, completion: Completion) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": completion.text}
        if completion.tool_calls:
            message["content"] = completion.text or None
            message["tool_calls"] = [described(call) for call in completion.tool_calls]
        return {"message": message}

    def pieces(self, completion: Completion) -> Iterator[dict[str, Any]]:
        role = {"role": "assistant"}
        for text in _PIECES.findall(completion.text) or [""]:
            yield {"delta": {**role, "content": text}}
            role = {}
        for number, call in enumerate(completion.tool_calls):
            yield {"delta": {"tool_calls": [{"index": number, **described(call)}]}}
        yield {"delta": {}}


class _Text(_Form):
    prefix, object, chunk = "cmpl", "text_completion", "text_completion"

    def whole(self, completion: Completion) -> dict[str, Any]:
        return {"text": completion.text}

    def pieces(self, completion: Completion) -> Iterator[dict[str, Any]]:
        for text in (*_PIECES.findall(completion.text), ""):
            yield {"text": text}


def create_app(model: Model, name: str) -> FastAPI:
    """Return the application that serves a model.

    Chats and texts are answered at ``/v1/chat/completions`` and ``/v1/completions``, also as
    streams; the model writes the whole answer before the first piece is sent. What comes while the
    model is busy is its next batch.

    Args:
        model: The model.
        name: The name by which requests name it.
    """
    batcher = Batcher(model)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        batcher.close()

    app = FastAPI(title=f"{name}, served by textcraft-gym", lifespan=lifespan)
    endpoints = Endpoints(name, batcher)
    app.add_api_route("/v1/models", endpoints.models, methods=["GET"], response_model=None)
    app.add_api_route(
        "/v1/models/{name:path}",
        endpoints.model,
        methods=["GET"],
        response_model=None,
    )
    app.add_api_route("/v1/chat/completions", endpoints.chat, methods=["POST"], response_model=None)
    app.add_api_route(
        "/v1/completions",
        endpoints.completions,
        methods=["POST"],
        response_model=None,
    )
    app.add_exception_handler(Refused, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse_body)
    app.add_exception_handler(HTTPException, _refuse_path)
    return app


def _wishes(model: Model) -> dict[str, Any]:
    """Return how a model wants to be asked; a client of this suite does so by itself."""
    wishes = {
        "endpoint": "completion" if form_of(model) == "line" else "chat",
        "prompts": prompts_of(model),
        "max_model_len": getattr(model, "context", None),
    }
    return {name: wish for name, wish in wishes.items() if wish is not None}


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of the work, which is given up if the client goes before."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Refused(499, "the client has gone")  # read by nobody
        return task.result()
    finally:
        task.cancel()
        gone.cancel()


def _completion(answer: Completion | Exception) -> Completion:
    # The model would raise again: a status below 500 tells clients not to repeat the request.
    if isinstance(answer, ModelLimit) and answer.limit == "context":
        raise Refused(400, str(answer), "context_length_exceeded")
    if isinstance(answer, Exception):
        raise Refused(400, str(answer), "model_error")
    return answer


def _usage(completions: Sequence[Completion], samples: int) -> dict[str, int]:
    """Return the tokens of a request; each prompt counts once, whatever the number of samples."""
    prompt = sum(completion.usage.get("prompt_tokens", 0) for completion in completions[::samples])
    written = sum(completion.usage.get("completion_tokens", 0) for completion in completions)
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def _closing(player: Player, end: str) -> Completion:
    """Return the reply after the end of a game: its mark as text, or in the call that ends."""
    if player.close is None:
        return Completion(end)
    return Completion("", finish_reason="tool_calls", tool_calls=(call_of(player.close, end),))


def _reply(turn: Turn, completion: Completion, player: Player | None) -> Completion:
    """Return the completion that tells a turn, with what it took."""
    if player is None:
        return completion._replace(text=turn.labelled)
    if not turn.command:
        return completion._replace(text="\n".join((*turn.thoughts, turn.text)).strip())
    return completion._replace(
        text="\n".join(turn.thoughts),
        finish_reason="tool_calls",
        tool_calls=(call_of(player.play, turn.command),),
    )


def _finish_reason(completion: Completion, limit: int) -> str:
    if completion.finish_reason != "stop":
        return completion.finish_reason
    return "length" if completion.usage.get("completion_tokens", 0) >= limit else "stop"


async def _chunks(
    head: Mapping[str, Any],
    completions: Sequence[Completion],
    reasons: Sequence[str],
    form: _Form,
    usage: Mapping[str, int] | None,
) -> AsyncIterator[str]:
    """Yield the events of a stream."""
    for index, (completion, reason) in enumerate(zip(completions, reasons, strict=True)):
        *parts, last = form.pieces(completion)
        choice = {"index": index, "logprobs": None, "finish_reason": None}
        for part in parts:
            yield _event({**head, "choices": [{**choice, **part}]})
        yield _event({**head, "choices": [{**choice, "finish_reason": reason, **last}]})
    if usage is not None:
        yield _event({**head, "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _event(value: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"


async def _refuse(request: Request, refused: Refused) -> Response:
    return json_answer({"error": refused.error}, refused.status)


async def _refuse_body(request: Request, error: RequestValidationError) -> Response:
    problem = error.errors()[0]
    message = problem["msg"].removeprefix("Value error, ")
    param = ".".join(map(str, problem["loc"][1:]))
    if param:
        message = f"{param}: {message}"
    return await _refuse(request, Refused(400, message, param=param))


async def _refuse_path(request: Request, error: HTTPException) -> Response:
    message = f"{request.url.path}: {error.detail}"
    code = _CODES.get(error.status_code)
    return await _refuse(request, Refused(error.status_code, message, code))
