"""The worlds as tasks of inspect_ai (extra ``[inspect]``).

Inspect imports this module by its entry point, for ``inspect eval textcraft_gym/alfworld``. It
offers a task for each world; three solvers, of which ``chat`` is the default, ``command_tool``
gives the model a tool, and ``suite_agent`` has an agent of the suite play with inspect's models;
the scorers ``reward`` and ``won``; and the suite's own models, as ``--model textcraft_gym/local``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, cast

from textcraft_gym.agents.contract.model import Completion, Message, form_of
from textcraft_gym.agents.models.inspect_ai import InspectModel
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.episodes.episode import DEFAULT_MAX_CALLS, Episode, EpisodeRunner, Job
from textcraft_gym.episodes.model_calls import Function
from textcraft_gym.episodes.step_limit import step_budget
from textcraft_gym.errors import needs
from textcraft_gym.manual import REPLY, manual
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import is_won
from textcraft_gym.session import TextEpisode, starts

with needs("inspect"):
    import anyio.to_thread
    from inspect_ai import Task, task
    from inspect_ai.agent import AgentState, as_solver, react
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        ModelAPI,
        ModelOutput,
        ModelUsage,
        get_model,
        modelapi,
    )
    from inspect_ai.model import model_roles as assigned_roles
    from inspect_ai.scorer import (
        CORRECT,
        INCORRECT,
        Score,
        Scorer,
        Target,
        accuracy,
        grouped,
        mean,
        scorer,
        stderr,
    )
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import Tool, ToolChoice, ToolInfo, tool
    from inspect_ai.util import collect

MAX_IDLE_TURNS = 3
"""Maximum number of replies in a row that play no command, where the model plays by a tool."""
RESULT = "textcraft_gym"
"""Key of the result so far in the store of a sample."""


@task
def game(
    env: str,
    split: str | None = None,
    seeds: int = 1,
    max_steps: int | None = None,
    wrappers: str | Sequence[str] = (),
    **env_args: Any,
) -> Task:
    """Return the task of playing an environment: a sample for each task of the split and each seed.

    Args:
        env: An id, or ``my_module:My-v0``.
        split: The split; by default that of ``gym.make``.
        seeds: Number of seeds of each task. For more attempts at the same ones use inspect's
            epochs.
        max_steps: Maximum number of commands; by default the registered limit, or the budget that
            an agent declares.
        wrappers: Wrappers around the environment, ``NAME`` or ``module:Class,option=value``,
            innermost first.
        env_args: Further arguments of ``gym.make``.

    Raises:
        UnknownName: For an environment, a split, a wrapper or an argument that does not exist.
        ValueError: For an environment that is not of text, or a number out of bounds.
    """
    layers = [wrappers] if isinstance(wrappers, str) else list(wrappers)
    shared = {
        "env": env,
        "split": split,
        "max_steps": max_steps,
        "wrappers": layers,
        "env_args": env_args,
    }
    samples = []
    for start in starts(
        env,
        split,
        seeds=seeds,
        wrappers=layers,
        **env_args,
    ):
        sample = Sample(
            id=f"{start.task or 'seed'}#{start.seed}",
            input=start.observation,
            metadata={**shared, "task": start.task, "seed": start.seed, "group": start.group},
        )
        samples.append(sample)
    name = env if split is None else f"{env} {split}"
    return Task(dataset=MemoryDataset(samples, name=name), solver=chat(), scorer=[reward(), won()])


def _world(name: str, env: str) -> Callable[..., Task]:
    """Return the task of one environment, which takes the other arguments of ``game``."""

    @task(name=name)
    def world(
        split: str | None = None,
        seeds: int = 1,
        max_steps: int | None = None,
        **others: Any,
    ) -> Task:
        return game(
            env,
            split,
            seeds,
            max_steps,
            **others,
        )

    return cast(Callable[..., Task], world)


textcraft = _world("textcraft", "TextCraft-v0")
textcraft_tags = _world("textcraft_tags", "TextCraftTags-v0")
alfworld = _world("alfworld", "ALFWorld-v0")
webshop = _world("webshop", "WebShopLite-v0")
minetechtree = _world("minetechtree", "MineTechTree-v0")
hotpotqa = _world("hotpotqa", "HotpotQA-v0")
tabletop = _world("tabletop", "Tabletop-v0")


@solver
def chat(prompts: str | None = None) -> Solver:
    """Have the model play in a dialogue: the game answers the command in each of its replies.

    Args:
        prompts: A folder with manuals of your own, ``chat/<game>.txt``.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        with closing(_begin(state)) as episode:
            system = ChatMessageSystem(content=f"{_manual(state, prompts)}\n\n{REPLY}")
            state.messages.insert(0, system)
            while not (episode.over or state.completed):
                state = await generate(state)
                answer = episode.step(state.output.completion)
                _keep(state, episode)  # before the append, which raises at a limit of messages
                state.messages.append(ChatMessageUser(content=answer))
        return state

    return solve


