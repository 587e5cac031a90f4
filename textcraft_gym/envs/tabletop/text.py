"""Every word that the player reads, and every goal as the player writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textcraft_gym.envs.tabletop.state import (
    BOWLS,
    BOX,
    FIELDS,
    FLOOR,
    HANOI,
    KITS,
    LOCATIONS,
    PACKING,
    PYRAMID,
    SIDES,
    SUPPORTS,
    TABLE,
    Game,
    State,
    World,
)

ECHO_LENGTH = 200
"""Maximum number of characters of an action that an answer repeats."""
TAKEN = "The hole is taken."
AGAIN = "The controller missed; what can still be moved can be tried again."

INSTRUCTIONS = {
    KITS: "put the objects in the corresponding holes",
    HANOI: "move the rings to the darker brown side",
    BOWLS: "match the blocks and the bowls",
    PACKING: "pack the objects in the brown box",
    PYRAMID: "stack the blocks into a pyramid",
}
"""The paper's instruction of each kind of task."""

FORMS = {
    KITS: (
        "put the <color> <shape> in the <shape> hole",
        "put the <color> <shape> in the <location> <shape> hole",
    ),
    HANOI: (
        "move the <color> ring to the lighter brown side",
        "move the <color> ring to the middle of the stand",
        "move the <color> ring to the darker brown side",
    ),
    BOWLS: ("put the <color> blocks in a <color> bowl",),
    PACKING: ("pack the <shape> in the brown box",),
    PYRAMID: (
        "put the <color> block on the lightest brown block",
        "put the <color> block on the middle brown block",
        "put the <color> block on the darkest brown block",
        "put the <color> block on the <color> and <color> blocks",
    ),
}
"""The forms of the goals of each kind of table."""

_SIZES = "The rings from small to large: {}."
_HOW = {
    KITS: (
        "An object fits the hole of its shape. "
        "Where two holes have one shape, a goal says which: top, left, ..."
    ),
    HANOI: "Only a ring with none on it can be moved, and never onto a smaller one.",
    BOWLS: "A goal moves one block. A block without a bowl of its colour stays on the table.",
    PACKING: "",
    PYRAMID: "Three blocks lie on the brown blocks of the stand, two on these, and one on top.",
}


def reset(game: Game, state: State) -> str:
    """Return the text of a reset, which ends in the forms of goals and the instruction."""
    kind = game.world.kind
    lines = [
        look(game, state),
        _HOW[kind],
        forms(kind),
        f"\nYour task is to: {INSTRUCTIONS[kind]}.",
    ]
    return "\n".join(filter(None, lines))


def forms(kind: str) -> str:
    """Return the forms of goals that a table knows."""
    return f"Goals are: {'; '.join(FORMS[kind])}."


def look(game: Game, state: State) -> str:
    """Return what is on the table."""
    world = game.world
    if world.kind == HANOI:
        return "\n".join([*_stand(world, state), goals_left(game, state)])
    left, moved = [], []
    for index, thing in enumerate(world.things):
        if state.at[index] != TABLE:
            moved.append(sentence(world, state, index))
        elif world.kind in (BOWLS, PYRAMID):
            left.append(thing.colour)
        else:
            left.append(thing.name)

    noun = "block" if world.kind in (BOWLS, PYRAMID) else "object"
    return "\n".join([*_fixture(world), there_are(noun, left), *moved, goals_left(game, state)])


def goals_left(game: Game, state: State) -> str:
    """Return the line that says how many goals are left."""
    return f"Goals left: {game.limit - state.goals}."


def there_are(noun: str, names: Sequence[str]) -> str:
    """Say what is on the table, as in ``There are 2 blocks of red, blue on the table``."""
    if not names:
        return f"There are no {noun}s left on the table."
    count = f"is 1 {noun}" if len(names) == 1 else f"are {len(names)} {noun}s"
    return f"There {count} of {', '.join(names)} on the table."


def sentence(world: World, state: State, thing: int) -> str:
    """Say where a thing is."""
    return f"The {world.things[thing].name} is {where(world, state, thing)}."


def where(world: World, state: State, thing: int) -> str:
    """Return the place of a thing: ``in the blue bowl``."""
    at = state.at[thing]
    if at == TABLE:
        return "on the table"
    if world.kind == BOWLS:
        return f"in the {at} bowl"
    if world.kind == KITS:
        askew = "stuck askew " if thing in state.spoilt else ""
        return f"{askew}in the {hole(world, at)} hole"
    if world.kind == PACKING:
        return {BOX: "in the brown box", FLOOR: "on the floor"}[at]
    if world.kind == HANOI:
        return f"in the {at}" if at == SIDES[1] else f"on the {at}"
    if at in FIELDS:
        return f"on the {at} brown block"
    below = [world.things[state.at.index(place)].colour for place in SUPPORTS[at]]
    return f"on the {' and '.join(below)} blocks"


