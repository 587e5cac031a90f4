"""The routes of AgentGym's servers for TextCraft, ALFWorld and WebShop.

They are answered in the server's one thread, which a command keeps busy for microseconds: no two
commands of a session can meet. What an answer holds, and what it leaves out, is what AgentGym's
clients read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias

from textcraft_gym.errors import needs
from textcraft_gym.integrations.agentgym.numbering import Numbering
from textcraft_gym.serving.sessions import Sessions
from textcraft_gym.session import TextEpisode

with needs("serve"):
    from pydantic import BaseModel

Answer: TypeAlias = Any
"""A value of JSON."""
Route: TypeAlias = tuple[str, str, Callable[..., Any]]
"""The method, the path, and the coroutine that answers."""


class RecordedEpisode(TextEpisode):
    """An episode that keeps its first observation.

    Attributes:
        first: The observation.
    """

    first = ""

    def reset(
        self,
        task: str | None = None,
        seed: int | None = None,
    ) -> str:
        """Begin an episode and return its first observation."""
        self.first = super().reset(task, seed)
        return self.first


class NotValid(LookupError):
    """A session that is not open; the message is AgentGym's."""


class ById(BaseModel):
    """A session of TextCraft or ALFWorld."""

    id: int


class Command(ById):
    """A command in one."""

    action: str


class TextCraftStart(ById):
    """The task to begin in TextCraft."""

    data_idx: int = 0


class ALFWorldStart(ById):
    """The task to begin in ALFWorld; all three worlds are the one of text."""

    game: int
    world_type: Literal["Text", "Embody", "Hybrid"] = "Text"


class ByEnvironment(BaseModel):
    """A session of WebShop."""

    env_idx: int


class WebShopCommand(ByEnvironment):
    """A command in one."""

    action: str


class WebShopStart(ByEnvironment):
    """The task to begin in WebShop; None draws one."""

    session_id: int | None = None


class Routes(ABC):
    """The routes of a server, and its sessions.

    Attributes:
        queries: The names of the methods that ``GET`` reaches, by a path of the same name.

    Args:
        make: Returns a new episode.
        number: Returns the task of a number.
        sessions: The table of sessions.
    """

    queries: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        make: Callable[[], RecordedEpisode],
        number: Numbering,
        sessions: Sessions[RecordedEpisode],
    ) -> None:
        self.make = make
        self.number = number
        self.sessions = sessions

    @property
    def routes(self) -> list[Route]:
        """What the server answers."""
        commands = ("create", "reset", "step", "close")
        return [
            ("GET", "/", self.greet),
            *(("POST", f"/{name}", getattr(self, name)) for name in commands),
            *(("GET", f"/{name}", getattr(self, name)) for name in self.queries),
        ]

    @abstractmethod
    async def greet(self) -> Answer:
        """Say which server this is."""

    def find(self, session: int) -> RecordedEpisode:
        """Return the episode of a session, or raise ``NotValid``."""
        try:
            return self.sessions.find(session)
        except LookupError:
            raise NotValid(f"The id {session} is not valid.") from None


class RoutesById(Routes):
    """Routes that name a session ``id``."""

    async def step(self, body: Command) -> Answer:
        """Play a command."""
        episode = self.find(body.id)
        text = episode.step(body.action)
        return {**self.describe(episode), "observation": self.shown(text)}

    async def close(self, body: ById) -> Answer:
        """End a session."""
        return self.sessions.close(body.id)

    async def observation(self, id: int) -> Answer:
        """Repeat the last observation."""
        return self.last_text(self.find(id))

    async def detail(self, id: int) -> Answer:
        """Describe all of a session."""
        return {**self.describe(self.find(id)), "deleted": False}

    def describe(self, episode: RecordedEpisode) -> dict[str, Any]:
        """Return the state of an episode."""
        return {
            "observation": self.last_text(episode),
            "reward": episode.last.reward,
            "done": episode.over,
        }

    def last_text(self, episode: RecordedEpisode) -> str:
        """Return the last observation as AgentGym shows it."""
        return self.shown(episode.observation)

    def shown(self, text: str) -> str:
        """Return the answer to a command as AgentGym shows it."""
        return text