@solver
def command_tool(prompts: str | None = None) -> Solver:
    """Have the model play by calling a tool, in the loop of inspect's own agent ``react``.

    The sample also ends after ``MAX_IDLE_TURNS`` replies in a row that play no command.

    Args:
        prompts: A folder with manuals of your own, ``chat/<game>.txt``.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        with closing(_begin(state, read=str)) as episode:

            @tool
            def command() -> Tool:
                async def execute(action: str) -> str:
                    """Give the game a command and return its answer.

                    Args:
                        action: The command, such as those that the manual lists.
                    """
                    answer = episode.step(action)
                    _keep(state, episode)
                    return answer

                return execute

            steps = idle_turns = 0

            async def goes_on(agent_state: AgentState) -> bool:
                nonlocal steps, idle_turns
                idle_turns = idle_turns + 1 if episode.steps == steps else 0
                steps = episode.steps
                return not episode.over and idle_turns < MAX_IDLE_TURNS

            agent = react(
                prompt=_manual(state, prompts),
                tools=[command()],
                submit=False,
                on_continue=goes_on,
            )
            return await as_solver(agent)(state, generate)

    return solve


@solver
def suite_agent(
    name: str = "react",
    prompts: str | None = None,
    max_calls: int = DEFAULT_MAX_CALLS,
    dialogue: bool = True,
    omit: str | Sequence[str] = (),
    **agent_args: Any,
) -> Solver:
    """Have an agent of the suite play, with inspect's models.

    ``--model`` answers the executor, and roles that ``--model-role planner=...`` does not name.

    Args:
        name: A name that ``textcraft-gym agents`` lists, or ``module:Class``.
        prompts: A bundled set of prompts, or a folder with prompts of your own.
        max_calls: Maximum number of completions of a sample.
        dialogue: Whether a dialogue is sent message by message; else as one message of the user.
        omit: Fields of inspect's ``GenerateConfig`` that the agent does not set, of ``max_tokens``,
            ``temperature``, ``seed`` and ``stop_seqs``: for a model that reasons before it answers,
            or refuses one of them.
        agent_args: Arguments of the agent.
    """
    left_out = [omit] if isinstance(omit, str) else omit

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sample = state.metadata
        spec = RunSpec(
            sample["env"],
            sample["split"],
            name,
            agent_args=agent_args,
            model=None,
            max_steps=sample["max_steps"],
            env_args=sample["env_args"],
            wrappers=tuple(sample["wrappers"]),
            prompts=prompts,
        )
        models = {
            role: InspectModel(get_model(role=role), dialogue=dialogue, omit=left_out)
            for role in ("executor", *assigned_roles())
        }
        with closing(Run(spec)) as run:
            env, agent = run.env, run.agent
            budget = step_budget(env, agent, spec.max_steps)
            job = Job(sample["task"], sample["seed"])
            with closing(EpisodeRunner(env, agent, job, models, budget, max_calls)) as runner:
                await _play(state, runner)
        # An episode that a model's limit ends is lost, and scored.
        if runner.failure and not runner.episode.limit:
            raise runner.failure
        return state

    return solve


async def _play(state: TaskState, runner: EpisodeRunner) -> None:
    """Play an episode to its end, and keep what was reached, however it ends."""
    try:
        while call := runner.advance():
            if isinstance(call.model, Function):
                call.answers[0] = await anyio.to_thread.run_sync(_called, call.model)
            else:
                model = cast(InspectModel, call.model)
                completions = await collect(*map(model.complete_async, call.requests))
                call.answers.update(enumerate(completions))
            _keep(state, runner.episode)
    finally:
        _keep(state, runner.episode)
        state.messages = _messages(runner.episode)


def _called(function: Function) -> Any:
    """Return what a function of an agent returns, or what it raises."""
    try:
        return function.call()
    except Exception as error:  # it is thrown into the agent
        return error


@scorer(metrics=[mean(), stderr(), grouped(mean(), "group", all=False)])
def reward() -> Scorer:
    """Score the reward, and its mean in each group of tasks."""

    async def score(state: TaskState, target: Target) -> Score:
        result = state.store.get(RESULT, {})
        return Score(value=float(result.get("reward", 0.0)), metadata=result)

    return score


@scorer(metrics=[accuracy(), stderr()])
def won() -> Scorer:
    """Score whether the episode was won; it has no score in a world that does not say so."""

    async def score(state: TaskState, target: Target) -> Score:
        won = state.store.get(RESULT, {"won": False})["won"]
        if won is None:
            return Score(value=math.nan)
        return Score(value=CORRECT if won else INCORRECT)

    return score


@modelapi(name="textcraft_gym")
def suite_models() -> type[ModelAPI]:
    """Return the class of the suite's models, whose names are specs such as ``local:threads=2``."""
    return SuiteModel


