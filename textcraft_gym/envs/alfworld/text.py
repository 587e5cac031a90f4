"""The texts that the player reads, worded as in the official grammar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

Dialect: TypeAlias = Literal["0.3", "0.4"]
"""A dialect of the grammar, by the release of ALFWorld: 0.4 changed the wording of 0.2 and 0.3."""

WELCOME = "-= Welcome to TextWorld, ALFRED! =-"
NOTHING_HAPPENS = "Nothing happens."
EMPTY_HANDED = "You are not carrying anything."
HELP = """Available commands:
  look:                             look around your current location
  inventory:                        check your current inventory
  go to (receptacle):               move to a receptacle
  open (receptacle):                open a receptacle
  close (receptacle):               close a receptacle
  take (object) from (receptacle):  take an object from a receptacle
  move (object) to (receptacle):  place an object in or on a receptacle
  examine (something):              examine a receptacle or an object
  use (object):                     use an object
  heat (object) with (receptacle):  heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle):  cool an object using a receptacle
  slice (object) with (object):     slice an object using a sharp object
"""


class Wording(NamedTuple):
    """The wording of a dialect, where the dialects differ.

    Attributes:
        put: The command that puts something down; ``o`` is the object, ``r`` the receptacle.
        put_answer: Its answer.
        arrives_at_locations: Whether ``go to`` answers with the name of the location instead of the
            receptacle's.
        help: The answer to ``help``; empty if there is no such command.
    """

    put: str
    put_answer: str
    arrives_at_locations: bool
    help: str


WORDINGS: Mapping[Dialect, Wording] = {
    "0.3": Wording(
        "put {o} in/on {r}",
        "You put the {o} in/on the {r}.",
        arrives_at_locations=True,
        help="",
    ),
    "0.4": Wording(
        "move {o} to {r}",
        "You move the {o} to the {r}.",
        arrives_at_locations=False,
        help=HELP,
    ),
}


def opening(body: str, task: str) -> str:
    """Return the text of a reset."""
    return f"{WELCOME}\n\n{body}\n\nYour task is to: {task}"


def listing(names: Sequence[str]) -> str:
    """Return ``a bed 1, a desk 1, and a drawer 3``, or ``nothing``."""
    # The official grammar knows no ``an``.
    return _joined([f"a {name}" for name in names])


def around(receptacles: Sequence[str]) -> str:
    """Describe the room from its middle."""
    seen = listing(receptacles)
    return f"You are in the middle of a room. Looking quickly around you, you see {seen}."


def facing(receptacles: Sequence[str], floor: Sequence[str]) -> str:
    """Describe a location; ``floor`` lists the objects moved between its receptacles."""
    return f"You are facing the {_joined(receptacles)}. Next to it, you see {listing(floor)}."


def receptacle(
    name: str,
    openable: bool,
    opened: bool,
    contents: Sequence[str],
) -> str:
    """Describe a receptacle and its contents."""
    if not openable:
        return f"On the {name}, you see {listing(contents)}."
    if not opened:
        return f"The {name} is closed."
    return f"The {name} is open. In it, you see {listing(contents)}."


def thing(
    name: str,
    *,
    inner: Sequence[str] | None,
    clean: bool,
    hot: bool,
    cool: bool,
    sliced: bool,
    sliceable: bool,
    toggled: bool,
) -> str:
    """Describe an object in the hand.

    ``inner`` lists its contents, None for an object that cannot hold any.
    """
    # The first that fits, as in the official grammar: contents hide a state, a state hides a lamp.
    if inner is not None:
        return f"This is a normal {name}. In it, you see {listing(inner)}."
    if hot or clean or cool:
        condition = _condition(clean, hot, cool, sliced)
        if sliced:
            condition += " sliced"
        return f"This is a {condition} {name}."
    if toggled:
        return f"This {name} is on."
    if sliced and sliceable:
        return f"This is a sliced {name}."
    return f"There's nothing special about {name}."


def _condition(
    clean: bool,
    hot: bool,
    cool: bool,
    sliced: bool,
) -> str:
    if hot:
        return "hot and clean" if clean else "hot"
    if cool and clean:
        return "cool and clean"
    if clean:
        return "clean"
    # The official grammar calls a whole object cold, and a sliced or clean one cool.
    return "cool" if sliced else "cold"


def carrying(name: str) -> str:
    """Return the inventory; the hand holds one object at most."""
    return f"You are carrying: a {name}."


def _joined(words: Iterable[str]) -> str:
    *most, last = list(words) or ["nothing"]
    if not most:
        return last
    # As in the official grammar, two have a comma as well.
    return ", ".join([*most, f"and {last}"])
