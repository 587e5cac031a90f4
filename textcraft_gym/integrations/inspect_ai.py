"""The worlds as tasks of inspect_ai (extra ``[inspect]``): ``inspect eval textcraft_gym/alfworld --model ...``.

Inspect imports this module by its entry point. It offers a task for each world; three solvers, of
which ``chat`` is the default, ``command_tool`` gives the model a tool, and ``suite_agent`` has an
agent of the suite play with inspect's models; the scorers ``reward`` and ``won``; and the suite's
own models, as ``--model textcraft_gym/local``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import Any, cast

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

from textcraft_gym.agents.contract.model import Completion, Message, form_of
from textcraft_gym.agents.models.inspect_ai import InspectModel
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.episodes.episode import DEFAULT_MAX_CALLS, Episode, EpisodeRunner, Job
from textcraft_gym.episodes.step_limit import step_budget
from textcraft_gym.manual import REPLY, manual
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import is_won
from textcraft_gym.session import TextEpisode, starts

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
    how = {
        "env": env,
        "split": split,
        "max_steps": max_steps,
        "wrappers": layers,
        "env_args": env_args,
    }
    samples = [
        Sample(
            id=f"{start.task or 'seed'}#{start.seed}",
            input=start.observation,
            metadata={**how, "task": start.task, "seed": start.seed, "group": start.group},
        )
        for start in starts(env, split, seeds=seeds, wrappers=layers, **env_args)
    ]
    name = env if split is None else f"{env} {split}"
    return Task(dataset=MemoryDataset(samples, name=name), solver=chat(), scorer=[reward(), won()])


@task
def textcraft(
    split: str | None = None, seeds: int = 1, max_steps: int | None = None, **others: Any
) -> Task:
    """Return the task of playing TextCraft; see ``game`` for the arguments."""
    return game("TextCraft-v0", split, seeds, max_steps, **others)


@task
def textcraft_tags(
    split: str | None = None, seeds: int = 1, max_steps: int | None = None, **others: Any
) -> Task:
    """Return the task of playing TextCraft with real tags; see ``game`` for the arguments."""
    return game("TextCraftTags-v0", split, seeds, max_steps, **others)


@task
def alfworld(
    split: str | None = None, seeds: int = 1, max_steps: int | None = None, **others: Any
) -> Task:
    """Return the task of playing ALFWorld; see ``game`` for the arguments."""
    return game("ALFWorld-v0", split, seeds, max_steps, **others)


@task
def webshop(
    split: str | None = None, seeds: int = 1, max_steps: int | None = None, **others: Any
) -> Task:
    """Return the task of shopping in WebShop-lite; see ``game`` for the arguments."""
    return game("WebShopLite-v0", split, seeds, max_steps, **others)


@task
def minetechtree(
    split: str | None = None, seeds: int = 1, max_steps: int | None = None, **others: Any
) -> Task:
    """Return the task of playing the tech tree; see ``game`` for the arguments."""
    return game("MineTechTree-v0", split, seeds, max_steps, **others)


@task
def hotpotqa(
    split: str | None = None, seeds: int = 1, max_steps: int | None = None, **others: Any
) -> Task:
    """Return the task of answering HotpotQA's questions; see ``game`` for the arguments."""
    return game("HotpotQA-v0", split, seeds, max_steps, **others)


@task
def tabletop(
    split: str | None = None, seeds: int = 1, max_steps: int | None = None, **others: Any
) -> Task:
    """Return the task of playing the tabletop; see ``game`` for the arguments."""
    return game("Tabletop-v0", split, seeds, max_steps, **others)


