"""The client: one connection is one session with an environment of its own."""

from __future__ import annotations

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from .models import TextAction, TextObservation, TextState


class TextWorlds(EnvClient[TextAction, TextObservation, TextState]):
    """Plays episodes on a server.

    Examples:
        >>> with TextWorlds(base_url="http://127.0.0.1:8000").sync() as world:  # doctest: +SKIP
        ...     result = world.reset(seed=0, split="test", index=3)
        ...     result = world.step(TextAction(command="inventory"))
        ...     print(result.observation.text, result.reward, result.done)
    """

    def _step_payload(self, action: TextAction) -> dict[str, Any]:
        return action.model_dump()

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TextObservation]:
        reward, done = payload.get("reward"), payload.get("done", False)
        observation = TextObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> TextState:
        return TextState(**payload)