class TextCraftRoutes(RoutesById):
    """TextCraft: a new session begins its first task at once."""

    queries = ("observation", "commands", "goal", "detail")

    async def greet(self) -> Answer:
        """Say which server this is."""
        return "This is environment TextCraft."

    async def create(self) -> Answer:
        """Open a session and begin the task of its own number, or another where there is none."""
        session = self.sessions.open(self.make)
        return self._begin(session, self.number.any_task(session), session)

    async def reset(self, body: TextCraftStart) -> Answer:
        """Begin a task."""
        return self._begin(body.id, self.number(body.data_idx), body.data_idx)

    async def commands(self, id: int) -> Answer:
        """Repeat the commands that were listed at the start."""
        return self.find(id).first.partition("\n\n")[0]

    async def goal(self, id: int) -> Answer:
        """Repeat the goal."""
        return self.find(id).first.partition("\n\n")[2]

    def _begin(
        self,
        session: int,
        task: str,
        number: int,
    ) -> Answer:
        text = self.find(session).reset(task, seed=abs(number))
        return {"id": session, "observation": text, "done": False, "reward": 0}


class ALFWorldRoutes(RoutesById):
    """ALFWorld as its release 0.3 words it, without the greeting and the numbers of locations."""

    queries = ("observation", "available_actions", "detail")

    async def greet(self) -> Answer:
        """Say which server this is."""
        return "This is environment ALFWorld."

    async def create(self) -> Answer:
        """Open a session."""
        return {"id": self.sessions.open(self.make)}

    async def reset(self, body: ALFWorldStart) -> Answer:
        """Begin a task."""
        episode = self.find(body.id)
        episode.reset(self.number(body.game), seed=0)
        return {
            "id": body.id,
            "observation": self.last_text(episode),
            "available_actions": _available(episode),
            "task_type": episode.task,
        }

    async def available_actions(self, id: int) -> Answer:
        """List the commands that do something now."""
        return _available(self.find(id))

    async def detail(self, id: int) -> Answer:
        """Describe all of a session."""
        return {**await super().detail(id), "task_type": self.find(id).task}

    def describe(self, episode: RecordedEpisode) -> dict[str, Any]:
        """Return the state of an episode, with the commands that do something now."""
        return {**super().describe(episode), "available_actions": _available(episode)}

    def last_text(self, episode: RecordedEpisode) -> str:
        """Return the last observation, that of a start without the engine's greeting."""
        if episode.steps == 0:
            _greeting, *paragraphs = episode.observation.split("\n\n")
            return "\n".join(paragraphs)
        return super().last_text(episode)

    def shown(self, text: str) -> str:
        """Return the answer to a command without the number of a location."""
        return text.partition(". ")[2] if text.startswith("You arrive at loc ") else text


class WebShopRoutes(Routes):
    """WebShop with pages as one line of text, ten products each."""

    queries = ("list_envs", "observation", "available_actions", "instruction_text", "state")

    async def greet(self) -> Answer:
        """Say that the server is there."""
        return "ok"

    async def list_envs(self) -> Answer:
        """List the open sessions."""
        return self.sessions.numbers

    async def create(self) -> Answer:
        """Open a session."""
        return self.sessions.open(self.make)

    async def reset(self, body: WebShopStart) -> Answer:
        """Begin a task."""
        task = None if body.session_id is None else self.number(body.session_id)
        return [self.find(body.env_idx).reset(task, seed=0 if task else None), None]

    async def step(self, body: WebShopCommand) -> Answer:
        """Play a command."""
        episode = self.find(body.env_idx)
        text = episode.step(body.action)
        return {"state": text, "reward": episode.last.reward, "done": episode.over, "info": None}

    async def close(self, body: ByEnvironment) -> Answer:
        """End a session."""
        return self.sessions.close(body.env_idx)

    async def observation(self, env_idx: int) -> Answer:
        """Repeat the last observation."""
        return self.find(env_idx).observation

    async def available_actions(self, env_idx: int) -> Answer:
        """List what can be clicked; the first page has its search button and nothing else."""
        episode = self.find(env_idx)
        commands = _available(episode)
        clicks = [command[6:-1] for command in commands if command.startswith("click[")]
        is_first = not clicks and not episode.over
        if is_first:
            clicks = ["search"]
        return {"has_search_bar": is_first, "clickables": clicks}

    async def instruction_text(self, env_idx: int) -> Answer:
        """Repeat what the customer wants."""
        return _instruction(self.find(env_idx))

    async def state(self, env_idx: int) -> Answer:
        """Describe all of a session; the observation takes the place of the HTML."""
        episode = self.find(env_idx)
        return {
            "url": f"session/{env_idx}",
            "html": episode.observation,
            "instruction_text": _instruction(episode),
        }


def _available(episode: TextEpisode) -> list[str]:
    return list(episode.last.info.get("admissible_commands", ()))


def _instruction(episode: TextEpisode) -> str:
    if not episode.task:
        return ""
    return str(episode.env.get_wrapper_attr("goal").instruction)
