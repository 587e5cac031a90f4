"""The suite's environments, and the look-up of any registered environment of text by its id.

Importing the package registers the suite's ids with Gymnasium and does nothing else. Every other
part of the suite calls ``find``, which takes any id that Gymnasium knows: the suite's, one of an
imported module, or ``my_module:My-v0``, for which ``my_module`` is imported first. So is the module
that an installed package names for an id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint
from inspect import Parameter, getdoc, signature
from types import MappingProxyType
from typing import Any, NamedTuple

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, load_env_creator

from textcraft_gym.errors import ELSEWHERE, TextCraftGymError, UnknownName
from textcraft_gym.plugins import hidden_by, import_named, installed, one_line

INFO_OF: Mapping[str, str] = {"admissible": "admissible_commands", "expert": "expert_plan"}
"""The keys of info that an environment has only if it is made with an argument, by the argument."""

ENTRY_POINTS = "textcraft_gym.worlds"
"""The group of entry points by which an installed package names the module that registers an id."""

_OTHER_WORLDS = (
    "`textcraft-gym envs` lists them. One of your own is MODULE:ID, such as my_module:My-v0."
)

NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})


class Registration(NamedTuple):
    """An id of the suite.

    Attributes:
        entry_point: The class.
        max_episode_steps: The limit of steps.
        kwargs: The arguments that it fixes.
        difference: What they change, in a sentence.
    """

    entry_point: str
    max_episode_steps: int
    kwargs: Mapping[str, Any] = {}
    difference: str = ""


SUITE: Mapping[str, Registration] = {
    "TextCraft-v0": Registration(
        "textcraft_gym.envs.textcraft.env:TextCraftEnv",
        100,
        {"tags": "group"},
    ),
    "TextCraftTags-v0": Registration(
        "textcraft_gym.envs.textcraft.env:TextCraftEnv",
        100,
        {"tags": "item"},
        "With the game's real tags, whose members may be mixed.",
    ),
    # The official limit.
    "ALFWorld-v0": Registration("textcraft_gym.envs.alfworld.env:ALFWorldEnv", 50),
    # The original has no limit; its baseline agents stop after as many steps.
    "WebShopLite-v0": Registration("textcraft_gym.envs.webshop.env:WebShopLiteEnv", 100),
    "MineTechTree-v0": Registration("textcraft_gym.envs.minetechtree.env:MineTechTreeEnv", 200),
    # ReAct's limit.
    "HotpotQA-v0": Registration("textcraft_gym.envs.hotpotqa.env:HotpotQAEnv", 7),
    "Tabletop-v0": Registration("textcraft_gym.envs.tabletop.env:TabletopEnv", 100),
    "MineDojo-v0": Registration("textcraft_gym.envs.minedojo.env:MineDojoEnv", 200),
}

BUNDLED = tuple(env_id for env_id in SUITE if env_id != "MineDojo-v0")
"""Ids that this package plays by itself; MineDojo's game does not come with it."""


def register_suite() -> None:
    """Register every id of the suite with Gymnasium."""
    for env_id, (entry_point, max_episode_steps, kwargs, _) in SUITE.items():
        gym.register(
            env_id,
            entry_point=entry_point,
            vector_entry_point=f"textcraft_gym.vector:{env_id}",
            max_episode_steps=max_episode_steps,
            kwargs=dict(kwargs),
        )