@solver
def chat(prompts: str | None = None) -> Solver:
    """Have the model play in a dialogue: the game answers the command in each of its replies.

    Args:
        prompts: A folder with manuals of your own, ``chat/<game>.txt``.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        with closing(_begun(state)) as played:
            state.messages.insert(
                0, ChatMessageSystem(content=f"{_manual(state, prompts)}\n\n{REPLY}")
            )
            while not (played.over or state.completed):
                state = await generate(state)
                answer = played.step(state.output.completion)
                _keep(state, played)  # before the append, which raises at a limit of messages
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
        with closing(_begun(state, read=str)) as played:

            @tool
            def command() -> Tool:
                async def execute(action: str) -> str:
                    """Give the game a command and return its answer.

                    Args:
                        action: The command, such as those that the manual lists.
                    """
                    answer = played.step(action)
                    _keep(state, played)
                    return answer

                return execute

            steps = idle_turns = 0

            async def goes_on(agent_state: AgentState) -> bool:
                nonlocal steps, idle_turns
                idle_turns = idle_turns + 1 if played.steps == steps else 0
                steps = played.steps
                return not played.over and idle_turns < MAX_IDLE_TURNS

            agent = react(
                prompt=_manual(state, prompts), tools=[command()], submit=False, on_continue=goes_on
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
    asking = partial(
        InspectModel, dialogue=dialogue, omit=[omit] if isinstance(omit, str) else omit
    )

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        about = state.metadata
        where = {key: about[key] for key in ("env", "split", "max_steps", "env_args")}
        wrappers = tuple(about["wrappers"])
        spec = RunSpec(
            **where,
            wrappers=wrappers,
            agent=name,
            agent_args=agent_args,
            prompts=prompts,
            model=None,
        )
        models = {role: asking(get_model(role=role)) for role in ("executor", *assigned_roles())}
        with closing(Run(spec)) as run:
            env, agent = run.env, run.agent
            budget = step_budget(env, agent, spec.max_steps)
            runner = EpisodeRunner(
                env, agent, Job(about["task"], about["seed"]), models, budget, max_calls
            )
            with closing(runner):
                try:
                    while call := runner.advance():
                        asked = (
                            cast(InspectModel, call.model).complete_async(request)
                            for request in call.requests
                        )
                        call.answers.update(enumerate(await collect(*asked)))
                        _keep(state, runner.episode)
                finally:
                    _keep(state, runner.episode)
                    state.messages = _messages(runner.episode)
        if (
            runner.failure and not runner.episode.limit
        ):  # an episode that a model's limit ends is lost, and scored
            raise runner.failure
        return state

    return solve


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
        return Score(value=math.nan if won is None else CORRECT if won else INCORRECT)

    return score


@modelapi(name="textcraft_gym")
def suite_models() -> type[ModelAPI]:
    """Return the class of the suite's models, whose names are specs such as ``local:threads=2``."""
    return SuiteModel


class SuiteModel(ModelAPI):
    """A model of the suite's own for inspect; it asks for no server and no key unless its spec does.

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
        given = ",".join(f"{name}={value}" for name, value in options.items())
        self.model = make_model(
            f"{model_name}{',' if ':' in model_name else ':'}{given}" if given else model_name
        )
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
        read, written = (
            completion.usage.get(f"{part}_tokens", 0) for part in ("prompt", "completion")
        )
        output.usage = ModelUsage(
            input_tokens=read, output_tokens=written, total_tokens=read + written
        )
        return output

    async def count_text_tokens(self, text: str) -> int:
        """Return an estimate: inspect's own would download a tokenizer."""
        return len(text) // 4 + 1


def _begun(state: TaskState, **options: Any) -> TextEpisode:
    """Return the episode of a sample at its start."""
    about = state.metadata
    how = {key: about[key] for key in ("split", "max_steps", "wrappers")}
    played = TextEpisode(about["env"], **how, **options, **about["env_args"])
    played.reset(about["task"], about["seed"])
    return played


def _manual(state: TaskState, prompts: str | None) -> str:
    return manual(state.metadata["env"], prompts, **state.metadata["env_args"])


def _keep(state: TaskState, played: TextEpisode | Episode) -> None:
    """Keep the result so far, which is scored even where a limit of inspect ends the sample."""
    result: dict[str, Any] = {"reward": played.reward, "steps": played.steps}
    if isinstance(played, TextEpisode):
        result |= {"won": played.won, "invalid": played.invalid}
    else:
        names = ("claimed_success", "stop_reason", "limit", "calls", "trials", "k_max")
        result |= {"won": is_won(played), **{name: getattr(played, name) for name in names}}
    state.store.set(RESULT, result)


def _messages(episode: Episode) -> list[ChatMessage]:
    """Return the actions and observations of an episode as messages."""
    messages: list[ChatMessage] = []
    for action, observation in episode.transcript:
        if action is not None:
            messages.append(ChatMessageAssistant(content=action))
        messages.append(ChatMessageUser(content=observation))
    return messages
