"""AgentGym's servers, asked as AgentGym's clients ask.

The package of these clients is not on PyPI (``agentenv`` there is an empty placeholder), so that
``TextCraftClient``, ``ALFWorldClient`` and ``WebShopClient`` stand in for them: the same requests
in the same order, with the same demands on the answers.
"""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textcraft_gym
from textcraft_gym.errors import DataError, UnknownName
from textcraft_gym.integrations.agentgym.numbering import (
    InOrder,
    alfworld_task_id,
    goals_in_order,
    read_mapping,
    textcraft_goal,
)
from textcraft_gym.recipes import RecipeBook
from textcraft_gym.registration import find

pytest.importorskip("fastapi", reason="fastapi (extra [serve]) is not installed")

from fastapi.testclient import TestClient

from tests.serving.live import Connection, serving
from textcraft_gym.integrations.agentgym.app import create_app


class Output(NamedTuple):
    """What a client returns for a step."""

    state: str
    reward: float
    done: bool


class TextCraftClient:
    """TextCraft's: it is created with the first task, cuts the action, and observes what it has
    read."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        created = connection.post(
            "/create", minecraft_dir="agentenv_textcraft/", commands=None, goal=None
        )
        self.info = {name: created[name] for name in ("observation", "reward", "done")}
        self.id = created["id"]

    def observe(self) -> str:
        return str(self.info["observation"])

    def reset(self, index: int) -> None:
        answer = self.connection.post("/reset", id=self.id, data_idx=index)
        self.info = {"observation": answer["observation"], "reward": 0, "done": False}

    def step(self, reply: str) -> Output:
        action = re.sub(
            r"[^A-Za-z0-9, ]+", "", " ".join(reply.split("Action:")[-1].split())
        ).strip()
        answer = self.connection.post("/step", id=self.id, action=action)
        self.info = {name: answer[name] for name in ("observation", "reward", "done")}
        return Output(answer["observation"], answer["reward"], answer["done"])

    def close(self) -> bool:
        return bool(self.connection.post("/close", id=self.id))


class ALFWorldClient:
    """ALFWorld's: it shows the available actions below each observation."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.id = connection.post("/create")["id"]
        self.info: dict[str, Any] = {}

    def observe(self) -> str:
        return f"{self.info['observation']}\nAVAILABLE ACTIONS: {','.join(self.info['available_actions'])}"

    def reset(self, index: int) -> None:
        answer = self.connection.post("/reset", id=self.id, game=index, world_type="Text")
        self.info = {
            name: answer[name] for name in ("observation", "available_actions", "task_type")
        }

    def step(self, reply: str) -> Output:
        action = reply.split("Action:")[-1].strip()
        answer = self.connection.post("/step", id=self.id, action=action)
        self.info = {name: answer[name] for name in ("observation", "available_actions")}
        return Output(self.observe(), answer["reward"], answer["done"])

    def close(self) -> bool:
        return bool(self.connection.post("/close", id=self.id))


