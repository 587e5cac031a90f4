"""A run as one value: every option of an evaluation, of a sweep's cell or of rollouts.

The command line makes its options from the fields of ``RunSpec``, backends send it to other
processes, and ``config.json`` keeps it. A field is declared here and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from textcraft_gym.agents.contract.agent import AgentLike, Reading
from textcraft_gym.agents.contract.model import Completion, Model, ModelError, ModelUnavailable
from textcraft_gym.agents.models.spec import (
    as_served,
    form_of_spec,
    is_remote,
    make_model,
    price_of,
    prompts_of,
    recorded_spec,
    without_key,
)
from textcraft_gym.agents.prompts import SETS
from textcraft_gym.agents.redaction import redacted, register_environment, without_secrets
from textcraft_gym.agents.registry import AGENTS, asks, takes
from textcraft_gym.episodes.episode import DEFAULT_MAX_CALLS
from textcraft_gym.episodes.episode_limits import EpisodeLimits
from textcraft_gym.errors import at_least, number, sequence

if TYPE_CHECKING:
    from textcraft_gym.runs.backends import Backend

DEFAULT_MODEL = "local"
"""The model that answers an agent where none is named."""
DEFAULT_SEEDS = 100
"""Default number of episodes in an environment without tasks."""
WORKERS_OF_SERVERS = 8
"""Default number of concurrent episodes where a model on a server answers."""
MAX_TEMPERATURE = 2
_MINIMA = {"workers": 1, "limit": 1, "max_steps": 1, "max_tokens_total": 0, "episode_tokens": 1}
"""Minima of the whole numbers that may be None."""
_AMOUNTS = ("max_cost", "max_seconds", "episode_cost", "episode_seconds", "won_at", "temperature")
"""The numbers that may have a fraction."""


def _about(
    help: str,
    *,
    flag: str = "",
    decides: bool = True,
) -> dict[str, Any]:
    """Return the metadata of a field.

    Args:
        help: Its meaning, also on the command line.
        flag: Its name on the command line if it is repeated there, once for each item.
        decides: Whether it can change an episode. Runs that differ only in other fields are the
            same run.
    """
    return {"help": help, "flag": flag, "decides": decides}


class _Missing:
    """The default model where it is not installed."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def complete(self, *request: Any, **how: Any) -> Completion:
        """Raise why the model cannot be made."""
        raise ModelUnavailable(self.reason)