@dataclass(frozen=True, eq=False)
class World:
    """A registered environment of text: how it is made, and what is known without making it.

    Attributes:
        id: The id by which it was found, ``My-v0`` or ``my_module:My-v0``.
        spec: Gymnasium's spec.
    """

    id: str
    spec: EnvSpec

    @cached_property
    def creator(self) -> Callable[..., Any]:
        """What makes the environment, from the arguments of ``gym.make``.

        Raises:
            ValueError: For an id that has a vector only.
        """
        entry_point = self.spec.entry_point
        if entry_point is None:
            raise ValueError(f"{self.spec.id} has no entry point of single environments")
        if isinstance(entry_point, str):
            return load_env_creator(entry_point)
        return entry_point

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The arguments of ``gym.make`` that the environment takes, by name."""
        return signature(self.creator).parameters

    @property
    def profile(self) -> str:
        """The name of the profile by which agents read the game, ``game_profile`` of its class."""
        name: str = getattr(self.creator, "game_profile", "default")
        return name

    @property
    def manual(self) -> str:
        """The docstring of the environment."""
        return getdoc(self.creator) or ""

    @property
    def summary(self) -> str:
        """The first line of the manual, and what an id changes by the arguments that it fixes."""
        first = self.manual.partition("\n")[0]
        difference = SUITE[self.spec.id].difference if self.spec.id in SUITE else ""
        return f"{first} {difference}".rstrip()

    def default_split(self, arguments: Mapping[str, Any] = NO_ARGUMENTS) -> str | None:
        """Return the split that an environment made with these arguments plays if none is named.

        It is None if the environment has no splits.
        """
        split = self._declared("default_split", arguments) or self.default("split")
        return split if isinstance(split, str) else None

    def splits(self, arguments: Mapping[str, Any] = NO_ARGUMENTS) -> tuple[str, ...]:
        """Return the names of the splits of an environment made with these arguments.

        There are none if it lists none.
        """
        return tuple(self._declared("splits", arguments) or ())

    def _declared(
        self,
        attribute: str,
        arguments: Mapping[str, Any],
    ) -> Any:
        """Return an attribute of the class; of a function, what it returns for the arguments."""
        declared = getattr(self.creator, attribute, None)
        if not callable(declared):
            return declared
        given = {**self.spec.kwargs, **arguments}
        wanted = signature(declared).parameters
        return declared(**{name: value for name, value in given.items() if name in wanted})

    def dialect(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the dialect of an environment made with these arguments; None without dialects."""
        dialect = arguments.get("dialect", self.default("dialect"))
        return None if dialect is None else str(dialect)  # the command line reads 0.3 as a number

    def default(self, argument: str) -> Any:
        """Return the default of an argument; None if the environment does not take it."""
        if argument in self.spec.kwargs:
            return self.spec.kwargs[argument]
        declared = self.parameters.get(argument)
        if declared is None or declared.default is declared.empty:
            return None
        return declared.default

    def takes(self, argument: str) -> bool:
        """Return whether ``gym.make`` takes an argument of this name."""
        kinds = {parameter.kind for parameter in self.parameters.values()}
        return argument in self.parameters or Parameter.VAR_KEYWORD in kinds

    def check_arguments(
        self,
        names: Iterable[str],
        also: Iterable[str] = (),
        note: str = "",
    ) -> None:
        """Make sure that the environment takes arguments of these names.

        Args:
            names: The names.
            also: Arguments that what makes the environment takes itself.
            note: What the message ends with.

        Raises:
            UnknownName: If it does not.
        """
        known = list(dict.fromkeys([*also, *self.parameters]))
        for name in names:
            if name not in known and not self.takes(name):
                note = note or ELSEWHERE.get(name, "")
                raise UnknownName.of(f"argument of {self.id}", name, known, note)

    def make(
        self,
        agent: object = None,
        /,
        **arguments: Any,
    ) -> gym.Env[str, str]:
        """Make the environment, without a step limit; names of arguments are checked.

        Args:
            agent: Who is to play: the arguments in its ``env_args``, such as ``expert=True``, are
                added.
            **arguments: Those of ``gym.make``.

        Raises:
            UnknownName: For an argument that the environment does not take, or an unknown split.
            ValueError: If the agent needs such an argument, or observations or actions are not
                text.
        """
        needed: Mapping[str, Any] = getattr(agent, "env_args", {})
        for argument, value in needed.items():
            if not self.takes(argument):
                known = ", ".join(self.parameters) or "none"
                raise ValueError(
                    f"{_name_of(agent)} needs an environment made with {argument}={value}, "
                    f"which {self.id} does not take: it takes {known}"
                )
        self.check_arguments(arguments)
        arguments = {**needed, **arguments}
        try:
            env: gym.Env[str, str] = gym.make(
                self.spec.id,
                max_episode_steps=-1,
                # Gymnasium's checker breaks an environment whose first reset raises; the suite's
                # own are checked by the tests.
                disable_env_checker=self.spec.id in SUITE or None,
                **arguments,
            )
        except (TextCraftGymError, ValueError, OSError):
            raise
        except KeyError as error:
            # Looked up in a dictionary, as in ``SPLITS[split]``.
            if error.args != (arguments.get("split"),):
                raise self._cannot_be_made(error) from error
            raise UnknownName.of("split", error.args[0], self.splits(arguments)) from error
        except Exception as error:  # the constructor of a foreign environment can raise anything
            raise self._cannot_be_made(error) from error
        check_is_text(env, self.id)
        return env

    def _cannot_be_made(self, error: Exception) -> ValueError:
        return ValueError(f"{self.id} cannot be made: {type(error).__name__}: {error}")


