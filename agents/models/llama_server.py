"""llama.cpp's server in this process, by xllamacpp: completes batches, and can be stopped."""

from __future__ import annotations

import atexit
import ctypes
import os
import secrets
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from textcraft_gym.agents.contract.model import Completion, ModelError
from textcraft_gym.agents.models.eight_bits import write_eight_bits
from textcraft_gym.agents.models.gguf import GgufError
from textcraft_gym.agents.models.weights import INSTALL, Files

BATCH = 64
"""Number of tokens of prompts that are read before an interrupt is noticed."""
CACHE_MIB = 512
"""Memory for prompts that lost their slots to others, and may come back."""
SPINS = "5000"
"""Rounds that a thread waits actively for the others, some 0.1 ms.

By default it waits so long that a token takes seconds where other programs use the cores, too.
"""
_SPIN_VARIABLES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
_MAX_SEED = 2**32 - 1
"""Seeds are smaller: llama.cpp draws one at random in its place."""
_WAIT_SECONDS = 0.5
_CONTROL_GROUP = Path("/sys/fs/cgroup")

LOCK = threading.RLock()
"""Held for a moment by whoever makes a server or replaces one."""
# A fork while another thread holds it would leave it locked in the child for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=LOCK.acquire,
        after_in_parent=LOCK.release,
        after_in_child=LOCK.release,
    )


class Sampling(NamedTuple):
    """Parameters of a completion; see ``Ask`` for the fields."""

    stop: tuple[str, ...]
    max_tokens: int
    temperature: float
    seed: int


class Refused(Exception):
    """The server did not complete a prompt.

    Attributes:
        details: The server's reason.
    """

    def __init__(self, details: Mapping[str, Any]) -> None:
        super().__init__(str(details.get("message", details)))
        self.details = details


@dataclass(frozen=True)
class ServerOptions:
    """The model of a server, and its resources.

    Attributes:
        files: The weights, and an adapter for them.
        digest: The digest that the files must have when they are loaded.
        threads: Number of threads that compute.
        context: Maximum number of tokens of each slot.
        slots: Maximum number of requests under way at once.
        eight_bits: Whether it computes with weights of 8 bits into which the adapter is worked.
    """

    files: Files
    digest: str
    threads: int
    context: int
    slots: int
    eight_bits: bool = False


def import_xllamacpp() -> Any:
    """Return the package xllamacpp.

    Raises:
        ModelError: If it is not installed, or cannot be imported.
    """
    try:
        with _short_waits():
            return import_module("xllamacpp")
    except ImportError as error:
        raise ModelError(
            f"the model local needs the package xllamacpp ({error}): {INSTALL}"
        ) from error


def available_memory() -> int | None:
    """Return the bytes of memory that are free for this process; None if unknown."""
    amounts: list[int] = []
    with suppress(OSError, ValueError, KeyError):
        amounts.append(1024 * _number(Path("/proc/meminfo"), "MemAvailable:"))
    # Of a container; ``memory.max`` is not a number if it has no limit.
    with suppress(OSError, ValueError, KeyError):
        limit = int((_CONTROL_GROUP / "memory.max").read_text("ascii"))
        used = int((_CONTROL_GROUP / "memory.current").read_text("ascii"))
        # Pages of files that were not read lately count as used, and are given up when memory is
        # wanted.
        idle = _number(_CONTROL_GROUP / "memory.stat", "inactive_file ")
        amounts.append(max(0, limit - used + idle))
    return min(amounts, default=None)


