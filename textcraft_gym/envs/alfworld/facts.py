"""Facts of ALFRED: the furniture and objects of each kind of room, containment, and abilities.

Source: ALFRED (Shridhar et al., 2020) in the package ``alfworld`` 0.4.2. Containment, abilities and the rooms of each
task come from its ``gen/constants.py``; furniture and objects of each kind of room are counted over its 120 floor plans
(``gen/layouts``), which leave out burners, bins, toasters and holders.
"""

from __future__ import annotations

from typing import NamedTuple


class Furniture(NamedTuple):
    """The number of receptacles of one type in a kind of room.

    Attributes:
        rtype: The type, ``Cabinet``.
        rooms: Number of the 30 floor plans that have any.
        least: Minimum over those plans.
        usual: Median.
        most: Maximum.
    """

    rtype: str
    rooms: int
    least: int
    usual: int
    most: int


class RoomKind(NamedTuple):
    """A kind of room: kitchens, living rooms, bedrooms or bathrooms.

    Attributes:
        plans: Its floor plans.
        furniture: Its receptacles.
        essentials: Receptacle types that every such room has, however small.
        storage: Receptacle types of which a larger room has more.
        objects: Movable objects, each of which fits into some receptacle of the room.
        lamps: Each lamp with the number of the 30 floor plans that have it.
        fixtures: Objects that cannot be used or moved and are in no receptacle.
        distractors: Minimum and maximum number of objects that the task does not need.
    """

    plans: range
    furniture: tuple[Furniture, ...]
    essentials: tuple[str, ...]
    storage: tuple[str, ...]
    objects: tuple[str, ...]
    lamps: tuple[tuple[str, int], ...]
    fixtures: tuple[str, ...]
    distractors: tuple[int, int]