def find(env_id: str) -> World:
    """Find a registered environment by its id, ``My-v0`` or ``my_module:My-v0``.

    Raises:
        UnknownName: If there is no such module, or no such id is registered.
        ValueError: If it is no id, or the module that an installed package names for the id cannot
            be imported.
    """
    if not isinstance(env_id, str):
        raise ValueError(f"expected the id of an environment, got {env_id!r}")
    module, colon, name = env_id.rpartition(":")
    worlds: Mapping[str, EntryPoint] = {} if name in gym.registry else installed_worlds()
    if colon:
        _import_module_of_envs(module, name)
    elif name in worlds:
        _load_installed(worlds[name])
    if name not in gym.registry:
        known = dict.fromkeys([*SUITE, *worlds])
        if colon:
            known |= dict.fromkeys(gym.registry)
        note = hidden_by(module) if colon else _OTHER_WORLDS
        raise UnknownName.of("environment", name, list(known), note)
    spec = gym.registry[name]
    if colon and isinstance(spec.entry_point, str):
        # Another module, which may be in the working folder, too.
        with suppress(ImportError):  # which making the environment explains
            import_named(spec.entry_point.partition(":")[0])
    return World(env_id, spec)


def installed_worlds() -> Mapping[str, EntryPoint]:
    """Return the entry points of the ids that installed packages offer."""
    return installed(ENTRY_POINTS)


def _load_installed(entry: EntryPoint) -> None:
    try:
        entry.load()
    except Exception as error:  # an installed package may be broken in any way
        raise ValueError(f"environment {entry.name}: {one_line(error)}") from error


def _import_module_of_envs(module: str, name: str) -> None:
    try:
        import_named(module)
    except ModuleNotFoundError as error:
        is_missing = error.name is not None and f"{module}.".startswith(f"{error.name}.")
        if not module or not is_missing:
            raise  # the module exists, but one of its imports does not
        note = "Expected MODULE:ID, the module in the working folder or on PYTHONPATH."
        if module.endswith(".py"):
            note = f"Write {module.removesuffix('.py').replace('/', '.')}:{name}."
        raise UnknownName.of("module of an environment", module, [], note) from error


def check_info(
    agent: object,
    env: gym.Env[Any, Any],
    info: Mapping[str, Any],
) -> None:
    """Make sure that the info of a reset has what an agent declares in ``env_args``.

    The info is judged, and not the environment, which may be foreign and in any wrappers.

    Raises:
        ValueError: If it has not.
    """
    needed: Mapping[str, Any] = getattr(agent, "env_args", {})
    for argument, key in INFO_OF.items():
        if not needed.get(argument):
            continue
        name = env.spec.id if env.spec else str(env)
        if key not in info:
            raise ValueError(
                f"{_name_of(agent)} reads info[{key!r}], which {name} lacks: "
                f"{how_to_have(env, key)}"
            )
        if not are_actions(info[key]):
            raise ValueError(
                f"expected {name} to give a list of texts as info[{key!r}], got {info[key]!r}"[:500]
            )


def _name_of(agent: object) -> str:
    """Return the name by which an agent was named, of a user's own one; else that of its class."""
    name = getattr(agent, "name", None)
    return name if isinstance(name, str) else type(agent).__name__


def are_actions(value: object) -> bool:
    """Return whether a value of info is a list of actions: a text would be one of letters."""
    return isinstance(value, list | tuple) and all(isinstance(action, str) for action in value)


def how_to_have(env: gym.Env[Any, Any], key: str) -> str:
    """Return how an environment comes to have a key of ``INFO_OF`` in info."""
    (argument,) = (argument for argument, filled in INFO_OF.items() if filled == key)
    if env.spec and env.spec.kwargs.get(argument):
        return (
            f"it is made with {argument}=True, and so must fill that key with a list of actions "
            "at every reset and step"
        )
    return how_to_make(argument)


def how_to_make(argument: str) -> str:
    """Return how to make an environment whose info has what an argument of it requests."""
    return f"make it with {argument}=True, on the command line with --env-arg {argument}=true"


def check_is_env(env: object) -> None:
    """Make sure that an argument is an environment.

    Raises:
        ValueError: If it is not.
    """
    if not isinstance(env, gym.Env):
        raise ValueError(f"expected an environment, as gym.make returns it, got {env!r}")


def check_is_text(env: gym.Env[Any, Any], name: str) -> None:
    """Make sure that observations and actions of an environment are text.

    Raises:
        ValueError: If they are not.
    """
    for space in (env.observation_space, env.action_space):
        if not isinstance(space, gym.spaces.Text):
            raise ValueError(
                f"expected an environment of text, but {name} has a space of {type(space).__name__}"
            )
