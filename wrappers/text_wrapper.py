"""The base of the wrappers of this folder."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium as gym
from gymnasium.spaces import Text
from gymnasium.utils import RecordConstructorArgs

from textcraft_gym.envs.text_env import snapshot_of


class WrapperSnapshot(NamedTuple):
    """The state of a wrapper, and the snapshot of the environment that it wraps."""

    wrapper: str
    state: Any
    inner: Any


class TextWrapper(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A wrapper reconstructible from its ``spec``, whose snapshot holds its own state as well.

    Snapshots need an environment that takes them. Gymnasium's own wrappers are skipped: the count
    of a ``TimeLimit`` is in no snapshot.

    Args:
        env: The environment to wrap.
        arguments: The other arguments of the wrapper, for its ``spec``.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        **arguments: Any,
    ) -> None:
        RecordConstructorArgs.__init__(self, **arguments)
        super().__init__(env)

    def snapshot(self) -> WrapperSnapshot:
        """Return all that ``restore`` needs to come back here: an unchanging, picklable value.

        Raises:
            Unsupported: If the wrapped environment takes no snapshots.
        """
        return WrapperSnapshot(self.class_name(), self._state(), snapshot_of(self.env))

    def restore(self, snapshot: WrapperSnapshot) -> None:
        """Go back to where the snapshot was taken.

        Raises:
            ValueError: For a snapshot of other wrappers, or of another environment.
        """
        name = (
            snapshot.wrapper if isinstance(snapshot, WrapperSnapshot) else type(snapshot).__name__
        )
        if not isinstance(snapshot, WrapperSnapshot) or name != self.class_name():
            raise ValueError(f"expected a snapshot of {self.class_name()}, got one of {name}")
        self.env.get_wrapper_attr("restore")(snapshot.inner)
        self._set_state(snapshot.state)

    def _expect_text(
        self,
        *,
        observations: bool = True,
        actions: bool = True,
    ) -> None:
        """Raise unless the wrapped environment has text observations and actions, as required."""
        for kind, space, required in (
            ("observations", self.env.observation_space, observations),
            ("actions", self.env.action_space, actions),
        ):
            if required and not isinstance(space, Text):
                advice = "wrap the environment with this before anything that changes them"
                raise ValueError(
                    f"{self.class_name()} expected {kind} of text, got {space}: {advice}"
                )

    def _state(self) -> Any:
        """Return the wrapper's state of the episode, as a value that it does not change later."""
        return None

    def _set_state(self, state: Any) -> None:
        """Go back to a state that ``_state`` returned."""