def _furniture(text: str) -> tuple[Furniture, ...]:
    return tuple(
        Furniture(rtype, int(rooms), *map(int, counts.split("-")))
        for rtype, rooms, counts in (line.split() for line in text.strip().splitlines())
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ROOM_KINDS = {
    "Kitchen": RoomKind(
        range(1, 31),
        _furniture("""
            Cabinet       30 2-10-28
            CounterTop    30 1-2-4
            Drawer        28 1-4-27
            Fridge        30 1-1-1
            Microwave     30 1-1-1
            SinkBasin     30 1-1-1
            StoveBurner   30 4-4-4
            CoffeeMachine 30 1-1-1
            Toaster       30 1-1-1
            GarbageCan    30 1-1-1
            DiningTable   16 1-1-3
            Shelf          5 2-3-3
            SideTable      3 1-1-1
            Safe           1 1-1-1
        """),
        essentials=_words("CounterTop SinkBasin Fridge Microwave"),
        storage=_words("Cabinet Drawer Shelf"),
        objects=_words("""
            Apple Book Bowl Bread ButterKnife CellPhone CreditCard Cup DishSponge Egg Fork Glassbottle Kettle Knife
            Ladle Lettuce Mug Pan Pen Pencil PepperShaker Plate Pot Potato SaltShaker SoapBottle Spatula Spoon
            SprayBottle Statue Tomato Vase WineBottle
        """),
        lamps=(),
        fixtures=_words("Sink LightSwitch Window StoveKnob Chair HousePlant"),
        distractors=(24, 40),
    ),
    "LivingRoom": RoomKind(
        range(201, 231),
        _furniture("""
            Sofa        30 1-1-2
            GarbageCan  30 1-1-1
            ArmChair    27 1-1-3
            CoffeeTable 25 1-1-2
            SideTable   24 1-2-5
            Drawer      23 1-4-19
            DiningTable 14 1-1-2
            Shelf       12 1-8-14
            TVStand     12 1-1-2
            Dresser     10 1-1-2
            Cabinet      4 4-4-8
            Ottoman      4 1-1-1
            Safe         2 1-1-1
            Desk         1 1-1-1
        """),
        essentials=_words("Sofa"),
        storage=_words("Drawer Shelf Cabinet"),
        objects=_words("""
            Book Bowl Box Candle CellPhone CreditCard KeyChain Laptop Newspaper Pen Pencil Pillow Plate RemoteControl
            Statue TissueBox Vase Watch WateringCan
        """),
        lamps=(("FloorLamp", 30), ("DeskLamp", 7)),
        fixtures=_words("LightSwitch Television Painting Window HousePlant Chair"),
        distractors=(14, 26),
    ),
    "Bedroom": RoomKind(
        range(301, 331),
        _furniture("""
            Bed           30 1-1-2
            GarbageCan    30 1-1-1
            Drawer        29 1-4-14
            Shelf         20 1-3-14
            Desk          19 1-1-2
            SideTable     19 1-1-2
            Dresser       15 1-1-2
            LaundryHamper  8 1-1-1
            ArmChair       6 1-1-3
            Cabinet        5 1-4-4
            DiningTable    5 1-1-1
            Safe           5 1-1-1
            CoffeeTable    1 1-1-1
            CounterTop     1 1-1-1
        """),
        essentials=_words("Bed"),
        storage=_words("Drawer Shelf Cabinet"),
        objects=_words("""
            AlarmClock BaseballBat BasketBall Book Bowl Box CD CellPhone Cloth CreditCard KeyChain Laptop Mug Pen
            Pencil Pillow RemoteControl Statue TennisRacket TissueBox Vase Watch
        """),
        lamps=(("DeskLamp", 30),),
        fixtures=_words("LightSwitch Mirror Window Blinds Chair Painting"),
        distractors=(16, 28),
    ),
    "Bathroom": RoomKind(
        range(401, 431),
        _furniture("""
            SinkBasin         30 1-1-2
            Toilet            30 1-1-1
            ToiletPaperHanger 30 1-1-1
            HandTowelHolder   30 1-1-2
            TowelHolder       30 1-1-2
            GarbageCan        30 1-1-1
            CounterTop        25 1-1-2
            BathtubBasin      21 1-1-1
            Cabinet           15 2-4-9
            Drawer            15 1-6-8
            Shelf              8 1-2-4
            Cart               2 1-1-1
            Dresser            2 1-1-1
            SideTable          2 1-1-1
        """),
        essentials=_words("SinkBasin Toilet"),
        storage=_words("Cabinet Drawer Shelf"),
        objects=_words("""
            Candle Cloth DishSponge HandTowel Plunger SoapBar SoapBottle SprayBottle TissueBox ToiletPaper Towel
        """),
        lamps=(),
        fixtures=_words("Sink LightSwitch Mirror ScrubBrush ShowerDoor Window"),
        distractors=(9, 16),
    ),
}

TASK_ROOMS = {
    "pick_and_place_simple": _words("Kitchen LivingRoom Bedroom Bathroom"),
    "look_at_obj_in_light": _words("LivingRoom Bedroom"),
    "pick_clean_then_place_in_recep": _words("Kitchen Bathroom"),
    "pick_heat_then_place_in_recep": _words("Kitchen"),
    "pick_cool_then_place_in_recep": _words("Kitchen"),
    "pick_two_obj_and_place": _words("Kitchen LivingRoom Bedroom Bathroom"),
}
"""The kinds of room in which each task is set."""

APPLIANCES = {
    "pick_clean_then_place_in_recep": "SinkBasin",
    "pick_heat_then_place_in_recep": "Microwave",
    "pick_cool_then_place_in_recep": "Fridge",
}
"""The appliance that treats the object of a task."""

OPENABLE = frozenset(_words("Cabinet Drawer Fridge Microwave Safe"))
HOLDS_ONE = frozenset(_words("CoffeeMachine StoveBurner HandTowelHolder TowelHolder ToiletPaperHanger"))
"""Receptacles that hold a single object of a type in a real room: never a target for two."""
STANDS = frozenset(_words("SideTable Desk Dresser CoffeeTable DiningTable CounterTop"))
"""Receptacles that a lamp may stand on; ALFRED does not say, since its lamps are part of the floor plan."""

PROPERTIES = {
    "cleanable": frozenset(
        _words("""
            Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce Mug Pan Plate Pot Potato
            SoapBar Spatula Spoon Tomato
        """)
    ),
    "heatable": frozenset(_words("Apple Bread Cup Egg Mug Plate Potato Tomato")),
    "coolable": frozenset(_words("Apple Bowl Bread Cup Egg Lettuce Mug Pan Plate Pot Potato Tomato WineBottle")),
    "sliceable": frozenset(_words("Apple Bread Egg Lettuce Potato Tomato")),
    "toggleable": frozenset(_words("DeskLamp FloorLamp")),
    "isReceptacleObject": frozenset(_words("Bowl Box Cup Mug Pan Plate Pot")),
}
"""The object types that have each predicate."""


def _contents(text: str) -> dict[str, frozenset[str]]:
    """Parse lines of types, a colon and the types that each of them holds; one without a colon continues the last."""
    contents: dict[str, list[str]] = {}
    names: list[str] = []
    for line in text.strip().splitlines():
        head, colon, tail = line.partition(":")
        names = head.split() if colon else names
        for name in names:
            contents.setdefault(name, []).extend((tail if colon else line).split())
    return {name: frozenset(words) for name, words in contents.items()}


CONTENTS = _contents("""
    CoffeeTable CounterTop DiningTable SideTable: AlarmClock Apple BaseballBat BasketBall Book Bowl Box Bread
        ButterKnife CD Candle CellPhone Cloth CreditCard Cup DishSponge Egg Fork Glassbottle HandTowel Kettle KeyChain
        Knife Ladle Laptop Lettuce Mug Newspaper Pan PaperTowel Pen Pencil PepperShaker Plate Pot Potato RemoteControl
        SaltShaker SoapBar SoapBottle Spatula Spoon SprayBottle Statue TennisRacket TissueBox ToiletPaper
        ToiletPaperRoll Tomato Vase Watch WateringCan WineBottle
    Desk Dresser: AlarmClock BasketBall Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup Glassbottle KeyChain
        Laptop Mug Newspaper Pen Pencil Plate RemoteControl SprayBottle Statue TennisRacket TissueBox ToiletPaper
        ToiletPaperRoll Vase Watch WateringCan WineBottle
    Desk: SoapBottle
    Shelf: AlarmClock Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup DishSponge Glassbottle HandTowel Kettle
        KeyChain Mug Newspaper PaperTowel Pen Pencil PepperShaker Plate Pot RemoteControl SaltShaker SoapBar
        SoapBottle SprayBottle Statue TissueBox ToiletPaper ToiletPaperRoll Vase Watch WateringCan WineBottle
    Cabinet: Book Bowl Box CD Candle Cloth Cup DishSponge Glassbottle HandTowel Kettle Ladle Mug Newspaper Pan
        PepperShaker Plate Plunger Pot SaltShaker SoapBar SoapBottle SprayBottle TissueBox ToiletPaper ToiletPaperRoll
        Vase WateringCan WineBottle
    Drawer: Book ButterKnife CD Candle CellPhone Cloth CreditCard DishSponge Fork HandTowel KeyChain Knife Ladle
        Newspaper Pen Pencil PepperShaker RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon SprayBottle
        TissueBox ToiletPaper ToiletPaperRoll Watch WateringCan
    ArmChair Ottoman Sofa: BasketBall Book Box CellPhone Cloth CreditCard KeyChain Laptop Newspaper Pillow
        RemoteControl
    Bed: BaseballBat BasketBall Book CellPhone Laptop Newspaper Pillow TennisRacket
    Cart: Candle Cloth DishSponge HandTowel Mug PaperTowel Plunger SoapBar SoapBottle SprayBottle Statue TissueBox
        ToiletPaper ToiletPaperRoll Vase
    Toilet: Candle Cloth DishSponge HandTowel Newspaper PaperTowel SoapBar SoapBottle SprayBottle TissueBox
        ToiletPaper ToiletPaperRoll
    GarbageCan: Apple Bread CD Cloth DishSponge Egg HandTowel Lettuce Newspaper PaperTowel Pen Pencil Potato SoapBar
        SoapBottle SprayBottle TissueBox ToiletPaper ToiletPaperRoll Tomato WineBottle
    Fridge: Apple Bowl Bread Cup Egg Glassbottle Lettuce Mug Pan Plate Pot Potato Tomato WineBottle
    Microwave: Apple Bowl Bread Cup Egg Glassbottle Mug Plate Potato Tomato
    SinkBasin: Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Glassbottle HandTowel Kettle Knife Ladle Lettuce
        Mug Pan Plate Pot Potato SoapBar Spatula Spoon Tomato
    BathtubBasin: Cloth DishSponge HandTowel SoapBar
    Safe: CD CellPhone CreditCard KeyChain Statue Vase Watch
    CoffeeMachine: Mug
    StoveBurner: Kettle Pan Pot
    TVStand: TissueBox
    LaundryHamper: Cloth
    HandTowelHolder: HandTowel
    TowelHolder: Towel
    ToiletPaperHanger: ToiletPaper ToiletPaperRoll
    Toaster PaintingHanger:
""")
"""Object types that fit into each type of receptacle; slices are not objects of their own in ALFWorld."""

INNER_CONTENTS = _contents("""
    Bowl Pan Plate Pot: Apple ButterKnife DishSponge Egg Fork Knife Ladle Lettuce Potato Spatula Spoon Tomato
    Bowl Plate: CD Candle CellPhone Cloth CreditCard KeyChain Mug PaperTowel Pen Pencil Watch
    Bowl: RemoteControl
    Plate: AlarmClock Book Glassbottle TissueBox
    Box: AlarmClock Book CD Candle CellPhone Cloth CreditCard DishSponge Glassbottle KeyChain Mug PaperTowel Pen Pencil
        RemoteControl Statue TissueBox Vase Watch
    Mug: ButterKnife Fork KeyChain Knife Pen Pencil Spoon Watch
    Cup: ButterKnife Fork Spoon
""")
"""Object types that fit into objects that can hold others."""

OTYPES = _words("""
    AlarmClock Apple BaseballBat BasketBall Bathtub Blinds Book Boots Bowl Box Bread ButterKnife CD Candle CellPhone
    Chair Cloth CreditCard Cup Curtains DeskLamp DishSponge Egg FloorLamp Footstool Fork Glassbottle HandTowel
    HousePlant Kettle KeyChain Knife Ladle Laptop LaundryHamperLid Lettuce LightSwitch Mirror Mug Newspaper Painting
    Pan PaperTowel PaperTowelRoll Pen Pencil PepperShaker Pillow Plate Plunger Poster Pot Potato RemoteControl
    SaltShaker ScrubBrush ShowerDoor ShowerGlass Sink SoapBar SoapBottle Spatula Spoon SprayBottle Statue StoveKnob
    TeddyBear Television TennisRacket TissueBox ToiletPaper ToiletPaperRoll Tomato Towel Vase Watch WateringCan Window
    WineBottle
""")
"""Every type of object that a game declares."""
RTYPES = tuple(sorted(CONTENTS))
"""Every type of receptacle that a game declares."""