def _number(file: Path, name: str) -> int:
    """Return the number of the line ``name number ...``; KeyError if there is none."""
    for line in file.read_text("ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise KeyError(name)


class LlamaServer:
    """A model, loaded for the first prompts.

    One thread at a time may ask it; any thread may close it, for good.

    Args:
        options: What to load.

    Attributes:
        turn: Held by the thread that asks.
    """

    def __init__(self, options: ServerOptions) -> None:
        self.turn = threading.Lock()
        self._state = _State(options)
        # At the end of the program ``_exit`` closes all servers.
        weakref.finalize(self, _end, self._state).atexit = False
        with LOCK:
            _servers.add(self)
            if _exiting.is_set():
                self._state.closing.set()

    @property
    def open(self) -> bool:
        """Whether it can be asked: not closed, and made by this process, not by its parent."""
        return not self._state.closing.is_set() and self._state.pid == os.getpid()

    def close(self) -> None:
        """Stop what is computed, and free the memory."""
        _end(self._state)

    def unload(self) -> None:
        """Unload the model; the next prompts load it again.

        Only the thread that asks may do this.
        """
        self._state.native.clear()

    def complete(
        self,
        prompts: Sequence[str],
        sampling: Sampling,
    ) -> list[Completion]:
        """Return the completions of prompts, which are computed together.

        Raises:
            Refused: If the server cannot complete one of them; what it did for the others is lost.
            ModelError: If llama.cpp cannot load the model, or the server is closed.
        """
        outcome: SimpleQueue[list[Completion] | Exception] = SimpleQueue()
        try:
            # In a thread of its own, since an interrupt cannot end a call of llama.cpp.
            threading.Thread(
                target=_ask,
                args=(self._state, prompts, sampling, outcome),
                daemon=True,
            ).start()
            answer = _wait(outcome)
        except BaseException:
            self.close()
            raise
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class _State:
    """The state that a server's threads share.

    It is apart from the server, so that the server's end can be noticed.

    Attributes:
        options: What to load.
        native: The server of xllamacpp; empty before it is loaded and once it is closed.
        closing: Set to stop what is computed.
        idle: Clear while a thread is in a call of llama.cpp.
        pid: The process that has its threads.
    """

    options: ServerOptions
    native: list[Any] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    idle: threading.Event = field(default_factory=threading.Event)
    pid: int = field(default_factory=os.getpid)

    def __post_init__(self) -> None:
        self.idle.set()


_servers: weakref.WeakSet[LlamaServer] = weakref.WeakSet()
_exiting = threading.Event()


@atexit.register
def _exit() -> None:
    """Close all at the end of the program, which would crash while llama.cpp's threads compute."""
    with LOCK:
        _exiting.set()
        servers = list(_servers)
    for server in servers:
        server.close()


def _load(options: ServerOptions) -> Any:
    options.files.expect(options.digest)
    try:
        return _start(options)
    except (RuntimeError, OverflowError, MemoryError) as error:
        raise ModelError(
            f"llama.cpp cannot load it with {options.slots} x {options.context} tokens: {error}"
        ) from error
    except (OSError, GgufError) as error:
        raise ModelError(f"its weights of 8 bits cannot be written: {error}") from error


def _start(options: ServerOptions) -> Any:
    if not options.eight_bits:
        return _serve(options, options.files)
    # Written anew each time, which takes about a second, so that no copies of old adapters are left
    # behind.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = Path(folder) / options.files.weights.name
        write_eight_bits(*options.files, file)
        return _serve(options, Files(file, None))


def _serve(options: ServerOptions, files: Files) -> Any:
    xllamacpp = import_xllamacpp()
    params = xllamacpp.CommonParams()
    params.model.path = str(files.weights)
    if files.adapter:
        params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(files.adapter), 1.0)]
    if options.eight_bits:  # not mapped into memory, since some systems remove no file that is
        params.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE
    # llama.cpp divides this among its slots.
    params.n_ctx = options.context * options.slots
    params.n_parallel = options.slots
    params.n_batch = params.n_ubatch = max(BATCH, options.slots)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.cache_ram_mib = CACHE_MIB
    params.fit_params = params.warmup = False
    params.verbosity = -1  # nothing on stderr
    # It also listens on a port, which only this machine reaches, and no one there can use without
    # the key.
    params.hostnames = ["127.0.0.1"]
    params.api_keys = [secrets.token_hex()]
    params.ui = params.endpoint_slots = params.endpoint_props = False
    params.endpoint_metrics = True
    server = xllamacpp.Server(params)
    # A server that is closed before its thread reads the queue waits for that thread forever; this
    # returns once it does.
    server.handle_metrics()
    return server


def _wait(outcome: SimpleQueue[list[Completion] | Exception]) -> list[Completion] | Exception:
    while True:
        with suppress(Empty):
            # A wait without end cannot be interrupted on Windows.
            return outcome.get(timeout=_WAIT_SECONDS)