class WebShopClient:
    """WebShop's: the id is a bare number, and what it observes is asked for."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.id = connection.post("/create")
        assert type(self.id) is int

    def observe(self) -> str:
        return str(self.connection.get(f"/observation?env_idx={self.id}"))

    def reset(self, index: int) -> None:
        observation, nothing = self.connection.post("/reset", env_idx=self.id, session_id=index)
        assert (observation, nothing) == (self.observe(), None)

    def step(self, reply: str) -> Output:
        action = reply.split("Action:")[-1].strip()
        answer = self.connection.post("/step", env_idx=self.id, action=action)
        assert answer["info"] is None
        return Output(answer["state"], answer["reward"], answer["done"])

    def close(self) -> bool:
        return bool(self.connection.post("/close", env_idx=self.id))


CLIENTS: dict[str, Any] = {
    "textcraft": TextCraftClient,
    "alfworld": ALFWorldClient,
    "webshop": WebShopClient,
}
ENVS: dict[str, dict[str, Any]] = {
    "textcraft": {"id": "TextCraft-v0"},
    "alfworld": {"id": "ALFWorld-v0", "dialect": "0.3"},
    "webshop": {"id": "WebShopLite-v0", "mode": "text", "products_per_page": 10},
}


class Local:
    """The same task played without a server, and what the client should read of it."""

    def __init__(self, world: str, index: int) -> None:
        self.world = world
        self.env: Any = gym.make(
            **ENVS[world], split="all", admissible=True, expert=True, max_episode_steps=-1
        )
        if world == "textcraft":
            goals = goals_in_order(self.env.get_wrapper_attr("book"))
            task, seed = goals[index % len(goals)], index
        else:
            task, seed = self.env.get_wrapper_attr("tasks")[index].id, 0
        text, self.info = self.env.reset(seed=seed, options={"task": task})
        self.first = "\n".join(text.split("\n\n")[1:]) if world == "alfworld" else text

    def step(self, action: str) -> Output:
        text, reward, done, _, self.info = self.env.step(action)
        if self.world == "alfworld":
            text = re.sub(r"^You arrive at loc \d+\. ", "", text)
        return Output(self.shown(text), reward, done)

    def shown(self, text: str) -> str:
        if self.world == "alfworld":
            return f"{text}\nAVAILABLE ACTIONS: {','.join(self.info['admissible_commands'])}"
        return text


class InProcess:
    """A connection without a socket."""

    def __init__(self, app: Any) -> None:
        self.client = TestClient(app, base_url="http://127.0.0.1")

    def get(self, path: str) -> Any:
        return self._read(self.client.get(path))

    def post(self, path: str, **body: Any) -> Any:
        return self._read(self.client.post(path, json=body))

    def _read(self, answer: Any) -> Any:
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.mark.parametrize(("world", "index"), [("textcraft", 400), ("alfworld", 12), ("webshop", 6)])
def test_client__plays_the_bytes_of_the_environment_and_wins(world: str, index: int):
    client, local = CLIENTS[world](InProcess(create_app(world))), Local(world, index)  # type: ignore[arg-type]
    client.reset(index)
    assert client.observe() == local.shown(local.first)
    plan = local.info["expert_plan"]
    assert len(plan) > 1
    for action in plan:
        output = client.step(f"Thought:\nI see.\n\nAction:\n{action}")
        assert output == local.step(action)
        if world != "alfworld":
            assert output.state == client.observe()
    assert output[1:] == (1.0, True)
    for action in ("", "look", plan[0]):  # never an error after the end, and the score stays
        assert client.step(action)[1:] == (1.0, True)
    client.reset(index)
    assert client.observe() == Local(world, index).shown(local.first)
    assert client.close()
    assert not client.close()


@pytest.mark.parametrize("world", CLIENTS)
def test_server__keeps_sessions_apart_when_64_clients_play_on_16_threads(world: str):
    def play(number: int) -> int:
        connection = Connection(port)
        client, local, rng = CLIENTS[world](connection), Local(world, number), random.Random(number)
        client.reset(number)
        assert client.observe() == local.shown(local.first)
        for turn in range(6):
            # The client drops what is no letter, digit, comma or blank of TextCraft's actions.
            admissible = local.info["admissible_commands"]
            action = rng.choice([*admissible, "nonsense"]) if turn % 3 else "get 2 oak log"
            output = client.step(f"Action: {action}")
            assert output == local.step(action)
            if output.done:
                break
        assert client.close()
        connection.close()
        return int(client.id)

    app = create_app(world)  # type: ignore[arg-type]
    with serving(app) as port, ThreadPoolExecutor(16) as threads:
        ids = list(threads.map(play, range(64)))
    assert sorted(ids) == list(range(64))
    assert len(app.state.sessions) == 0


@pytest.fixture(scope="module", params=list(CLIENTS))
def app(request: pytest.FixtureRequest) -> Any:
    application = create_app(request.param)
    application.state.world = request.param
    return application


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.just("\ud800")
)
VALUES = (
    SCALARS
    | st.lists(SCALARS, max_size=3)
    | st.dictionaries(st.text(max_size=5), SCALARS, max_size=3)
)
ACTIONS = ["look", "search[shirt]", "click[buy now]", "get 1 oak log", "craft \ud800"]
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(0, 3) | VALUES,
        "env_idx": st.integers(0, 3) | VALUES,
        "action": st.sampled_from(ACTIONS) | VALUES,
        "data_idx": st.integers(-3, 600) | VALUES,
        "game": st.integers(-1, 5000) | VALUES,
        "world_type": st.sampled_from(["Text", "Embody", "Hybrid"]) | VALUES,
        "session_id": st.integers(-1, 2000) | VALUES,
    },
)


@settings(max_examples=150)
@given(st.data())
def test_server__answers_anything(app: Any, data: st.DataObject):
    connection = TestClient(app, base_url="http://127.0.0.1")
    path = data.draw(
        st.sampled_from(["/create", "/reset", "/step", "/close", "/observation", "/nothing"])
    )
    body = data.draw(st.builds(json.dumps, BODIES | VALUES) | st.text(max_size=20))
    answer = connection.post(
        path, content=body.encode(), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (200, 404, 405, 422)
    assert answer.headers["content-type"] == "application/json"
    if answer.status_code != 200:
        assert list(answer.json()) == ["error"]


def test_server__says_what_is_wrong():
    connection = InProcess(create_app("textcraft", max_sessions=2))
    assert connection.get("/") == "This is environment TextCraft."
    first = connection.post("/create")
    assert first["id"] == 0
    assert first["observation"].startswith("Crafting commands:\n")
    assert connection.post("/step", id=7, action="") == {"error": "The id 7 is not valid."}
    assert connection.post("/reset", id=7, data_idx=0) == {"error": "The id 7 is not valid."}
    assert connection.get("/detail?id=7") == {"error": "The id 7 is not valid."}
    connection.post("/create")
    assert "2 sessions are open" in connection.post("/create")["error"]
    assert connection.post("/close", id=0) is True
    assert connection.post("/create")["id"] == 2
    wrong = connection.client.post("/step", json={"id": "x", "action": 3})
    assert wrong.status_code == 422
    assert "body.id" in wrong.json()["error"]
    assert "body.action" in wrong.json()["error"]


def test_server__tells_a_session_of_textcraft():
    connection = InProcess(create_app("textcraft"))
    connection.post("/create")
    first = connection.post("/reset", id=0, data_idx=500)["observation"]
    assert f"{connection.get('/commands?id=0')}\n\n{connection.get('/goal?id=0')}" == first
    assert connection.get("/goal?id=0").startswith("Goal: craft ")
    assert connection.post("/reset", id=0, data_idx=500 + 544)["observation"].endswith(
        first.rpartition("\n")[2]
    )
    refused = connection.post("/step", id=0, action="> get 1 oak log")  # played as it comes
    assert refused["observation"] == "Could not execute > get 1 oak log"
    connection.post("/step", id=0, action="get 1 oak log")
    assert connection.get("/observation?id=0") == "Got 1 oak log"
    detail = {"observation": "Got 1 oak log", "done": False, "reward": 0, "deleted": False}
    assert connection.get("/detail?id=0") == detail


def test_server__tells_a_session_of_alfworld():
    connection = InProcess(create_app("alfworld"))
    connection.post("/create")
    assert "reset" in connection.post("/step", id=0, action="look")["error"]
    assert connection.get("/available_actions?id=0") == []
    begun = connection.post("/reset", id=0, game=3, world_type="Hybrid")
    assert begun["task_type"] == textcraft_gym.tasks("ALFWorld-v0", "all")[3].id
    assert begun["observation"].startswith("You are in the middle of a room.")
    assert (
        "expected the number of a task in 0.."
        in connection.post("/reset", id=0, game=99999)["error"]
    )
    assert connection.get("/observation?id=0") == begun["observation"]
    assert connection.get("/available_actions?id=0") == begun["available_actions"]
    place = next(action for action in begun["available_actions"] if action.startswith("go to"))
    step = connection.post("/step", id=0, action=place)
    assert step["observation"].startswith(("On the ", "The "))
    assert connection.get("/detail?id=0") == {
        **step,
        "task_type": begun["task_type"],
        "deleted": False,
    }


def test_server__tells_a_session_of_webshop():
    connection = InProcess(create_app("webshop"))
    assert connection.get("/") == "ok"
    assert connection.get("/list_envs") == []
    assert connection.post("/create") == 0
    connection.post("/create")
    assert connection.get("/list_envs") == [0, 1]
    first = connection.post("/reset", env_idx=0, session_id=6)[0]
    assert connection.get("/available_actions?env_idx=0") == {
        "has_search_bar": True,
        "clickables": ["search"],
    }
    wish = connection.get("/instruction_text?env_idx=0")
    assert first == f"WebShop [SEP] Instruction: [SEP] {wish} [SEP] Search"
    page = connection.post("/step", env_idx=0, action="search[shirt]")["state"]
    buttons = connection.get("/available_actions?env_idx=0")
    assert not buttons["has_search_bar"]
    assert buttons["clickables"][:2] == ["back to search", "next >"]
    assert len(buttons["clickables"]) == 12
    state = connection.get("/state?env_idx=0")
    assert (state["html"], state["instruction_text"]) == (page, wish)
    assert "expected the number" in connection.post("/reset", env_idx=0, session_id=10**8)["error"]
    assert connection.post("/reset", env_idx=1, session_id=None)[1] is None


def test_close__frees_the_environment():
    app = create_app("webshop", session_seconds=3600)
    connection = InProcess(app)
    closed: list[Any] = []
    for number in range(5):
        connection.post("/create")
        app.state.sessions.find(number).env.unwrapped.close = lambda number=number: closed.append(
            number
        )
    with connection.client:
        assert connection.post("/close", env_idx=3) is True
        assert connection.get("/list_envs") == [0, 1, 2, 4]
        assert closed == [3]
    assert closed == [3, 0, 1, 2, 4]  # those that are open when the server ends


@pytest.fixture(scope="module")
def book() -> RecipeBook:
    return find("TextCraft-v0").make(split="all").get_wrapper_attr("book")  # type: ignore[no-any-return]


def test_goals__are_numbered_by_depth_and_file_name(book: RecipeBook):
    goals = goals_in_order(book)
    assert len(goals) == len(set(goals)) == 544
    depths = [book.depths[goal] for goal in goals]
    assert depths == sorted(depths)
    assert depths.count(4) == 11
    number = InOrder(goals, again=True)
    assert number(543) == number(-1) == number(543 + 544)
    assert number(0) == "minecraft:acacia_planks"
    listed = InOrder(goals)
    for wrong in (-1, 544):
        with pytest.raises(LookupError, match=r"0\.\.543"):
            listed(wrong)


def test_mapping__is_read_from_goals_and_conversations(tmp_path: Path):
    conversation = [
        {"from": "human", "value": "You craft. For instance:\nGoal: craft X.\nNow begin."},
        {"from": "gpt", "value": "OK."},
        {
            "from": "human",
            "value": "Crafting commands:\ncraft 1 x using 1 y\n\nGoal: craft golden leggings.",
        },
        {"from": "gpt", "value": "Goal: craft beehive."},
    ]
    entries = [
        {"item_id": "textcraft_7", "conversations": conversation},
        {"item_id": 12, "goal": "minecraft:beehive"},
        {"item_id": "12", "goal": "beehive"},
    ]
    file = tmp_path / "mapping.json"
    file.write_text(json.dumps(entries))
    number = read_mapping([file], textcraft_goal, lambda task: True)
    assert (number(7), number(12)) == ("minecraft:golden_leggings", "minecraft:beehive")
    with pytest.raises(LookupError, match="8 is not among the 2 numbers of the mapping"):
        number(8)
    connection = InProcess(create_app("textcraft", mapping=[file]))
    connection.post("/create")
    text = connection.post("/reset", id=0, data_idx=7)["observation"]
    env = gym.make("TextCraft-v0")
    assert text == env.reset(seed=7, options={"task": "minecraft:golden_leggings"})[0]


def test_create__begins_a_task_of_the_mapping_whatever_its_numbers(tmp_path: Path):
    file = tmp_path / "mapping.json"
    goals = ["beehive", "chest", "ladder"]
    file.write_text(
        json.dumps([{"item_id": 3 * part + 1, "goal": goal} for part, goal in enumerate(goals)])
    )
    app = create_app("textcraft", mapping=[file], max_sessions=1)
    connection = InProcess(app)
    begun = []
    for number in range(9):
        created = connection.post("/create")
        assert created["id"] == number
        begun.append(created["observation"].rpartition("Goal: craft ")[2])
        assert connection.post("/close", id=number) is True
    beehive, chest, ladder = "beehive.", "chest.", "ladder."
    assert begun == [beehive, beehive, ladder, beehive, chest, ladder, beehive, ladder, ladder]


def test_mapping__is_read_from_agentgyms_files(tmp_path: Path):
    tasks = textcraft_gym.tasks("ALFWorld-v0", "all")[5:8]
    for part, task in enumerate(tasks):
        task_type, _, trial = task.id.partition("/")
        entry = {"item_id": f"alfworld_{2420 + part}", "task_type": task_type, "task_id": trial}
        (tmp_path / f"{part}.json").write_text(json.dumps([entry]))
    files = sorted(tmp_path.iterdir())
    number = read_mapping(files, alfworld_task_id, lambda task: True)
    assert [number(2420 + part) for part in range(3)] == [task.id for task in tasks]
    connection = InProcess(create_app("alfworld", mapping=files))
    connection.post("/create")
    assert connection.post("/reset", id=0, game=2421, world_type="Text")["task_type"] == tasks[1].id
    refused = connection.post("/reset", id=0, game=0, world_type="Text")
    assert "0 is not among the 3 numbers of the mapping" in refused["error"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "invalid JSON"),
        ("{}", "expected a list of tasks"),
        ("[]", "expected a list of tasks"),
        ('[{"goal": "beehive"}]', "entry 0"),
        ('[{"item_id": "x", "goal": "beehive"}]', "expected a number as 7 or alfworld_7"),
        ('[{"item_id": 1, "goal": "oak log"}]', "none of the 1 numbers has a task here"),
        ('[{"item_id": 1, "goal": 3}]', "expected a text"),
        ('[{"item_id": 1, "conversations": []}]', "no message of the conversation ends in a goal"),
        (
            '[{"item_id": 1, "goal": "beehive"}, {"item_id": 1, "goal": "chest"}]',
            "entry 1: 1 is minecraft:chest here",
        ),
    ],
)
def test_mapping__names_what_is_wrong(tmp_path: Path, book: RecipeBook, text: str, message: str):
    file = tmp_path / "mapping.json"
    file.write_text(text)
    with pytest.raises(DataError, match=re.escape(message)):
        read_mapping([file], textcraft_goal, book.depths.__contains__)


@pytest.mark.parametrize(
    ("world", "here", "elsewhere"),
    [
        ("textcraft", {"goal": "golden leggings"}, {"goal": "iron ingot"}),
        (
            "alfworld",
            dict(
                zip(
                    ("task_type", "task_id"),
                    textcraft_gym.tasks("ALFWorld-v0", "all")[0].id.split("/"),
                    strict=True,
                )
            ),
            {
                "task_type": "pick_and_place_simple-Book-None-SideTable-329",
                "task_id": "trial_T20190908_050633_745514",
            },
        ),
    ],
)
def test_mapping__with_a_task_that_is_not_here_serves_the_others(
    tmp_path: Path, world: Any, here: dict[str, str], elsewhere: dict[str, str]
):
    file = tmp_path / "mapping.json"
    file.write_text(json.dumps([{"item_id": 3} | here, {"item_id": 9} | elsewhere]))
    with pytest.warns(UserWarning, match="1 of the 2 numbers of the mapping have no task here"):
        connection = InProcess(create_app(world, mapping=[file]))
    client = CLIENTS[world](connection)  # a session of TextCraft begins a task at once
    client.reset(3)
    assert client.observe()
    body = {"data_idx": 9, "game": 9, "id": client.id}
    refused = connection.post("/reset", **body)["error"]
    assert re.fullmatch(r"9 has no task here: \S+ cannot be played", refused)
    assert client.step("Action: inventory").state


def test_app__refuses_what_it_cannot_serve(tmp_path: Path):
    with pytest.raises(UnknownName, match="textcraft, alfworld, webshop"):
        create_app("babyai")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="distractors"):
        create_app("textcraft", distractor=3)
    with pytest.raises(ValueError, match="expected no mapping"):
        create_app("webshop", mapping=[tmp_path])


def test_command__serves_until_ctrl_c():
    command = [
        sys.executable,
        "-m",
        "textcraft_gym",
        "serve",
        "agentgym",
        "--env",
        "textcraft",
        "--port",
        "0",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        line = server.stdout.readline()
        served, _, address = line.partition(" at http://127.0.0.1:")
        assert served == "Serving AgentGym's textcraft"
        with closing(Connection(int(address.split()[0]))) as connection:
            client = TextCraftClient(connection)
            client.reset(543)
            assert (
                client.step("Action: inventory").state
                == "Inventory: You are not carrying anything."
            )
            server.send_signal(signal.SIGINT)
            output, errors = server.communicate(timeout=60)
    assert (server.returncode, output, errors) == (0, "", "")
