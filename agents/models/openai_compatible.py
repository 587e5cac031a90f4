"""Models behind OpenAI's API: OpenAI's own, or those of any compatible server. Extra ``[openai]``.

The client learns what its server takes: a parameter that is refused is left out or renamed from
then on, and a model that is seen to reason gets tokens for it. It knows no model by name.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import email.utils
import json
import logging
import os
import random
import re
import time
import urllib.request
import weakref
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

import aiohttp

from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Form,
    Message,
    ModelError,
    ModelLimit,
    ModelUnavailable,
    Prompt,
    Tool,
    is_overflow,
    prompt_messages,
    prompt_text,
)
from textcraft_gym.agents.models.completions import (
    NO_MONEY,
    Price,
    ReasoningRoom,
    counted,
    cut,
    stops_to_send,
    with_costs_of,
)
from textcraft_gym.agents.models.event_loop import close, submit
from textcraft_gym.agents.models.openai_answer import (
    Malformed,
    ServerError,
    error_of,
    parse,
    read_completion,
    reasoning_apart,
    usage_of,
)
from textcraft_gym.agents.redaction import redact, register, without_secrets
from textcraft_gym.errors import at_least, true_or_false

PARAMETERS = ("max_tokens", "temperature", "top_p", "stop", "seed", "logprobs")
"""Sampling parameters that are sent, each of which can be left out or renamed."""
OMITTED = (*PARAMETERS, "stream_options")
"""What can be left out."""
MAX_STOPS = 4
"""Maximum number of stop sequences of the API; completions are cut at the others here."""
MAX_CONNECTIONS = 512
MAX_ANSWER = 1 << 24
"""Maximum size of an answer in bytes, also after decompression."""
LIST_SECONDS = 5.0
"""Maximum seconds to wait for a server's list of models."""
CHARACTERS = 4.0
"""Characters of a token, until a server has counted its tokens."""
MAX_BACKOFF = 8.0
"""Maximum number of seconds before another attempt where the server asks for none."""
CONNECTS = 3
"""Maximum number of attempts to connect to a server that has never answered."""
DEFAULT_URL = "https://api.openai.com/v1"

_log = logging.getLogger("textcraft_gym.models")
_REFUSES = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|"
    r"not (?:allowed|permitted|available|accepted)|extra|invalid|"
    r"cannot (?:be )?(?:used|specified|set)|only the default|deprecated|instead|must not|"
    r"must be (?:[<>]|strictly|in )",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[_ ](?:filter|policy|management)|safety system|moderation",
    re.IGNORECASE,
)
_RETRIED = frozenset((408, 409, 425, 429))
_PATHS = {"chat": "/chat/completions", "completion": "/completions"}
"""Paths of the endpoints, behind the server's address."""


@dataclass
class Learned:
    """What a server was found to want, for the time that the model is used.

    Attributes:
        omit: Parameters that it refuses.
        rename: Parameters that it wants under another name.
        stream: Whether it only streams.
        no_system: Whether it takes no system message.
        reasoning: Where its reasoning stands: ``in the text`` or ``apart``; empty if none was
            shown.
    """

    omit: set[str] = field(default_factory=set)
    rename: dict[str, str] = field(default_factory=dict)
    stream: bool = False
    no_system: bool = False
    reasoning: Literal["", "in the text", "apart"] = ""


