"""Facts of ALFRED: the furniture and objects of each kind of room, containment, and abilities.

Source: ALFRED (Shridhar et al., 2020) in the package ``alfworld`` 0.4.2. Containment, abilities and
the rooms of each task come from its ``gen/constants.py``; furniture and objects of each kind of
room are counted over its 120 floor plans (``gen/layouts``), which leave out burners, bins, toasters
and holders, and the numbers of windows, chairs and the like: those are estimates from official
games, as are the numbers of objects of one type.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple


class Furniture(NamedTuple):
    """The number of receptacles or fixtures of one type in a kind of room.

    Attributes:
        name: The type, ``Cabinet``.
        rooms: Number of the 30 floor plans that have any.
        least: Minimum over those plans.
        usual: Median.
        most: Maximum.
    """

    name: str
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
        objects: Movable objects that tasks may be about, each with the number of the 30 floor plans
            that have it. Each fits into some receptacle of the room.
        extras: Movable objects that no task is about, in the same form; a room has one of each type
            at most.
        ornaments: Objects that stand somewhere for good, in the same form.
        lamps: Lamps, in the same form.
        fixtures: Objects that cannot be used or moved and are in no receptacle.
    """

    plans: range
    furniture: tuple[Furniture, ...]
    essentials: tuple[str, ...]
    storage: tuple[str, ...]
    objects: tuple[tuple[str, int], ...]
    extras: tuple[tuple[str, int], ...]
    ornaments: tuple[tuple[str, int], ...]
    lamps: tuple[tuple[str, int], ...]
    fixtures: tuple[Furniture, ...]


def _furniture(text: str) -> tuple[Furniture, ...]:
    """Parse lines of a type, its number of floor plans, and ``least-usual-most``."""
    return tuple(map(_piece, text.strip().splitlines()))


def _piece(line: str) -> Furniture:
    name, rooms, counts = line.split()
    return Furniture(name, int(rooms), *map(int, counts.split("-")))


def _rooms(text: str) -> tuple[tuple[str, int], ...]:
    """Parse types, each followed by a number of floor plans."""
    words = text.split()
    return tuple(zip(words[::2], map(int, words[1::2]), strict=True))


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
        objects=_rooms("""
            Apple 30 Book 2 Bowl 30 Bread 30 ButterKnife 29 CellPhone 4 CreditCard 3 Cup 30
            DishSponge 30 Egg 30 Fork 30 Glassbottle 7 Kettle 15 Knife 30 Ladle 10 Lettuce 30 Mug 30
            Pan 30 Pen 2 Pencil 2 PepperShaker 30 Plate 30 Pot 30 Potato 30 SaltShaker 30
            SoapBottle 30 Spatula 30 Spoon 30 SprayBottle 2 Statue 4 Tomato 30 Vase 4 WineBottle 10
        """),
        extras=_rooms("PaperTowelRoll 10"),
        ornaments=_rooms("HousePlant 10"),
        lamps=(),
        fixtures=_furniture("""
            Sink        30 1-1-1
            LightSwitch 30 1-1-1
            StoveKnob   30 4-4-4
            Window      26 1-2-3
            Chair       25 1-2-5
            Blinds       5 1-1-2
            Curtains     2 1-1-2
            Mirror       2 1-1-1
        """),
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
        objects=_rooms("""
            Book 7 Bowl 4 Box 30 Candle 3 CellPhone 7 CreditCard 30 KeyChain 30 Laptop 30
            Newspaper 18 Pen 5 Pencil 4 Pillow 30 Plate 10 RemoteControl 30 Statue 29 TissueBox 9
            Vase 18 Watch 16 WateringCan 13
        """),
        extras=(),
        ornaments=_rooms("HousePlant 30"),
        lamps=_rooms("FloorLamp 30 DeskLamp 7"),
        fixtures=_furniture("""
            LightSwitch 30 1-1-1
            Television  30 1-1-1
            Painting    30 1-2-4
            Window      28 1-2-4
            Chair       20 1-2-5
            Curtains     8 1-1-2
            Boots        5 1-1-1
            Mirror       3 1-1-1
            Blinds       1 1-1-1
        """),
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
        objects=_rooms("""
            AlarmClock 30 BaseballBat 13 BasketBall 11 Book 30 Bowl 13 Box 12 CD 30 CellPhone 30
            Cloth 5 CreditCard 30 KeyChain 30 Laptop 30 Mug 16 Pen 30 Pencil 30 Pillow 30
            RemoteControl 3 Statue 4 TennisRacket 10 TissueBox 4 Vase 3 Watch 2
        """),
        extras=_rooms("TeddyBear 10"),
        ornaments=_rooms("HousePlant 7"),
        lamps=_rooms("DeskLamp 30"),
        fixtures=_furniture("""
            LightSwitch      30 1-1-1
            Mirror           30 1-1-1
            Window           30 1-1-3
            Blinds           27 1-1-3
            Chair            22 1-1-2
            Painting         13 1-1-2
            LaundryHamperLid 8  1-1-1
            Poster           6  1-1-2
            Boots            3  1-1-1
            Television       3  1-1-1
            Curtains         2  1-1-2
            Footstool        1  1-1-1
        """),
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
        objects=_rooms("""
            Candle 30 Cloth 30 DishSponge 6 HandTowel 30 Plunger 30 SoapBar 30 SoapBottle 30
            SprayBottle 30 TissueBox 9 ToiletPaper 30 Towel 30
        """),
        extras=_rooms("PaperTowelRoll 4"),
        ornaments=_rooms("HousePlant 1"),
        lamps=(),
        fixtures=_furniture("""
            Sink        30 1-1-2
            LightSwitch 30 1-1-1
            Mirror      30 1-1-1
            ScrubBrush  30 1-1-1
            Bathtub     21 1-1-1
            Window      19 1-1-2
            ShowerDoor  17 1-1-2
            ShowerGlass 13 1-1-2
            Footstool    1 1-1-1
            Painting     1 1-1-1
        """),
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
HOLDS_ONE = frozenset(
    _words("CoffeeMachine StoveBurner HandTowelHolder TowelHolder ToiletPaperHanger")
)
"""Receptacles that hold a single object of a type in a real room: never a target for two."""
STANDS = frozenset(_words("SideTable Desk Dresser CoffeeTable DiningTable CounterTop"))
"""Receptacles for a lamp or a plant; ALFRED does not say, as they are part of its floor plans."""
STATIONARY = frozenset(_words("DeskLamp FloorLamp HousePlant"))
"""Objects in receptacles that cannot be picked up."""
PART_OF = {"Sink": "SinkBasin", "Bathtub": "BathtubBasin", "LaundryHamperLid": "LaundryHamper"}
"""Fixtures that are where a receptacle is: there are as many of them."""

