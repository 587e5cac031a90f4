"""The server of the Model Context Protocol, asked by the protocol's own client over pipes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import gymnasium as gym
import pytest

import textcraft_gym

pytest.importorskip("mcp", reason="mcp (extra [mcp]) is not installed")

from mcp import ClientSession, StdioServerParameters, stdio_client

from tests.doubles import environment

# The package warns of its own next version.
pytestmark = pytest.mark.filterwarnings("default")
Ask = Callable[..., Awaitable[str]]


def with_client(play: Callable[[Any, Any, Ask], Awaitable[None]], *options: str) -> None:
    """Start the command as a client does, and play."""
    command = ["-m", "textcraft_gym", "serve", "mcp", *options]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment())

    async def main() -> None:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            greeting = await session.initialize()

            async def ask(tool: str, **arguments: Any) -> str:
                result = await session.call_tool(tool, arguments)
                (content,) = result.content
                return str(content.text)

            await play(greeting, session, ask)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_client__lists_begins_and_wins():
    env = gym.make("TextCraft-v0", split="test", expert=True)

    async def play(greeting: Any, session: Any, ask: Ask) -> None:
        assert "\ncraft {count} {item} using" in greeting.instructions
        listed = (await session.list_tools()).tools
        assert [tool.name for tool in listed] == ["list_tasks", "reset", "step"]
        assert await ask("step", command="inventory") == "No episode has begun: call reset first."

        ids = [task.id for task in textcraft_gym.tasks("TextCraft-v0", "test")]
        assert (await ask("list_tasks")).splitlines() == [
            *ids[:100],
            "100 more: list_tasks(start=100)",
        ]
        assert (await ask("list_tasks", start=190)).splitlines() == ids[190:]

        wrong = await ask("reset", task="minecraft:acacia_baot")
        assert wrong.startswith("unknown task 'minecraft:acacia_baot'. Did you mean minecraft:acac")
        assert wrong.endswith(f"There are {len(ids)}.")  # as many as are listed
        first, info = env.reset(seed=3, options={"task": ids[0]})
        assert await ask("reset", task=ids[0], seed=3) == first
        for action in info["expert_plan"]:
            answer = await ask("step", command=action)
        assert answer.endswith("\nThe game is won.")
        assert (
            await ask("step", command="inventory") == "The episode is over: reset begins another."
        )

    with_client(play, "--env", "TextCraft-v0", "--split", "test")
