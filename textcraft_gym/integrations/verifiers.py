"""The worlds as a taskset and an environment of verifiers (extra ``[verifiers]``).

verifiers finds tasksets by the name of a top-level module; for ``eval`` this one is
``textcraft_gym_verifiers``, with its environment and its harness, so that nothing but the model and
the tasks needs to be chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from textcraft_gym.errors import needs
from textcraft_gym.manual import REPLY, manual
from textcraft_gym.session import TextEpisode, starts

with needs("verifiers"):
    import openai
    import verifiers.v1 as vf
    from verifiers.v1.dialects.chat import message_to_wire


class GameConfig(vf.TasksetConfig):
    """Which tasks of which environment are played.

    Attributes:
        env: An id, or ``my_module:My-v0``.
        split: The split; by default that of ``gym.make``.
        seeds: Number of seeds of each task.
        max_steps: Maximum number of commands; by default the registered limit.
        wrappers: Wrappers around the environment, ``NAME`` or ``module:Class,option=value``,
            innermost first.
        env_args: Further arguments of ``gym.make``.
    """

    env: str = "TextCraft-v0"
    split: str | None = None
    seeds: int = 1
    max_steps: int | None = None
    wrappers: list[str] = []
    env_args: dict[str, Any] = {}


class GameData(vf.TaskData):
    """A task, and how to make its environment.

    Attributes:
        info: The arguments of ``TextEpisode``, and the ``task``, ``seed`` and ``group`` of the
            episode.
    """

    info: dict[str, Any]


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):
    """One task of a game with one seed."""

    @property
    def key(self) -> str:
        """The environment, the task and the seed: the same in every run."""
        info = self.data.info
        return f"{info['env']}/{info['task'] or ''}#{info['seed']}"


class GameTaskset(vf.Taskset[GameTask, GameConfig]):
    """The tasks of a split, each with every seed; the prompt is the first observation."""

    def load(self) -> Iterator[GameTask]:
        """Yield the tasks in the split's order.

        Raises:
            UnknownName: For an environment, a split, a wrapper or an argument that does not exist.
            ValueError: For an environment that is not of text, or a number out of bounds.
        """
        config = self.config
        shared = {
            "env": config.env,
            "split": config.split,
            "max_steps": config.max_steps,
            "wrappers": config.wrappers,
            "env_args": config.env_args,
        }
        system = f"{manual(config.env, **config.env_args)}\n\n{REPLY}"
        for start in starts(
            config.env,
            config.split,
            seeds=config.seeds,
            wrappers=config.wrappers,
            **config.env_args,
        ):
            info = {**shared, "task": start.task, "seed": start.seed, "group": start.group}
            name = f"{start.task or 'seed'}#{start.seed}"
            data = GameData(name=name, prompt=start.observation, system_prompt=system, info=info)
            yield GameTask(data, config.task)


class GameHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one reply a turn, in this process.

    The harnesses of verifiers launch a program for each turn, which a game of fifty short turns
    would wait for most of its time, and which has to be installed first.
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Send the conversation to the server of the rollout, which keeps the reply."""
        system, prompt = self.resolve_prompt(data)
        messages: list[Any] = [] if system is None else [{"role": "system", "content": system}]
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages.extend(map(message_to_wire, prompt or []))
        try:
            async with openai.AsyncOpenAI(
                base_url=endpoint,
                api_key=secret,
                max_retries=0,
                timeout=None,
            ) as client:
                await client.chat.completions.create(model=ctx.model, messages=messages)
        except openai.OpenAIError as error:  # a limit of the rollout raises it, too
            return vf.ProgramResult(1, "", str(error))
        return vf.ProgramResult(0, "", "")


class GameEnvConfig(vf.EnvConfig):
    """The model that plays, as the role ``player``."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class GameEnv(vf.Env[GameEnvConfig]):
    """Plays an episode as a dialogue: the game is the user, who answers the command in each reply.

    The rollout's reward ``game_reward`` is the sum of the game's rewards; its metrics are ``won``,
    if the game says so, ``steps`` and ``invalid``, the number of commands that had no effect.
    """

    async def run(self, task: GameTask, agents: Any) -> None:
        """Play one episode, to its end or to a limit of the player."""
        info = task.data.info
        settings = {key: info[key] for key in ("split", "max_steps", "wrappers")}
        episode = TextEpisode(info["env"], **settings, **info["env_args"])
        with closing(episode):
            episode.reset(info["task"], info["seed"])
            async with agents.player.interaction(task) as interaction:
                segment = await interaction.turn()
                while not segment.terminated:
                    answer = episode.step(segment.last_reply)
                    if episode.over:
                        break
                    segment = await interaction.turn(answer)
            trace = interaction.trace
            trace.record_reward("game_reward", episode.reward, 1.0)
            trace.info["task"] = episode.task
            trace.info["won"] = episode.won
            if episode.won is not None:
                trace.record_metric("won", float(episode.won))
            trace.record_metric("steps", float(episode.steps))
            trace.record_metric("invalid", float(episode.invalid))