def hole(world: World, location: str) -> str:
    """Return the name of a hole: its shape, and where two have it, its location."""
    shape = world.places[LOCATIONS.index(location)]
    if world.places.count(shape) > 1:
        return f"{location} {shape}"
    return shape


def done(world: World, state: State, thing: int) -> str:
    """Answer a goal that was reached."""
    return f"Done: {_lowered(sentence(world, state, thing))}"


def missed(
    world: World,
    before: State,
    state: State,
    thing: int,
) -> str:
    """Answer a goal that was possible and was missed."""
    fallen = ""
    for other, at in enumerate(state.at):
        if at != before.at[other] and other != thing:
            fallen += f" It took the {world.things[other].name} with it."
    # A thing that has moved, or has taken another with it, is not where it was.
    still = "" if state.at[thing] != before.at[thing] or fallen else "still "
    return f"Missed: the {world.things[thing].name} is {still}{where(world, state, thing)}.{fallen}"


def unknown(typed: str) -> str:
    """Answer what is no goal of this table."""
    return f"That is no goal: {typed[:ECHO_LENGTH]}"


def no_such(name: str) -> str:
    """Answer a goal that names what is not there."""
    return f"There is no {name}."


def already(world: World, state: State, thing: int) -> str:
    """Answer a goal that is reached already."""
    return f"The {world.things[thing].name} is already {where(world, state, thing)}."


def under(name: str, above: str) -> str:
    """Answer a goal for what lies under something else."""
    return f"The {name} is under the {above}."


def too_large(name: str, smaller: str) -> str:
    """Answer a goal that puts a ring on a smaller one."""
    return f"The {name} does not go on the {smaller}, which is smaller."


def out_of_reach(name: str) -> str:
    """Answer a goal for what has fallen down."""
    return f"The {name} is on the floor, out of reach."


def does_not_fit(name: str, shape: str) -> str:
    """Answer a goal that puts an object in a hole of another shape."""
    return f"The {name} does not fit the {shape} hole."


def which_hole(shape: str, holes: Iterable[str]) -> str:
    """Answer a goal that may mean either of two holes."""
    return f"There are two {shape} holes: {' and '.join(holes)}."


def stuck(world: World, state: State, thing: int) -> str:
    """Answer a goal for what cannot be taken out of its hole."""
    return sentence(world, state, thing)


def not_side_by_side(first: str, second: str) -> str:
    """Answer a goal that puts a block on two that do not carry one together."""
    return f"The {first} and {second} blocks do not lie side by side in the pyramid."


def has_block(name: str) -> str:
    """Answer a goal that puts a block where another one is."""
    return f"The {name} is there."


def goal(
    world: World,
    state: State,
    thing: int,
    to: str,
) -> str:
    """Return the goal that moves a thing to a place, whose supports are there."""
    colour, shape = world.things[thing]
    if world.kind == BOWLS:
        return f"put the {colour} blocks in a {to} bowl"
    if world.kind == HANOI:
        return f"move the {colour} ring to the {to}"
    if world.kind == PACKING:
        return f"pack the {shape} in the brown box"
    if world.kind == KITS:
        return f"put the {colour} {shape} in the {hole(world, to)} hole"
    if to in FIELDS:
        return f"put the {colour} block on the {to} brown block"
    first, second = (world.things[state.at.index(place)].colour for place in SUPPORTS[to])
    return f"put the {colour} block on the {first} and {second} blocks"


def _fixture(world: World) -> list[str]:
    """Say what there is to put things in or on."""
    if world.kind == BOWLS:
        return [there_are("bowl", world.places)]
    if world.kind == KITS:
        holes = zip(world.places, LOCATIONS, strict=True)
        listed = ", ".join(f"{shape} ({location})" for shape, location in holes)
        return [f"There is a kit with 5 holes: {listed}."]
    if world.kind == PYRAMID:
        return ["There is a stand of a lightest brown, a middle brown and a darkest brown block."]
    wanted = world.things[world.wanted].name
    return ["There is a brown box on the table.", f"What is to be packed: {wanted}."]


def _stand(world: World, state: State) -> list[str]:
    """Say where the rings are."""
    colours = [thing.colour for thing in world.things]
    lines = [
        "There is a stand with a lighter brown side, a middle and a darker brown side.",
        _SIZES.format(", ".join(colours)),
    ]
    for side in SIDES:
        rings = [colour for colour, at in zip(colours, state.at, strict=True) if at == side]
        preposition = "In" if side == SIDES[1] else "On"
        lines.append(f"{preposition} the {side}, from the top: {', '.join(rings) or 'nothing'}.")
    return lines


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
