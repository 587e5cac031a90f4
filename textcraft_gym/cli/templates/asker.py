"""An agent that asks a model for one action at a time."""

from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.replies import first_line


class Asker:
    """Shows a model the turns so far, and plays the line that it writes.

    Args:
        turns: Maximum number of actions.
        profile: How to read the game.
        prompts: Where its prompt is, ``asker/default.txt``.
    """

    def __init__(
        self,
        turns: int = 30,
        *,
        prompts: Prompts,
        profile: GameProfile = DEFAULT,
    ) -> None:
        self.turns = turns
        self.profile = profile
        self.prompt = prompts.of("asker", "default")

    def episode(self, play: Play) -> Routine:
        """Return whether the model claims success; None for no claim."""
        situation, task = self.profile.read(play.first.observation)
        dialogue = self.prompt.fill(situation=situation, task=task, information="")
        for _ in range(self.turns):
            completion = yield from play.ask(dialogue, stop=("\n",), max_tokens=60)
            line = first_line(completion.text)
            if line.startswith("Task completed"):
                return True
            step = yield from play.act(line)
            dialogue += f" {line}\n{step.observation}\n>"
        return None