class _Response(NamedTuple):
    """A server's answer: its status, headers in lower case, and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Refused(Exception):
    """The server refuses a request as it is; another one may be taken."""

    def __init__(self, error: ServerError) -> None:
        super().__init__(error.message)
        self.error = error


class OpenAIModel:
    """A model by its name on a server.

    Sent are ``max_tokens``, ``temperature``, ``top_p`` (1), ``stop``, ``seed`` where the
    temperature is above 0, and ``logprobs`` if asked for. What the server refuses by a status of
    400 is left out or renamed by itself, and said once; ``omit``, ``rename`` and ``extra`` do so
    from the first request. A lone line break is never sent to the chat endpoint as a stop sequence,
    since reasoning and answers begin with one; completions are cut at it here.

    Args:
        name: The model's name on the server.
        endpoint: ``chat``, which is sent messages, or ``completion``, which is sent the prompt as
            one text.
        base_url: The server's address; by default ``OPENAI_BASE_URL``, else OpenAI's.
        api_key: By default ``OPENAI_API_KEY``; any text for a server that needs none.
        timeout: Seconds to wait for one whole answer, and the longest wait that a server may ask
            for before another attempt.
        max_retries: Maximum number of retries after a time-out, a lost connection, a status of 429
            or of 500 and above; of connections to a server that has never answered, at most 2.
        price: Price per million tokens; without one a completion costs nothing.
        dialogue: Whether the chat endpoint is sent a dialogue message by message; else as one
            message of the user.
        reasoning_tokens: Tokens for reasoning, added to the limit of each answer; by default none,
            and 4,096 from the moment that the model is seen to reason.
        stream: Whether to ask for a stream; a server that only streams is found out.
        system: Whether to send messages of the system; else their text stands in the user's first,
            as it does from the moment that the server refuses one.
        omit: Names of ``OMITTED`` to leave out.
        rename: New names of ``PARAMETERS``, such as ``{"max_tokens": "max_completion_tokens"}``.
        extra: Further parameters of each request, such as ``{"reasoning_effort": "low"}``.
        headers: Further headers of each request, such as ``{"api-key": "..."}``.
        logprobs: Whether completions have the log-probabilities of their tokens. Token ids are kept
            wherever a server sends them, as vLLM does for ``extra={"return_token_ids": true}``.
        prompts: The bundled set of prompts that the model is used to.
        context: Maximum number of tokens of a prompt with its completion; a longer prompt is sent
            with a warning.

    Raises:
        ModelError: If there is no key.
        ValueError: If an argument has a wrong type or value.
    """

    takes_tools = True

    def __init__(
        self,
        name: str,
        *,
        endpoint: Literal["chat", "completion"] = "chat",
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 300.0,
        max_retries: int = 5,
        price: Price | None = None,
        dialogue: bool = True,
        reasoning_tokens: int | None = None,
        stream: bool = False,
        system: bool = True,
        omit: Collection[str] = (),
        rename: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        logprobs: bool = False,
        prompts: str | None = None,
        context: int | None = None,
    ) -> None:
        if endpoint not in ("chat", "completion"):
            raise ValueError(f"expected the endpoint chat or completion, got {endpoint!r}")
        url = base_url or os.environ.get("OPENAI_BASE_URL", "").strip() or DEFAULT_URL
        _check_connection(url, timeout, max_retries)
        for option, flag in {
            "dialogue": dialogue,
            "stream": stream,
            "system": system,
            "logprobs": logprobs,
        }.items():
            true_or_false(option, flag)
        _check_parameters(omit, rename, extra, headers)
        if context is not None:
            at_least("context", context, 1)
        self.name = name
        self.endpoint = endpoint
        self.form: Form = "chat" if endpoint == "chat" else "line"
        self.price = price
        self.dialogue = dialogue
        self.room = ReasoningRoom(reasoning_tokens)
        self.extra = dict(extra or {})
        self.logprobs = logprobs
        self.prompts = prompts
        self.context = context
        self._characters = CHARACTERS
        self._has_warned = False
        self.timeout = timeout
        self.max_retries = max_retries
        self.learned = Learned(set(omit), dict(rename or {}), stream, no_system=not system)
        self._url, self.address, userinfo = _address(url, _PATHS[endpoint])
        self._list_url, *_ = _address(url, "/models")
        without_secrets({"base_url": url, "headers": headers, "extra": extra})
        self._headers = {
            "Authorization": _authorization(name, api_key, userinfo),
            **(headers or {}),
        }
        self._session = _Session(self._url, timeout)
        self._has_answered = False
        self._closing = weakref.finalize(self, self._session.close)

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
        """Return the completion; the sample is the server's seed where the temperature is above 0.

        Raises:
            ModelError: If the server gave none, after every retry; of the class ``ModelLimit`` if
                the prompt exceeds the context, ``ModelUnavailable`` if no request can succeed.
        """
        request = CompletionRequest(prompt, stop, max_tokens, temperature, sample, tools)
        return submit(self.complete_async(request)).result()

    async def complete_async(self, request: CompletionRequest) -> Completion:
        """Return the completion of one request beside others; see ``complete``.

        It runs in the loop of ``event_loop``.
        """
        spent: list[Completion] = []  # answers that were paid for and could not be used
        with counted(spent):
            return with_costs_of(await self._complete(request, spent), spent)

    def listed(self) -> dict[str, Any]:
        """Return what the server's list of models says of this one; empty if it says nothing.

        Raises:
            ModelError: If there is no list.
        """
        session = _Session(self._list_url, LIST_SECONDS)
        try:
            response = submit(session.send(self._headers)).result()
            if response.status != 200:
                raise ModelError(f"{self.name}: no list of models: status {response.status}")
            answer = parse(response.body)
        except Malformed:
            return {}
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError) as error:
            raise ModelError(f"{self.name}: no list of models: {self._reason(error)}") from error
        finally:
            session.close()
        models = answer.get("data") if isinstance(answer, dict) else None
        for model in models if isinstance(models, list) else ():
            if isinstance(model, dict) and model.get("id") == self.name:
                return model
        return {}

    async def _complete(self, request: CompletionRequest, spent: list[Completion]) -> Completion:
        self._check_context(request)
        while True:
            body, room = self._body(request), self.room.tokens
            try:
                completion = self._read(await self._post(body, spent), request)
            except _Refused as refusal:
                # Another request may have learned it meanwhile.
                if self._body(request) == body and not self._learn(refusal.error, body):
                    raise ModelError(
                        f"{self.name}: {self.address}: {refusal.error.message}"
                    ) from None
                continue
            if not self.room.learn(completion, room):
                return completion
            spent.append(completion)

    def learned_options(self) -> dict[str, Any]:
        """Return the options by which a new model begins with what this one has learned."""
        learned = self.learned
        options: dict[str, Any] = {}
        if learned.stream:
            options["stream"] = True
        if learned.omit:
            options["omit"] = [name for name in OMITTED if name in learned.omit]
        if learned.rename:
            options["rename"] = learned.rename
        if self.room.tokens:
            options["reasoning_tokens"] = self.room.tokens
        if learned.no_system:
            options["system"] = False
        return options

    def close(self) -> None:
        """Close the connections; they are also closed with the last reference to the model."""
        self._closing()

    def _check_context(self, request: CompletionRequest) -> None:
        """Warn once of a prompt that leaves no room for its completion."""
        if self.context is None or self._has_warned:
            return
        tokens = int(len(prompt_text(request.prompt)) / self._characters)
        if tokens + request.max_tokens > self.context:
            self._has_warned = True
            _log.warning(
                "%s: a prompt of about %s tokens and an answer of %s do not fit into the "
                "server's context of %s",
                self.name,
                f"{tokens:,}",
                f"{request.max_tokens:,}",
                f"{self.context:,}",
            )

    def _body(self, request: CompletionRequest) -> dict[str, Any]:
        """Return the request as the server is thought to want it."""
        learned = self.learned
        body: dict[str, Any] = {"model": self.name}
        if self.endpoint == "chat":
            body["messages"] = self._messages(request.prompt)
        else:
            body["prompt"] = prompt_text(request.prompt)
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        for key, value in self._parameters(request).items():
            if key not in learned.omit:
                body[learned.rename.get(key, key)] = value
        if learned.stream:
            if "stream" not in learned.omit:
                body["stream"] = True
            if "stream_options" not in learned.omit:
                body["stream_options"] = {"include_usage": True}
        return {**body, **self.extra}

    def _parameters(self, request: CompletionRequest) -> dict[str, Any]:
        """Return the sampling parameters of a request."""
        is_chat = self.endpoint == "chat"
        parameters: dict[str, Any] = {
            "max_tokens": request.max_tokens + self.room.tokens,
            "temperature": request.temperature,
            # As in the papers; a served model may have another default.
            "top_p": 1,
        }
        stops = stops_to_send(request.stop) if is_chat else list(request.stop)
        if stops:
            parameters["stop"] = stops[:MAX_STOPS]
        if request.temperature > 0:
            parameters["seed"] = request.sample
        if self.logprobs:
            # The chat endpoint takes a flag; the other takes the number of alternatives to report,
            # at least 1.
            parameters["logprobs"] = True if is_chat else 1
        return parameters

    def _messages(self, prompt: Prompt) -> list[dict[str, Any]]:
        if not self.dialogue:
            return [_message(Message("user", prompt_text(prompt)))]
        turns = list(prompt_messages(prompt))
        if self.learned.no_system and len(turns) > 1 and turns[0].role == "system":
            system, first, *rest = turns  # the instructions stand in the user's first message
            turns = [first._replace(content=f"{system.content}\n\n{first.content}"), *rest]
        return [_message(turn) for turn in turns]

    def _read(self, response: _Response, request: CompletionRequest) -> Completion:
        """Return the completion of an answer, with its cost."""
        answer = parse(response.body)
        whole = read_completion(answer, takes_tools=bool(request.tools))
        if tokens := whole.usage.get("prompt_tokens"):
            self._characters = max(0.1, len(prompt_text(request.prompt)) / tokens)
        if whole.reasoning:
            self.learned.reasoning = "apart" if reasoning_apart(answer) else "in the text"
        completion = whole._replace(
            text=cut(whole.text, request.stop),
            cost=self._cost(whole.usage),
        )
        if completion.text != whole.text:  # the server's tokens are then not those of this text
            return completion._replace(logprobs=None, token_ids=None)
        return completion

    def _cost(self, usage: Mapping[str, int]) -> float:
        return self.price.of(usage) if self.price else 0.0

    def _paid(self, body: bytes) -> list[Completion]:
        """Return the costs of a useless answer, as a completion without text; empty if unknown."""
        try:
            usage = usage_of(parse(body))
        except Malformed:
            return []
        if not usage:
            return []
        return [Completion("", usage, self._cost(usage))]

    def _learn(
        self,
        error: ServerError,
        body: Mapping[str, Any],
    ) -> bool:
        """Leave out or rename what the server refuses; return whether anything changed."""
        learned = self.learned
        about_stream = re.search(r"stream", error.words, re.I) is not None
        if about_stream and "stream_options" not in error.words and not learned.stream:
            learned.stream = True
            return self._say("the server only streams")
        if not (_REFUSES.search(error.words) or error.parameter):
            return False
        return self._drop_parameter(error, body) or self._drop_system(error, body)

    def _drop_parameter(
        self,
        error: ServerError,
        body: Mapping[str, Any],
    ) -> bool:
        """Leave out the parameter that an error is about, or give it its newer name."""
        learned = self.learned
        # The server names a parameter as it was sent.
        names = {learned.rename.get(key, key): key for key in OMITTED}
        sent = [name for name in names if name in body and name not in self.extra]
        refused = _refused_parameter(error, sent)
        if refused == "max_tokens" and "max_tokens" not in learned.rename:
            learned.rename["max_tokens"] = "max_completion_tokens"
            return self._say("max_tokens is sent as max_completion_tokens")
        if refused:
            learned.omit.add(names[refused])
            return self._say(f"the server refuses {refused}, which is left out")
        return False

    def _drop_system(
        self,
        error: ServerError,
        body: Mapping[str, Any],
    ) -> bool:
        """Send no message of the system any more, if an error is about one."""
        about_roles = re.search(r"\bsystem\b|\brole", error.words, re.I) is not None
        if about_roles and not self.learned.no_system and _begins_with_system(body):
            self.learned.no_system = True
            return self._say(
                "the server takes no system message: instructions stand in the user's first"
            )
        return False

    def _say(self, what: str) -> bool:
        _log.warning("%s: %s from here on", self.name, what)
        return True

    async def _post(
        self,
        body: Mapping[str, Any],
        spent: list[Completion],
    ) -> _Response:
        """Return the answer to a request, after retries; what those took is added to ``spent``.

        Raises:
            _Refused: If the server refuses it as it is.
            ModelUnavailable: If no connection is made to a server that has never answered.
            ModelError: If there is no answer that can be used.
        """
        data = json.dumps(body).encode()
        attempt = 0
        while True:
            wait: float | None = None
            try:
                response = await self._session.send(self._headers, data)
            except (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError) as error:
                trouble = f"no answer from {urlsplit(self._url).netloc}: {self._reason(error)}"
                # A wrong address is not worth the patience that a server gets which restarts.
                is_nowhere = isinstance(error, aiohttp.ClientConnectorError)
                retries = min(self.max_retries, CONNECTS - 1)
                if is_nowhere and not self._has_answered and attempt >= retries:
                    raise ModelUnavailable(f"{self.name}: {trouble}") from error
            else:
                self._has_answered = True
                try:
                    failure = self._failure(response)
                except (_Refused, ModelError):
                    spent += self._paid(response.body)
                    raise
                if failure is None:
                    return response
                spent += self._paid(response.body)
                trouble, wait = failure, _asked_wait(response.headers)
            if wait is not None and wait > self.timeout:
                raise ModelError(
                    f"{self.name}: {trouble}; "
                    f"the server asks to wait {wait:.0f} s, longer than timeout"
                )
            if attempt == self.max_retries:
                raise ModelError(f"{self.name}: {trouble}")
            # The jitter keeps requests that failed together from coming back together.
            backoff = min(0.5 * 2**attempt, MAX_BACKOFF) * random.uniform(0.75, 1.25)
            await asyncio.sleep(backoff if wait is None else wait)
            attempt += 1

    def _reason(self, error: Exception) -> str:
        """Return why there is no answer."""
        if isinstance(error, asyncio.TimeoutError):
            return f"none after {self.timeout:g} s"
        if isinstance(error, aiohttp.ClientConnectorError):
            reason = os.strerror(error.errno) if error.errno else error.os_error
            return f"connection failed: {reason}".lower()
        return redact(str(error)) or type(error).__name__

    def _failure(self, response: _Response) -> str | None:
        """Return what went wrong if a retry may succeed; None for a readable answer.

        Raises:
            _Refused, ModelError: If another attempt would end in the same way.
        """
        error = error_of(response.body)
        if error is None and response.status == 200:
            return _unusable(response.body)
        error = error or ServerError("an empty answer")
        # Some servers repeat what they were sent.
        error = error._replace(message=redact(error.message))
        status = _failed_status(response.status, error)
        message = f"status {response.status}"
        if error.message:
            message += f": {error.message}"
        # By their words before their status: servers report an overflow by any.
        if is_overflow(error.words):
            raise ModelLimit(f"{self.name}: {message}", "context")
        self._check_available(status, error, message)
        if status >= 500 or status in _RETRIED:
            return message
        if _FILTERED.search(error.words):
            raise ModelLimit(f"{self.name}: {message}", "content_filter")
        raise _Refused(error)

    def _check_available(
        self,
        status: int,
        error: ServerError,
        message: str,
    ) -> None:
        """Raise ModelUnavailable for a failure that only the user can mend."""
        if NO_MONEY.search(error.words) or status == 402:
            raise ModelUnavailable(f"{self.name}: no money left: {message}")
        if status in (401, 403):
            raise ModelUnavailable(f"{self.name}: the key is refused: {message}")
        if status in (404, 405):
            if re.search(r"\bmodel\b", error.message, re.I):
                raise ModelUnavailable(
                    f"{self.name}: there is no such model at {self.address}: {message}"
                )
            raise ModelUnavailable(
                f"{self.name}: POST {self.address}: {message}; base_url mostly ends with /v1"
            )
        if 300 <= status < 400:
            raise ModelUnavailable(
                f"{self.name}: POST {self.address} is redirected: give base_url as it is now"
            )


class _Session:
    """Connections to one server, made in the event loop with the first request.

    Args:
        url: Where requests are sent.
        timeout: Seconds for a whole answer.
    """

    def __init__(self, url: str, timeout: float) -> None:
        self._url = url
        self._timeout = aiohttp.ClientTimeout(total=timeout, sock_connect=min(timeout, 30.0))
        self._session: aiohttp.ClientSession | None = None

    async def send(
        self,
        headers: Mapping[str, str],
        data: bytes | None = None,
    ) -> _Response:
        """Post data, or get, and return the whole answer, of at most ``MAX_ANSWER`` bytes."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=MAX_CONNECTIONS),
                timeout=self._timeout,
                proxy=_proxy(self._url),
                cookie_jar=aiohttp.DummyCookieJar(),
                # Decompressed by us up to a bound: a small body may hold gigabytes.
                auto_decompress=False,
                headers={"Content-Type": "application/json", "Accept-Encoding": "identity"},
            )
        method = "GET" if data is None else "POST"
        # A redirected POST would be repeated as a GET, without its body.
        async with self._session.request(
            method,
            self._url,
            data=data,
            headers=headers,
            allow_redirects=False,
        ) as response:
            chunks: list[bytes] = []
            size = 0
            async for chunk in response.content.iter_any():
                size += len(chunk)
                if size > MAX_ANSWER:
                    raise aiohttp.ClientPayloadError(
                        f"the answer is longer than {MAX_ANSWER >> 20} MiB"
                    )
                chunks.append(chunk)
            answered = {key.lower(): value for key, value in response.headers.items()}
            body = _decompressed(b"".join(chunks), answered.get("content-encoding", ""))
            return _Response(response.status, answered, body)

    def close(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            close(session.close())


def _failed_status(status: int, error: ServerError) -> int:
    """Return the status of a failure; under 200 a gateway passes on its provider's."""
    if status != 200:
        return status
    numbers = re.findall(r"\b[45]\d\d\b", error.code)
    return int(numbers[0]) if numbers else 500


def _refused_parameter(error: ServerError, sent: Collection[str]) -> str | None:
    """Return the sent parameter that an error is about; None if it names none."""
    if error.parameter in sent:
        return error.parameter
    for name in sent:
        if re.search(rf"\b{name}\b", error.message):
            return name
    return None


def _begins_with_system(body: Mapping[str, Any]) -> bool:
    """Return whether the first message of a request is the system's."""
    messages = body.get("messages", [{}])
    return bool(messages[0].get("role") == "system")


def _unusable(body: bytes) -> str | None:
    """Return why an answer with status 200 holds no completion; None if it does."""
    try:
        read_completion(parse(body))
    except Malformed as error:
        return str(error)
    return None


def _message(message: Message) -> dict[str, Any]:
    """Return a message in the API's form."""
    sent: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        sent["tool_call_id"] = message.tool_call_id
    return sent


def _tool(tool: Tool) -> dict[str, Any]:
    """Return a tool in the API's form."""
    described = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": described}


def _decompressed(body: bytes, encoding: str) -> bytes:
    """Return a body that a server compressed though it was asked not to.

    Raises:
        aiohttp.ClientPayloadError: If it is too long, or compressed in another way than by gzip or
            deflate.
    """
    if encoding in ("", "identity"):
        return body
    try:
        # 32 has zlib tell gzip from deflate by the header.
        decompressor = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        whole = decompressor.decompress(body, MAX_ANSWER)
    except zlib.error as error:
        raise aiohttp.ClientPayloadError(
            f"the answer cannot be decompressed ({encoding}): {error}"
        ) from error
    if decompressor.unconsumed_tail:
        raise aiohttp.ClientPayloadError(f"the answer is longer than {MAX_ANSWER >> 20} MiB")
    return whole


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that a server asks for; None if it asks for none."""
    with contextlib.suppress(KeyError, ValueError):
        # The finer of the two, where a server sends both.
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    retry_after = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(retry_after))
    with contextlib.suppress(ValueError, OverflowError):  # no date, or one that no clock shows
        date = email.utils.parsedate_to_datetime(retry_after)
        return max(0.0, date.timestamp() - time.time())
    return None


def _address(url: str, end: str) -> tuple[str, str, str]:
    """Return the URL of a path, the same to show, and an address's ``user:password``."""
    parts = urlsplit(url)
    userinfo, _, host = parts.netloc.rpartition("@")
    path = parts.path.rstrip("/") + end
    shown = urlunsplit((parts.scheme, host, path, "", ""))
    return urlunsplit((parts.scheme, host, path, parts.query, "")), shown, unquote(userinfo)


def _authorization(name: str, api_key: str | None, userinfo: str) -> str:
    """Return the header that proves who asks.

    Raises:
        ModelError: If there is no key, or it has signs that a header cannot have; the key is not
            shown.
    """
    if userinfo:
        return f"Basic {base64.b64encode(userinfo.encode()).decode()}"
    key = (os.environ.get("OPENAI_API_KEY", "") if api_key is None else api_key).strip()
    register(key)
    if not key:
        raise ModelError(
            f"{name}: there is no key: "
            "set OPENAI_API_KEY, or api_key=none for a server that needs none"
        )
    if not key.isascii() or not key.isprintable():
        raise ModelError(
            f"{name}: the key has signs that no key has, such as a line break; it is not shown here"
        )
    return f"Bearer {key}"


def _proxy(url: str) -> str | None:
    """Return the proxy that the environment names for an address; None for none."""
    parts = urlsplit(url)
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _check_connection(base_url: str, timeout: float, max_retries: int) -> None:
    """Refuse here what would fail at every call."""
    if not str(base_url).startswith(("http://", "https://")):
        raise ValueError(f"expected base_url to begin with http:// or https://, got {base_url!r}")
    if type(timeout) not in (int, float) or not timeout > 0:
        raise ValueError(f"expected timeout to be a number of seconds above 0, got {timeout!r}")
    at_least("max_retries", max_retries, 0)


def _check_parameters(
    omit: Collection[str],
    rename: Mapping[str, str] | None,
    extra: Mapping[str, Any] | None,
    headers: Mapping[str, str] | None,
) -> None:
    """Make sure that parameters are left out, renamed and added by name."""
    for option, mapping in (("rename", rename), ("extra", extra), ("headers", headers)):
        if not isinstance(mapping, Mapping | None):
            raise ValueError(
                f'expected {option} to be an object such as {{"name": "value"}}, got {mapping!r}'
            )
    if isinstance(omit, str) or not isinstance(omit, Collection):
        raise ValueError(f"expected omit to be a list of names, got {omit!r}")
    for option, names, known in (("omit", omit, OMITTED), ("rename", rename or {}, PARAMETERS)):
        for name in names:
            if name not in known:
                raise ValueError(
                    f"expected {option} to name some of {', '.join(known)}, got {name!r}"
                )