PROPERTIES = {
    "cleanable": frozenset(
        _words("""
            Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce Mug Pan
            Plate Pot Potato SoapBar Spatula Spoon Tomato
        """)
    ),
    "heatable": frozenset(_words("Apple Bread Cup Egg Mug Plate Potato Tomato")),
    "coolable": frozenset(
        _words("Apple Bowl Bread Cup Egg Lettuce Mug Pan Plate Pot Potato Tomato WineBottle")
    ),
    "sliceable": frozenset(_words("Apple Bread Egg Lettuce Potato Tomato")),
    "toggleable": frozenset(_words("DeskLamp FloorLamp")),
    "isReceptacleObject": frozenset(_words("Bowl Box Cup Mug Pan Plate Pot")),
}
"""The object types that have each predicate."""


def _contents(text: str) -> dict[str, frozenset[str]]:
    """Parse lines of types, a colon, and the types that each of them holds.

    A line without a colon continues the one before.
    """
    contents: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    holders: list[str] = []
    for line in text.strip().splitlines():
        head, colon, held = line.rpartition(":")
        if colon:
            holders = head.split()
        for holder in holders:
            contents[holder] |= frozenset(held.split())
    return dict(contents)


CONTENTS = _contents("""
    CoffeeTable CounterTop DiningTable SideTable: AlarmClock Apple BaseballBat BasketBall Book Bowl
        Box Bread ButterKnife CD Candle CellPhone Cloth CreditCard Cup DishSponge Egg Fork
        Glassbottle HandTowel Kettle KeyChain Knife Ladle Laptop Lettuce Mug Newspaper Pan
        PaperTowel Pen Pencil PepperShaker Plate Pot Potato RemoteControl SaltShaker SoapBar
        SoapBottle Spatula Spoon SprayBottle Statue TennisRacket TissueBox ToiletPaper
        ToiletPaperRoll Tomato Vase Watch WateringCan WineBottle
    Desk Dresser: AlarmClock BasketBall Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup
        Glassbottle KeyChain Laptop Mug Newspaper Pen Pencil Plate RemoteControl SprayBottle Statue
        TennisRacket TissueBox ToiletPaper ToiletPaperRoll Vase Watch WateringCan WineBottle
    Desk: SoapBottle
    Shelf: AlarmClock Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup DishSponge Glassbottle
        HandTowel Kettle KeyChain Mug Newspaper PaperTowel Pen Pencil PepperShaker Plate Pot
        RemoteControl SaltShaker SoapBar SoapBottle SprayBottle Statue TissueBox ToiletPaper
        ToiletPaperRoll Vase Watch WateringCan WineBottle
    Cabinet: Book Bowl Box CD Candle Cloth Cup DishSponge Glassbottle HandTowel Kettle Ladle Mug
        Newspaper Pan PepperShaker Plate Plunger Pot SaltShaker SoapBar SoapBottle SprayBottle
        TissueBox ToiletPaper ToiletPaperRoll Vase WateringCan WineBottle
    Drawer: Book ButterKnife CD Candle CellPhone Cloth CreditCard DishSponge Fork HandTowel KeyChain
        Knife Ladle Newspaper Pen Pencil PepperShaker RemoteControl SaltShaker SoapBar SoapBottle
        Spatula Spoon SprayBottle TissueBox ToiletPaper ToiletPaperRoll Watch WateringCan
    ArmChair Ottoman Sofa: BasketBall Book Box CellPhone Cloth CreditCard KeyChain Laptop Newspaper
        Pillow RemoteControl
    Bed: BaseballBat BasketBall Book CellPhone Laptop Newspaper Pillow TennisRacket
    Cart: Candle Cloth DishSponge HandTowel Mug PaperTowel Plunger SoapBar SoapBottle SprayBottle
        Statue TissueBox ToiletPaper ToiletPaperRoll Vase
    Toilet: Candle Cloth DishSponge HandTowel Newspaper PaperTowel SoapBar SoapBottle SprayBottle
        TissueBox ToiletPaper ToiletPaperRoll
    GarbageCan: Apple Bread CD Cloth DishSponge Egg HandTowel Lettuce Newspaper PaperTowel Pen
        Pencil Potato SoapBar SoapBottle SprayBottle TissueBox ToiletPaper ToiletPaperRoll Tomato
        WineBottle
    Fridge: Apple Bowl Bread Cup Egg Glassbottle Lettuce Mug Pan Plate Pot Potato Tomato WineBottle
    Microwave: Apple Bowl Bread Cup Egg Glassbottle Mug Plate Potato Tomato
    SinkBasin: Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Glassbottle HandTowel Kettle
        Knife Ladle Lettuce Mug Pan Plate Pot Potato SoapBar Spatula Spoon Tomato
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
    CoffeeTable CounterTop DiningTable Shelf SideTable: PaperTowelRoll
    ArmChair Bed Sofa: TeddyBear
""")
"""Object types that fit into each type of receptacle.

Slices are not objects of their own in ALFWorld. The last two lines are not ALFRED's, where those
two fit nowhere, so that who picks one up can never put it down.
"""

