"""The mask beside the observation."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict

from tests.wrappers.worlds import Corridor
from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.wrappers import ActionMasking, MaskInObservation, TokenIds


@pytest.mark.parametrize("env_id", BUNDLED)
def test_observation__is_the_mask_and_the_numbers_that_were_wrapped(env_id):
    plain, wrapped = (
        ActionMasking(TokenIds(find(env_id).make(admissible=True), 64), 128) for _ in range(2)
    )
    env = MaskInObservation(wrapped)
    (expected, plain_info), (observation, info) = plain.reset(seed=3), env.reset(seed=3)
    env.action_space.seed(0)
    for _ in range(20):
        assert observation in env.observation_space
        assert (observation["action_mask"] == plain_info["action_mask"]).all()
        mask, tokens = np.split(observation["observations"], 2)
        assert (mask == expected["mask"]).all()
        assert (np.rint(tokens * (plain.get_wrapper_attr("size") - 1)) == expected["tokens"]).all()
        action = env.action_space.sample(info["action_mask"])
        (expected, *_, plain_info), (observation, *_, over, _, info) = (
            plain.step(action),
            env.step(action),
        )
        if over:
            break


class Numbers(gym.ObservationWrapper):
    """Shows a number and a constant in place of the text."""

    def __init__(self, env: gym.Env, high: float) -> None:
        super().__init__(env)
        self.observation_space = Dict(
            {"constant": Box(7, 7, (1,)), "place": Box(-4, high, (1,), np.float64)}
        )

    def observation(self, observation: str) -> dict[str, np.ndarray]:
        return {
            "constant": np.array([7], np.float32),
            "place": np.array([float(observation.split()[1])]),
        }


def test_numbers__are_scaled_by_their_bounds():
    env = MaskInObservation(
        ActionMasking(Numbers(Corridor(admissible=True), high=4), commands=["on", "back"])
    )
    observation = env.reset(seed=0)[0]
    assert observation["observations"].tolist() == [0, 0.5]
    assert observation["action_mask"].tolist() == [1, 0]
    assert env.step(0)[0]["observations"].tolist() == [0, 0.625]


@pytest.mark.parametrize(
    ("env", "said"),
    [
        (TokenIds(Corridor(), 3, buckets=2), "wrap it with ActionMasking"),
        (ActionMasking(Corridor(admissible=True), 3), "bounded numbers, got AnyText.*TokenIds"),
        (
            ActionMasking(Numbers(Corridor(admissible=True), high=np.inf), 3),
            "bounded numbers, got Dict",
        ),
    ],
)
def test_environment__that_does_not_fit_raises(env, said):
    with pytest.raises(ValueError, match=said):
        MaskInObservation(env)
