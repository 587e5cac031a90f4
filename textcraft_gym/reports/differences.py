"""What differs between runs besides what is compared, and may explain a difference of success."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.agents.models.spec import name_and_options
from textcraft_gym.registration import INFO_OF
from textcraft_gym.reports.notes import told
from textcraft_gym.reports.tables import codes

Config: TypeAlias = Mapping[str, Any]


class _Setting(NamedTuple):
    """A key of configs, the phrase about different values of it, and the word for none."""

    key: str
    phrase: str
    unset: str = "none"


_STEPS = (_Setting("max_steps", "budgets differ: {} steps"),)
_CALLS = (_Setting("max_calls", "budgets differ: {} calls"),)
_EPISODE = (
    _Setting("episode_tokens", "budgets differ: {} tokens an episode", "unlimited"),
    _Setting("episode_cost", "budgets differ: {} in money an episode", "unlimited"),
    _Setting("episode_seconds", "budgets differ: {} seconds an episode", "unlimited"),
)
_HINTS = {"admissible": "admissible commands", "expert": "the solution"}
"""What an agent is told, by the argument of the environment."""
_ASKED = (
    _Setting("prompts", "prompts differ: {}", "standard"),
    _Setting("planner", "planners differ: {}"),
    _Setting("temperature", "temperatures differ: {}"),
    _Setting("reading", "readings of replies differ: {}"),
)
_WORLD = (
    _Setting("env", "worlds differ: {}"),
    _Setting("split", "splits differ: {}", "default"),
    _Setting("wrappers", "wrappers differ: {}"),
    _Setting("limit", "limits of tasks differ: {}"),
    _Setting("tasks", "chosen tasks differ: {}", "all"),
)
_COUNTED = (
    _Setting("seed", "seeds differ: {}"),
    _Setting("repeats", "repeats differ: {}"),
    _Setting("won_at", "rewards that count as won differ: {}", "as the world says"),
)
_TASKS = (_Setting("tasks_sha256", "the tasks of one name differ: digests {}"),)
_DATA = (_Setting("env_sha256", "the data of the world differ: digests {}", "unknown"),)
_PROMPTS = (_Setting("prompts_sha256", "the prompts' texts differ: digests {}"),)
_VERSION = (_Setting("version", "versions differ: {}"),)

_IDLE = frozenset({"digest", "max_retries", "price", "timeout"})
"""Options of a model that change no answer, and the digest, which goes with its name."""
_SHOWN = 40
"""Maximum number of characters of a value that are shown."""
_DIGEST = 12
"""Number of characters of a digest that are shown."""


def differences(configs: Mapping[str, Config]) -> list[str]:
    """Return what differs between runs besides agent and model, such as ``splits differ: a and b``.

    Budgets come first. Where agents are compared, different models are named as well; of runs that
    ask no model, nothing about models is.

    Args:
        configs: The config of each run, as ``read_config`` returns it.
    """
    asking = {run: config for run, config in configs.items() if config.get("model")}
    has_one_agent = len({config["agent"] for config in configs.values()}) == 1
    worlds = {run: _without_hints(config) for run, config in configs.items()}
    world = [*_different(configs, _WORLD), *_options(worlds, "env_args", is_shared=True)]
    model_phrases = [*_different(asking, _ASKED), *_models(asking, has_one_agent)]
    phrases = [
        *step_budgets(configs),
        *_different(asking, _CALLS),
        *_different(configs, _EPISODE),
        *_hints(configs),
        *model_phrases,
        *_options(configs, "agent_args", is_shared=has_one_agent),
        *world,
        *_different(configs, _COUNTED),
    ]
    # A digest says what nothing else does, or it says it again.
    if not world:
        phrases += [*_different(configs, _TASKS), *_different(configs, _DATA)]
    if has_one_agent and not model_phrases:
        phrases += _different(asking, _PROMPTS)
    return phrases + (list(_different(configs, _VERSION)) or list(_code(configs, has_one_agent)))


def step_budgets(configs: Mapping[str, Config]) -> list[str]:
    """Return whether the budgets of steps differ."""
    return list(_different(configs, _STEPS))


def as_sentence(phrases: Sequence[str]) -> str:
    """Return phrases as a sentence; empty without any."""
    text = "; ".join(phrases)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _different(configs: Mapping[str, Config], settings: Sequence[_Setting]) -> Iterator[str]:
    for setting in settings:
        values = {run: config.get(setting.key) for run, config in configs.items()}
        if phrase := _phrase(setting.phrase, values, setting.unset):
            yield phrase


def _options(
    configs: Mapping[str, Config],
    key: str,
    *,
    is_shared: bool,
) -> Iterator[str]:
    """Yield the options of worlds or agents that differ.

    Args:
        configs: The runs.
        key: The key of a config that holds the options.
        is_shared: Whether all runs take each option, so that a run without it has its default.
    """
    options = {run: config.get(key) or {} for run, config in configs.items()}
    names: dict[str, None] = {}
    for of_run in options.values():
        names |= dict.fromkeys(of_run)
    for name in names:
        values = {}
        for run, of_run in options.items():
            if is_shared or name in of_run:
                values[run] = of_run.get(name)
        if phrase := _phrase(f"{_braced(name)} differs: {{}}", values, "default"):
            yield phrase


def _hints(configs: Mapping[str, Config]) -> Iterator[str]:
    """Yield how what agents are told differs."""
    hints = {}
    for run, config in configs.items():
        hints[run] = " and ".join(_HINTS[argument] for argument in told(config)) or None
    if phrase := _phrase("hints differ: {}", hints, "none"):
        yield phrase


def _without_hints(config: Config) -> Config:
    given = config.get("env_args") or {}
    kept = {name: value for name, value in given.items() if name not in INFO_OF}
    return {**config, "env_args": kept}


def _models(asking: Mapping[str, Config], has_one_agent: bool) -> Iterator[str]:
    """Yield how the models differ; where all agents are one, the models are what is compared."""
    names: dict[str, str] = {}
    options: dict[str, Config] = {}
    for run, config in asking.items():
        name, given = name_and_options(str(config["model"]))
        if "digest" in given:  # of a model's files, which its name does not tell apart
            name += f" {given['digest'][:_DIGEST]}"
        names[run] = name
        kept = {option: value for option, value in given.items() if option not in _IDLE}
        options[run] = {"model": kept}
    if not has_one_agent and (phrase := _phrase("models differ: {}", names, "none")):
        yield phrase
    yield from _options(options, "model", is_shared=True)


def _code(configs: Mapping[str, Config], has_one_agent: bool) -> Iterator[str]:
    """Tell different code; of different agents only the suite's, since theirs differs anyway."""
    played = {}
    for run, config in configs.items():
        digests = codes(config)
        if not has_one_agent:
            digests = list(dict.fromkeys(digest.partition("+")[0] for digest in digests))
        played[run] = " then ".join(digests)
    if phrase := _phrase("code differs: {}", played, "unknown"):
        yield phrase


def _phrase(
    phrase: str,
    values: Mapping[str, Any],
    unset: str,
) -> str:
    """Return a phrase with the values of all runs; empty if they are equal.

    Of more than two runs, those of each value are named.
    """
    runs_of: dict[str, list[str]] = {}
    for run, value in values.items():
        runs_of.setdefault(_text(value, unset), []).append(run)
    if len(runs_of) < 2:
        return ""
    shown = [_brief(text, phrase) for text in runs_of]
    if len(values) > 2:
        shown = [
            f"{text} ({', '.join(runs)})"
            for text, runs in zip(shown, runs_of.values(), strict=True)
        ]
    *most, last = shown
    return phrase.format(f"{', '.join(most)} and {last}")


def _text(value: Any, unset: str) -> str:
    if value is None or value == []:
        return unset
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _brief(text: str, phrase: str) -> str:
    most = _DIGEST if "digests" in phrase else _SHOWN
    return text if len(text) <= most else f"{text[:most]}..."


def _braced(name: str) -> str:
    return name.replace("{", "{{").replace("}", "}}")