def _ask(
    state: _State,
    prompts: Sequence[str],
    sampling: Sampling,
    outcome: SimpleQueue[list[Completion] | Exception],
) -> None:
    """Put the completions, or the error, into ``outcome``."""
    state.idle.clear()
    try:
        answer: list[Completion] | Exception = _completions(state, prompts, sampling)
    except (AttributeError, KeyError, TypeError) as error:
        # A native module has no stable interface.
        answer = ModelError(
            "this needs another version of xllamacpp than the installed "
            f"{version('xllamacpp')}: {error!r}"
        )
        answer.__cause__ = error
    except Exception as error:
        answer = error
    finally:
        state.idle.set()
    outcome.put(answer)


class _Answers:
    """The answers to some prompts, which arrive in chunks of any of them."""

    def __init__(self, prompts: int) -> None:
        self.texts = [""] * prompts
        self.usages: dict[int, Mapping[str, Any]] = {}
        self.errors: list[Mapping[str, Any]] = []

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Keep a chunk; the last one of each answer has its usage."""
        if "error" in chunk:
            self.errors.append(chunk["error"])
        for choice in chunk.get("choices", ()):
            self.texts[choice["index"]] += choice["text"]
            if "usage" in chunk:
                self.usages[choice["index"]] = chunk["usage"]

    def completions(self) -> list[Completion]:
        """Return the completions; Refused if one of them is missing."""
        if self.errors:
            raise Refused(self.errors[0])
        if len(self.usages) < len(self.texts):
            raise Refused({"message": "there is no answer"})
        return [
            Completion(text, _counts(self.usages[index])) for index, text in enumerate(self.texts)
        ]


def _completions(
    state: _State,
    prompts: Sequence[str],
    sampling: Sampling,
) -> list[Completion]:
    answers = _Answers(len(prompts))

    def collect(chunk: Any) -> bool:
        """Keep a chunk of the answers; return whether to stop."""
        answers.add(chunk or {})
        return state.closing.is_set()

    if not state.closing.is_set():
        if not state.native:
            state.native.append(_load(state.options))
        try:
            # Streamed, and with the progress in reading the prompts: at each chunk it can be
            # stopped.
            state.native[0].handle_completions(_body(prompts, sampling), collect)
        except RuntimeError as error:
            raise Refused({"message": str(error)}) from error
    if state.closing.is_set():
        raise ModelError("the model is closed")
    return answers.completions()


def _body(prompts: Sequence[str], sampling: Sampling) -> dict[str, Any]:
    # The whole distribution at a temperature; without one its maximum, which need not be sorted
    # for.
    samplers: dict[str, Any] = {"samplers": ["temperature"]}
    if sampling.temperature <= 0:
        samplers = {"samplers": ["top_k"], "top_k": 1}
    return {
        "prompt": list(prompts),
        "stop": list(sampling.stop),
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "seed": sampling.seed % _MAX_SEED,
        "stream": True,
        "return_progress": True,
        **samplers,
    }


def _counts(usage: Mapping[str, Any]) -> dict[str, int]:
    cached = usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
    counts = {name: int(usage[name]) for name in ("prompt_tokens", "completion_tokens")}
    return {**counts, "cached_tokens": int(cached)}


def _end(state: _State) -> None:
    """Stop what is computed, and free the memory."""
    if state.pid != os.getpid():
        # A forked process has the server without its threads; its destructor would wait for them
        # forever.
        for native in state.native:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(native))
        return
    state.closing.set()
    interrupts: list[KeyboardInterrupt] = []
    # A thread that is still in llama.cpp would crash the process at its end.
    while not state.idle.is_set():
        try:
            state.idle.wait(_WAIT_SECONDS)
        except KeyboardInterrupt as interrupt:  # deferred: the wait is short
            interrupts.append(interrupt)
    state.native.clear()
    if interrupts:
        raise interrupts[0]


@contextmanager
def _short_waits() -> Iterator[None]:
    """Have OpenMP, which reads this once at loading, wait for ``SPINS`` rounds.

    A user's own setting is kept.
    """
    if any(name in os.environ for name in _SPIN_VARIABLES):
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = SPINS
    try:
        yield
    finally:
        os.environ.pop("GOMP_SPINCOUNT", None)