@dataclass(frozen=True)
class RunSpec:
    """All options of a run; the help text of each field documents it.

    Raises:
        ValueError: For a number that is out of bounds, a text in the place of a sequence or a
            dictionary, or a split among ``env_args``.
    """

    env: str = field(metadata=_about("Environment: an id, or my_module:My-v0."))
    split: str | None = field(
        default=None,
        metadata=_about("Split to play; by default the environment's."),
    )
    agent: str | AgentLike = field(
        default="react",
        metadata=_about(
            "Agent: a name from `textcraft-gym agents`, or MODULE:NAME of a class or function."
        ),
    )
    agent_args: Mapping[str, Any] = field(
        default_factory=dict,
        metadata=_about("KEY=VALUE for the agent; may be repeated.", flag="agent-arg"),
    )
    model: str | Model | Mapping[str, str | Model] | None = field(
        default=DEFAULT_MODEL,
        metadata=_about(
            "Model: local[:FILE.gguf,...], "
            "openai:NAME[,base_url=URL,price=IN/OUT,...] or MODULE:CLASS."
        ),
    )
    planner: str | Model | None = field(
        default=None,
        metadata=_about("Separate model for the planner."),
    )
    prompts: str | Path | None = field(
        default=None,
        metadata=_about(
            f"Prompt set ({' or '.join(SETS)}), or a folder whose AGENT/GAME.txt replace the "
            "standard ones; by default the model's set."
        ),
    )
    env_args: Mapping[str, Any] = field(
        default_factory=dict,
        metadata=_about("KEY=VALUE for gym.make; may be repeated.", flag="env-arg"),
    )
    wrappers: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Wrapper of the environment: NAME or MODULE:CLASS[,KEY=VALUE,...]; "
            "may be repeated, innermost first.",
            flag="wrapper",
        ),
    )
    seed: int = field(
        default=0,
        metadata=_about("Seed of every reset; without tasks, of the first episode."),
    )
    limit: int | None = field(
        default=None,
        metadata=_about(
            f"Only the first N tasks; without tasks, N seeds (by default {DEFAULT_SEEDS})."
        ),
    )
    tasks: tuple[str, ...] | None = field(
        default=None,
        metadata=_about(
            "Task id to play, instead of the whole split; may be repeated.",
            flag="task",
        ),
    )
    max_steps: int | None = field(
        default=None,
        metadata=_about(
            "Maximum actions per episode; by default the agent's or the environment's limit."
        ),
    )
    max_calls: int = field(
        default=DEFAULT_MAX_CALLS,
        metadata=_about("Maximum completions per episode."),
    )
    reading: Reading = field(
        default="lenient",
        metadata=_about(
            "How to find commands in replies: lenient, in the forms of chat models, or strict, "
            "as in the papers."
        ),
    )
    won_at: float | None = field(
        default=None,
        metadata=_about("Reward that counts as won, if the environment does not say."),
    )
    repeats: int = field(
        default=1,
        metadata=_about("Episodes of each task, each sampled anew; see --temperature."),
    )
    temperature: float = field(
        default=0.0,
        metadata=_about("Sampling temperature where the agent asks for 0."),
    )
    max_cost: float | None = field(
        default=None,
        metadata=_about(
            "Stop once completions have cost this much, in the currency of the prices.",
            decides=False,
        ),
    )
    max_tokens_total: int | None = field(
        default=None,
        metadata=_about(
            "Stop once the models have read and written this many tokens.",
            decides=False,
        ),
    )
    max_seconds: float | None = field(
        default=None,
        metadata=_about(
            "Stop after this many seconds; a resumed run gets as many again. The backend loop "
            "cannot stop during a step of an environment or agent.",
            decides=False,
        ),
    )
    episode_cost: float | None = field(
        default=None,
        metadata=_about("Maximum cost of an episode; beyond it the episode is lost."),
    )
    episode_tokens: int | None = field(
        default=None,
        metadata=_about(
            "Maximum tokens of an episode, read and written; beyond it the episode is lost."
        ),
    )
    episode_seconds: float | None = field(
        default=None,
        metadata=_about(
            "Maximum seconds of an episode; beyond it the episode is lost. It is checked while a "
            "model answers and between the agent's requests; the backend process also stops a "
            "step that hangs."
        ),
    )
    workers: int | None = field(
        default=None,
        metadata=_about(
            f"Number of concurrent episodes; by default {WORKERS_OF_SERVERS} where a server "
            "answers, else 1.",
            decides=False,
        ),
    )
    backend: str | Backend = field(
        default="loop",
        metadata=_about("Where episodes run: loop, process, ray or ray:ADDRESS.", decides=False),
    )
    cassette: str | Path | None = field(
        default=None,
        metadata=_about("File that records the models' answers and replays them.", decides=False),
    )
    replay_only: bool = field(
        default=False,
        metadata=_about("Answer from the cassette only.", decides=False),
    )

    calls: bool = field(
        default=True,
        metadata=_about("Keep what the models read and wrote, compressed.", decides=False),
    )

    def __post_init__(self) -> None:
        self._check_numbers()
        sequence("wrappers", "names", self.wrappers)
        if self.tasks is not None:
            sequence("tasks", "ids", self.tasks)
        for name in ("agent_args", "env_args"):
            arguments = getattr(self, name)
            if not isinstance(arguments, Mapping):
                raise ValueError(f"expected {name} to be a dictionary, got {arguments!r}")
        if self.reading not in get_args(Reading):
            raise ValueError(f"expected reading to be lenient or strict, got {self.reading!r}")
        if "split" in self.env_args:
            raise ValueError("split is an option of the run, not one of env_args")
        self._check_prices()
        self.register_secrets()

    def _check_numbers(self) -> None:
        at_least("seed", self.seed, 0)
        at_least("max_calls", self.max_calls, 0)
        at_least("repeats", self.repeats, 1)
        for name, minimum in _MINIMA.items():
            if getattr(self, name) is not None:
                at_least(name, getattr(self, name), minimum)
        for name in _AMOUNTS:
            if getattr(self, name) is not None:
                number(name, getattr(self, name))
        # A run may be asked to cost nothing; an episode that may take nothing could not begin.
        for name in ("max_cost", "max_seconds"):
            amount = getattr(self, name)
            if amount is not None and not 0 <= amount < math.inf:
                raise ValueError(f"expected {name} of 0 or more, got {amount!r}")
        for name in ("episode_cost", "episode_seconds", "won_at"):
            amount = getattr(self, name)
            if amount is not None and not 0 < amount < math.inf:
                raise ValueError(f"expected {name} above 0, got {amount!r}")
        if not 0 <= self.temperature <= MAX_TEMPERATURE:
            raise ValueError(
                f"expected a temperature from 0 to {MAX_TEMPERATURE}, got {self.temperature!r}"
            )

    def _check_prices(self) -> None:
        """Make sure that a limit of money can be reached: a served model has a price.

        Other models may report a cost by themselves; this one would cost nothing.
        """
        for name in ("max_cost", "episode_cost"):
            if getattr(self, name) is None:
                continue
            for model in self.models.values():
                is_served = isinstance(model, str) and model.startswith("openai:")
                if is_served and price_of(model) is None:
                    shown = without_key(str(model))
                    raise ValueError(
                        f"{name} needs a price: add price=PROMPT/COMPLETION to {shown}"
                    )

    @property
    def models(self) -> dict[str, str | Model]:
        """The model of each role, as a description or an object; ``executor`` is the default."""
        models: dict[str, str | Model] = {}
        if isinstance(self.model, Mapping):
            models.update(self.model)
        elif self.model is not None:
            models["executor"] = self.model
        if self.planner is not None:
            models["planner"] = self.planner
        return models

    @property
    def asked(self) -> dict[str, str | Model]:
        """The models that the agent asks: none without ``episode``, or with ``asks = False``.

        Where there are none, the agent, which may be a stranger's module, is not imported.
        """
        return self.models if self.models and asks(self.agent) else {}

    @property
    def worker_count(self) -> int:
        """The number of concurrent episodes; each takes a process in the backend ``process``."""
        if self.workers is not None:
            return self.workers
        waits = self.backend == "loop" and any(map(is_remote, self.asked.values()))
        return WORKERS_OF_SERVERS if waits else 1

    @property
    def episode_limits(self) -> EpisodeLimits:
        """What each episode may take."""
        return EpisodeLimits(self.episode_seconds, self.episode_tokens, self.episode_cost)

    @property
    def prompt_source(self) -> str | None:
        """The set or folder of prompts: as given, else as the executor's model names it.

        None stands for the standard. All roles read one set. A planner of another kind than the
        executor gets the executor's.
        """
        if self.prompts is not None:
            return str(self.prompts)
        executor = self.asked.get("executor")
        return None if executor is None else prompts_of(executor)

    def register_secrets(self) -> None:
        """Register the secrets among the options, and those of the environment, in this process.

        A new spec does it by itself; a process that is sent one has to.
        """
        register_environment()
        for arguments in (self.agent_args, self.env_args):
            without_secrets(arguments)
        for spec in (*self.models.values(), *self.wrappers):
            if isinstance(spec, str):
                without_key(spec)

    @property
    def full_agent_args(self) -> dict[str, Any]:
        """The arguments of the agent; one with several forms takes the one that its model names."""
        executor = self.models.get("executor")
        if executor is None or not isinstance(self.agent, str) or not takes(self.agent, "form"):
            return dict(self.agent_args)
        return {"form": form_of_spec(executor), **self.agent_args}

    def as_served(self) -> RunSpec:
        """Return the spec with the options that the servers of its models give; see ``as_served``.

        A run that only replays asks no server.
        """
        if self.replay_only:
            return self
        served: dict[str, str | Model] = {}
        for role, model in self.asked.items():
            served[role] = as_served(model) if isinstance(model, str) else model
        if served == self.asked:
            return self
        planner = served.pop("planner", None)
        only = served["executor"] if list(served) == ["executor"] else served
        return replace(self, model=only, planner=planner)

    def make_models(self) -> dict[str, Model]:
        """Return the model of each role that the agent asks.

        A default model that is not installed is an error only once a user's agent asks it, which it
        may never do.

        Raises:
            ModelError: If one cannot be made.
        """
        models: dict[str, Model] = {}
        for role, model in self.asked.items():
            models[role] = self._made(model) if isinstance(model, str) else model
        return models

    def _made(self, model: str) -> Model:
        try:
            return make_model(
                model,
                cassette=self.cassette,
                replay_only=self.replay_only,
                seed=self.seed,
            )
        except ModelError as error:
            is_of_suite = isinstance(self.agent, str) and self.agent in AGENTS
            if model != DEFAULT_MODEL or is_of_suite:
                raise
            return _Missing(str(error))

    def described(self) -> dict[str, Any]:
        """Return the options that can change episodes, as JSON values without secrets."""
        options = {}
        for option in fields(self):
            if option.metadata["decides"]:
                options[option.name] = getattr(self, option.name)

        names = {role: _model_name(model) for role, model in self.asked.items()}
        executor = names.pop("executor", None)
        others = []
        for role, name in names.items():
            others.append(name if role == "planner" else f"{role} {name}")
        return redacted(
            {
                **options,
                "agent": name_of(self.agent),
                "agent_args": without_secrets(self.full_agent_args),
                "model": executor,
                "planner": ", ".join(others) or None,
                "prompts": self.prompt_source,
                "env_args": without_secrets(self.env_args),
                "wrappers": list(map(without_key, self.wrappers)),
            }
        )


def _model_name(model: str | Model) -> str:
    return recorded_spec(model) if isinstance(model, str) else name_of(model)


def name_of(described: object) -> str:
    """Return the name of an agent or a model; an object without a name has that of its class."""
    if isinstance(described, str):
        return without_key(described)
    for attribute in ("name", "__name__"):
        name = getattr(described, attribute, None)
        if name and isinstance(name, str):  # of a class it may be a property
            return name
    return type(described).__name__