class SuiteModel(ModelAPI):
    """One of the suite's own models; it needs a server or a key only if its spec does.

    Args:
        model_name: A spec, as after ``--model`` of an evaluation of the suite. Inspect takes a
            comma in it for the end of the name, so further options are model arguments:
            ``-M slots=2``.
        base_url: Not used.
        api_key: Not used.
        config: Default parameters.
        options: Further options of the spec.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **options: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        spec = model_name
        for name, value in options.items():
            separator = "," if ":" in spec else ":"
            spec = f"{spec}{separator}{name}={value}"
        self.model = make_model(spec)
        self.form = form_of(self.model)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Return the completion of a dialogue; the model is given no tools."""
        temperature = config.temperature or 0.0

        def complete() -> Completion:
            return self.model.complete(
                [Message(message.role, message.text) for message in input],
                stop=tuple(config.stop_seqs or ()),
                max_tokens=config.max_tokens or 256,
                temperature=temperature,
                sample=config.seed or 0,
            )

        completion = await anyio.to_thread.run_sync(complete)
        output = ModelOutput.from_content(self.model_name, completion.text)
        read = completion.usage.get("prompt_tokens", 0)
        written = completion.usage.get("completion_tokens", 0)
        output.usage = ModelUsage(
            input_tokens=read,
            output_tokens=written,
            total_tokens=read + written,
        )
        return output

    async def count_text_tokens(self, text: str) -> int:
        """Return an estimate: inspect's own would download a tokenizer."""
        return len(text) // 4 + 1


def _begin(state: TaskState, **options: Any) -> TextEpisode:
    """Return the episode of a sample at its start."""
    sample = state.metadata
    settings = {key: sample[key] for key in ("split", "max_steps", "wrappers")}
    episode = TextEpisode(sample["env"], **settings, **options, **sample["env_args"])
    episode.reset(sample["task"], sample["seed"])
    return episode


def _manual(state: TaskState, prompts: str | None) -> str:
    return manual(state.metadata["env"], prompts, **state.metadata["env_args"])


def _keep(state: TaskState, episode: TextEpisode | Episode) -> None:
    """Keep the result so far, which is scored even where a limit of inspect ends the sample."""
    result: dict[str, Any] = {"reward": episode.reward, "steps": episode.steps}
    if isinstance(episode, TextEpisode):
        result |= {"won": episode.won, "invalid": episode.invalid}
    else:
        result["won"] = is_won(episode)
        for name in ("claimed_success", "stop_reason", "limit", "calls", "trials", "k_max"):
            result[name] = getattr(episode, name)
    state.store.set(RESULT, result)


def _messages(episode: Episode) -> list[ChatMessage]:
    """Return the actions and observations of an episode as messages."""
    messages: list[ChatMessage] = []
    for action, observation in episode.transcript:
        if action is not None:
            messages.append(ChatMessageAssistant(content=action))
        messages.append(ChatMessageUser(content=observation))
    return messages