INNER_CONTENTS = _contents("""
    Bowl Pan Plate Pot: Apple ButterKnife DishSponge Egg Fork Knife Ladle Lettuce Potato Spatula
        Spoon Tomato
    Bowl Plate: CD Candle CellPhone Cloth CreditCard KeyChain Mug PaperTowel Pen Pencil Watch
    Bowl: RemoteControl
    Plate: AlarmClock Book Glassbottle TissueBox
    Box: AlarmClock Book CD Candle CellPhone Cloth CreditCard DishSponge Glassbottle KeyChain Mug
        PaperTowel Pen Pencil RemoteControl Statue TissueBox Vase Watch
    Mug: ButterKnife Fork KeyChain Knife Pen Pencil Spoon Watch
    Cup: ButterKnife Fork Spoon
""")
"""Object types that fit into objects that can hold others."""

OTYPES = _words("""
    AlarmClock Apple BaseballBat BasketBall Bathtub Blinds Book Boots Bowl Box Bread ButterKnife CD
    Candle CellPhone Chair Cloth CreditCard Cup Curtains DeskLamp DishSponge Egg FloorLamp Footstool
    Fork Glassbottle HandTowel HousePlant Kettle KeyChain Knife Ladle Laptop LaundryHamperLid
    Lettuce LightSwitch Mirror Mug Newspaper Painting Pan PaperTowel PaperTowelRoll Pen Pencil
    PepperShaker Pillow Plate Plunger Poster Pot Potato RemoteControl SaltShaker ScrubBrush
    ShowerDoor ShowerGlass Sink SoapBar SoapBottle Spatula Spoon SprayBottle Statue StoveKnob
    TeddyBear Television TennisRacket TissueBox ToiletPaper ToiletPaperRoll Tomato Towel Vase Watch
    WateringCan Window WineBottle
""")
"""Every type of object that a game declares."""
RTYPES = tuple(sorted(CONTENTS))
"""Every type of receptacle that a game declares."""
