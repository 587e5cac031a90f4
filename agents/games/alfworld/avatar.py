"""What the programs of AdaPlanner steer in ALFWorld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textcraft_gym.agents.contract.agent import Play
from textcraft_gym.agents.games.alfworld.household import Household, read_task
from textcraft_gym.agents.program.avatar import Avatar, Method
from textcraft_gym.agents.program.values import MAX_ITEMS, Value


class HouseholdAvatar(Avatar):
    """Goes, opens, takes, puts and treats; knows the receptacles, where it is and what it holds."""

    methods: ClassVar[Mapping[str, Method]] = {
        "goto": Method("go to {0}"),
        "open_receptacle": Method("open {0}"),
        "close_receptacle": Method("close {0}"),
        "take": Method("take {0} from {1}"),
        "put": Method("", parameters=2),  # the dialect says how
        "clean": Method("clean {0} with {1}"),
        "heat": Method("heat {0} with {1}"),
        "cool": Method("cool {0} with {1}"),
        "turn_on": Method("use {0}"),
    }

    kinds: ClassVar[tuple[str, ...]] = ("put", "puttwo", "examine", "clean", "heat", "cool")

    def __init__(self, play: Play, situation: str) -> None:
        super().__init__(play, situation)
        self.household = Household(situation)

    def kind(self, task: str) -> str:
        """Return the kind: ``put``, ``puttwo``, ``examine``, ``clean``, ``heat`` or ``cool``."""
        household_task = read_task(task)
        if household_task is None:
            return "put"
        if household_task.treatment:
            return household_task.treatment
        if household_task.lamp:
            return "examine"
        return "puttwo" if household_task.amount == 2 else "put"

    def attributes(self) -> Mapping[str, Value]:
        """Return the receptacles of the first observation, its location, and what it holds."""
        belief = self.household
        return {
            "receptacles": belief.places[:MAX_ITEMS],
            "location": belief.at,
            "holding": belief.held,
        }

    def command(
        self,
        method: str,
        arguments: Sequence[str],
    ) -> str | None:
        """Return the command; None to take with full hands, or to put what is not held."""
        if method == "take" and self.household.held:
            return None
        if method != "put":
            return super().command(method, arguments)
        thing, place = arguments
        if thing != self.household.held:
            return None
        return self.household.put_commands[0].format(thing=thing, place=place)

    def read(self, command: str, answer: str) -> None:
        """Update the belief."""
        self.household.read(command, answer)
