"""OpenEnv's own client and validator against the server, and its sessions against local
environments."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import gymnasium as gym
import pytest

from textcraft_gym import TextEpisode, tasks
from textcraft_gym.registration import BUNDLED
from textcraft_gym.testing import NONSENSE

pytest.importorskip("openenv", reason="OpenEnv (extra [openenv]) is not installed")
pytest.importorskip("uvicorn", reason="uvicorn (extra [openenv]) is not installed")

from fastapi.testclient import TestClient
from openenv import GenericEnvClient
from openenv.cli._validation import validate_running_environment
from openenv.core.env_server import http_server
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import WebDriverWait
from starlette.websockets import WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from textcraft_gym.integrations.openenv import (
    MAX_COMMAND,
    OPEN,
    OPEN_ON_THE_PAGE,
    ServedWorld,
    TextAction,
    TextEnvironment,
    create_app,
)

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "openenv_env"
PAGE = ROOT / "docs" / "openenv.md"
WORLD = "TextCraft-v0"
SAY = "tests.foreign_worlds:Say-v0"
GUESS = "tests.foreign_worlds:GuessDigit-v0"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server as the command starts it, with 64 sessions; it must end cleanly at Ctrl-C."""
    command = [
        sys.executable,
        "-m",
        "textcraft_gym",
        "serve",
        "openenv",
        "--env",
        WORLD,
        "--port",
        "0",
    ]
    with subprocess.Popen(
        [*command, "--max-sessions", "64"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        line = process.stdout.readline()
        yield next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
        assert (process.returncode, output, errors) == (0, "", "")


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(create_app(WORLD, split="test"), base_url="http://localhost") as client:
        yield client


def ask(socket: Any, kind: str, **data: Any) -> Any:
    """Return the answer to a message over a WebSocket of the test client."""
    socket.send_text(json.dumps({"type": kind, **({} if kind == "state" else {"data": data})}))
    return json.loads(socket.receive_text())


def test_server__passes_the_validation_of_openenv(address: str):
    report = validate_running_environment(address)
    assert report["passed"]
    assert report["summary"]["passed_count"] == report["summary"]["total_count"] == 6


def test_server__plays_with_the_client_of_openenv(address: str):
    task = tasks(WORLD, "test")[3]
    env = gym.make(WORLD, expert=True)
    first, info = env.reset(seed=0, options={"task": task.id})
    with GenericEnvClient(base_url=address).sync() as client:
        result = client.reset(seed=0, split="test", index=3, episode_id="mine")
        assert (result.observation["text"], result.observation["task"]) == (first, task.id)
        assert (result.reward, result.done) == (None, False)
        for command in info["expert_plan"]:
            assert not result.done
            result = client.step({"command": command})
            text, reward, *_ = env.step(command)
            assert (result.observation["text"], result.reward) == (text, reward)
        assert (result.reward, result.done, result.observation["won"]) == (1.0, True, True)
        assert client.state() == {
            "episode_id": "mine",
            "step_count": len(info["expert_plan"]),
            "task": task.id,
            "split": "test",
            "seed": 0,
            "reward": 1.0,
            "won": True,
            "done": True,
        }
        with pytest.raises(RuntimeError, match="reset first"):
            client.step({"command": "inventory"})
        assert client.reset(seed=0, task=task.id).observation["text"] == first


@pytest.mark.parametrize("env_id", BUNDLED)
def test_sessions__interleaved_give_the_bytes_of_local_environments(env_id: str):
    count, turns = 64 if env_id == WORLD else 8, 6
    rng = random.Random(0)
    app = create_app(env_id, admissible=True)
    with TestClient(app, base_url="http://localhost") as client, ExitStack() as stack:
        sockets = [stack.enter_context(client.websocket_connect("/ws")) for _ in range(count)]
        local = [gym.make(env_id, admissible=True) for _ in range(count)]
        infos: list[Any] = [None] * count
        for seed in rng.sample(range(count), count):
            text, infos[seed] = local[seed].reset(seed=seed)
            assert text == ask(sockets[seed], "reset", seed=seed)["data"]["observation"]["text"]
        over: set[int] = set()
        for index in rng.sample([*range(count)] * turns, count * turns):
            if index in over:
                continue
            command = rng.choice([*infos[index]["admissible_commands"], NONSENSE])
            text, reward, terminated, truncated, info = local[index].step(command)
            infos[index] = info
            if terminated or truncated:
                over.add(index)
            assert ask(sockets[index], "step", command=command)["data"] == {
                "observation": {
                    "text": text,
                    "task": info["task"],
                    "won": info["won"],
                    "invalid_reason": info.get("invalid_reason"),
                    "admissible_commands": info["admissible_commands"],
                    "metadata": {},
                },
                "reward": reward,
                "done": terminated or truncated,
            }


def test_routes__tell_of_the_world_and_its_tasks(client: TestClient):
    assert client.get("/metadata").json()["name"] == WORLD
    assert client.get("/metadata").json()["readme_content"].startswith("Craft one item")
    assert client.get("/schema").json()["action"]["required"] == ["command"]
    assert set(client.get("/schema").json()["state"]["properties"]) >= {
        "task",
        "split",
        "seed",
        "reward",
    }
    assert client.get("/list_environments").json() == [WORLD]
    assert [split["name"] for split in client.get(f"/{WORLD}/splits").json()] == [
        "test",
        "train",
        "dev",
        "all",
    ]
    ids = [task.id for task in tasks(WORLD, "test")]
    body = {"split": "test"}
    assert client.post(f"/{WORLD}/num_tasks", json=body).json() == {"num_tasks": len(ids)}
    assert [task["id"] for task in client.post(f"/{WORLD}/tasks", json=body).json()["tasks"]] == ids
    some = client.post(f"/{WORLD}/task_range", json={**body, "start": -2}).json()["tasks"]
    assert [(task["id"], task["index"]) for task in some] == [
        (ids[-2], len(ids) - 2),
        (ids[-1], len(ids) - 1),
    ]
    assert client.post(f"/{WORLD}/task", json={**body, "index": 3}).json() == {
        "task": {"id": ids[3], "index": 3, "group": tasks(WORLD, "test")[3].group}
    }


def test_routes__answer_mistakes_with_what_is_expected(client: TestClient):
    def refusal(path: str, **body: Any) -> tuple[int, str]:
        answer = client.post(path, json=body)
        return answer.status_code, str(answer.json()["detail"])

    assert refusal(f"/{WORLD}/task", split="test", index=200) == (400, "Invalid task index")
    assert refusal(f"/{WORLD}/task", split="test", index=-1) == (400, "Invalid task index")
    status, reason = refusal(f"/{WORLD}/num_tasks", split="/etc/passwd:train")
    assert (status, "Possible: test, train, dev, all" in reason) == (400, True)
    status, reason = refusal("/step", action={"command": "inventory"})
    assert (status, "/ws" in reason) == (409, True)
    status, reason = refusal("/reset", taks="minecraft:beehive")
    assert (status, "Did you mean task?" in reason) == (400, True)
    assert refusal("/reset", task="minecraft:nothing")[0] == 400
    assert refusal("/reset", task=["minecraft:beehive"])[0] == 400
    assert refusal("/reset", task="minecraft:beehive", split="test", index=0)[0] == 400
    assert client.post("/reset", json={"task": "minecraft:beehive", "seed": 0}).status_code == 200


def test_session__lives_on_after_mistakes(client: TestClient):
    with client.websocket_connect("/ws") as socket:
        assert ask(socket, "state")["data"]["done"] is True
        before = ask(socket, "step", command="inventory")
        assert (before["type"], before["data"]["code"]) == ("error", "EXECUTION_ERROR")
        assert before["data"]["message"] == "the episode is over, or none has started: reset first"
        first = ask(socket, "reset", seed=0, index=3)["data"]["observation"]
        for code, kind, data in (
            ("VALIDATION_ERROR", "step", {"command": 5}),
            ("VALIDATION_ERROR", "step", {"action": "inventory"}),
            ("VALIDATION_ERROR", "step", {"command": "x" * (MAX_COMMAND + 1)}),
            ("VALIDATION_ERROR", "reset", {"seed": "one"}),
            ("VALIDATION_ERROR", "reset", {"seed": -1}),
            ("VALIDATION_ERROR", "reset", {"episode_id": "x" * 300}),
            ("EXECUTION_ERROR", "reset", {"split": "dve"}),
            ("EXECUTION_ERROR", "reset", {"split": "d\ud800e"}),
            ("EXECUTION_ERROR", "reset", {"task": "\ud800"}),
            ("EXECUTION_ERROR", "reset", {"\ud800": 1}),
            ("EXECUTION_ERROR", "reset", {"index": True}),
            ("EXECUTION_ERROR", "reset", {"index": 10**6}),
            ("UNKNOWN_TYPE", "leave", {}),
        ):
            answer = ask(socket, kind, **data)
            assert (answer["type"], answer["data"]["code"]) == ("error", code)
        answer = ask(socket, "step", command="no\ud800thing")["data"]["observation"]
        assert answer["invalid_reason"] == "unknown_action"
        assert (
            ask(socket, "step", command="I look.\nAction: inventory")["data"]["observation"][
                "invalid_reason"
            ]
            is None
        )
        assert ask(socket, "state")["data"]["step_count"] == 2
        assert (
            ask(socket, "reset", seed=0, task=first["task"], episode_id="\ud800")["data"][
                "observation"
            ]
            == first
        )
        assert ask(socket, "state")["data"]["episode_id"] == "?"


def test_session__is_over_at_the_limit_of_steps():
    session = TextEnvironment(ServedWorld("ALFWorld-v0", max_steps=3))
    session.reset(seed=0)
    action = TextAction(command="look")
    assert [session.step(action).done for _ in range(3)] == [False, False, True]
    assert (session.state.step_count, session.state.done, session.state.won) == (3, True, False)


def test_session__plays_worlds_of_others():
    with TestClient(create_app(SAY, loudly=True), base_url="http://localhost") as client:
        assert [split["name"] for split in client.get(f"/{SAY}/splits").json()] == ["short"]
        with client.websocket_connect("/ws") as socket:
            assert (
                ask(socket, "reset", split="short", index=1)["data"]["observation"]["task"] == "ho"
            )
            assert ask(socket, "step", command="HO")["data"]["reward"] == 1.0
    with TestClient(create_app(GUESS), base_url="http://localhost") as client:
        assert client.get(f"/{GUESS}/splits").status_code == 501
        with client.websocket_connect("/ws") as socket:
            text = ask(socket, "reset", seed=1)["data"]["observation"]["text"]
            assert text == TextEpisode(GUESS).reset(seed=1)
            assert ask(socket, "reset", split="all")["data"]["code"] == "EXECUTION_ERROR"
            assert ask(socket, "step", command="1")["data"]["done"] is True


def test_app__refuses_what_cannot_be_made():
    for wrong in (
        {"env_id": "TextCraft-v9"},
        {"env_id": WORLD, "split": "tset"},
        {"env_id": WORLD, "distractor": 3},
    ):
        with pytest.raises(ValueError, match="unknown"):
            create_app(**wrong)


def test_sessions__that_are_not_used_are_closed(monkeypatch: pytest.MonkeyPatch):
    # OpenEnv looks for them every five seconds at most; this is the bound that it takes the maximum
    # with.
    monkeypatch.setattr(http_server, "max", lambda *bounds: 0.01, raising=False)
    app = create_app(WORLD, max_sessions=1, session_seconds=0.05)
    with (
        TestClient(app, base_url="http://localhost") as client,
        client.websocket_connect("/ws") as idle,
    ):
        ask(idle, "reset", seed=0)
        assert wait_for(lambda: opens(client))
        for kind, data in (("reset", {"seed": 0}), ("step", {"command": "inventory"})):
            assert "connect again" in ask(idle, kind, **data)["data"]["message"]


def opens(client: TestClient) -> bool:
    with client.websocket_connect("/ws") as socket:
        return bool(ask(socket, "state")["type"] == "state")


def wait_for(holds: Any) -> bool:
    for _ in range(200):
        if holds():
            return True
        time.sleep(0.05)
    return False


def test_server__frees_the_sessions_of_clients_that_vanish_and_survives_what_they_send(
    address: str,
):
    asyncio.run(asyncio.wait_for(faults(address.replace("http", "ws") + "/ws"), 60))


async def faults(url: str) -> None:
    """Fill the server, misbehave, vanish, and find all of it free again."""
    sockets = [await opened(url) for _ in range(64)]
    async with connect(url) as one_more:
        assert json.loads(await one_more.recv())["data"]["code"] == "CAPACITY_REACHED"
    wrong = (
        "{",
        "[]",
        "null",
        '{"type": "step", "data": 5}',
        "[" * 100_000,
        '{"type": "reset", "data": {"seed": 1e400}}',
    )
    for socket, text in zip(sockets, wrong, strict=False):
        assert (await say(socket, text))["type"] == "error"
    with pytest.raises(ConnectionClosed):
        await say(sockets[-1], {"type": "step", "data": {"command": "x" * 10_000_000}})
    await sockets[-2].send(b"\xff\x00")
    await vanish(sockets)
    sockets = [await opened(url) for _ in range(64)]
    answer = await say(sockets[-1], {"type": "step", "data": {"command": "inventory"}})
    assert answer["type"] == "observation"
    await vanish(sockets)


async def opened(url: str) -> ClientConnection:
    """Return a session after its reset; those that were left are freed soon."""
    for _ in range(200):
        socket = await connect(url, compression=None)
        with suppress(ConnectionClosed):
            if (await say(socket, {"type": "reset", "data": {"seed": 0}}))["type"] == "observation":
                return socket
        await socket.close()
        await asyncio.sleep(0.05)
    raise AssertionError("no session has become free")


async def vanish(sockets: list[ClientConnection]) -> None:
    for socket in sockets:
        socket.transport.abort()
        await socket.wait_closed()


async def say(socket: ClientConnection, message: Any) -> Any:
    await socket.send(message if isinstance(message, str) else json.dumps(message))
    return json.loads(await socket.recv())


@pytest.fixture
def _collected() -> Iterator[None]:
    """Have the event loops that a test leaves open warn in it, and not in a later test that sets
    another one."""
    yield
    asyncio.set_event_loop(None)
    gc.collect()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not limit descriptors")
def test_server__has_descriptors_for_others_when_all_sessions_are_open():
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))"
    serve = ["textcraft-gym", "serve", "openenv", "--env", WORLD, "--port", "0"]
    command = [
        sys.executable,
        "-c",
        f"{few}; import sys; from textcraft_gym.cli.main import main; sys.argv = {serve}; main()",
    ]

    async def fill(address: str) -> tuple[list[str], int]:
        ended = []
        async with AsyncExitStack() as stack:
            sockets = []
            for _ in range(160):
                with suppress(OSError, InvalidHandshake):
                    url = f"{address.replace('http', 'ws')}/ws"
                    sockets.append(await stack.enter_async_context(connect(url, open_timeout=60)))
            for place, socket in enumerate(sockets):
                with suppress(ConnectionClosed):
                    await socket.send(json.dumps({"type": "reset", "data": {"seed": place}}))
                with suppress(ConnectionClosed):
                    answer = json.loads(await socket.recv())
                    ended.append(answer["data"].get("code", answer["type"]))
            answer = await asyncio.to_thread(urlopen, f"{address}/health")
            answer.close()
        return ended, answer.status

    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        line = process.stdout.readline()
        assert "for up to 64 connections and 48 sessions" in line
        try:
            answers, status = asyncio.run(
                fill(next(word for word in line.split() if word.startswith("http://")))
            )
        finally:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
    assert status == 200
    assert answers.count("observation") == 48
    assert set(answers) == {"observation", "CAPACITY_REACHED"}
    assert "Traceback" not in errors


@pytest.mark.usefixtures("_collected")
@pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning"
)  # the library of the page leaves event loops open
def test_page__has_buttons_and_a_picture():
    with TestClient(create_app("Tabletop-v0", web=True), base_url="http://localhost") as client:
        assert "Tabletop-v0, played with OpenEnv" in client.get("/web/").text
        commands = client.post("/web/reset", json={"seed": 0}).json()["observation"][
            "admissible_commands"
        ]
        played = client.post("/web/step", json={"action": {"command": commands[-1]}}).json()
        assert (played["observation"]["invalid_reason"], played["done"]) == (None, False)
    session = TextEnvironment(ServedWorld("Tabletop-v0", admissible=True))
    observation = session.reset(seed=0).model_dump()
    assert session.web_actions(observation) == [
        (command, {"command": command}) for command in commands
    ]
    assert str(session.render_web(observation)).startswith("<img ")
    words = TextEnvironment(ServedWorld(WORLD))
    assert words.render_web(words.reset(seed=0).model_dump()) is None


OPEN_ROUTES = [
    *(
        "/",
        "/docs",
        "/health",
        "/list_environments",
        "/mcp",
        "/metadata",
        "/openapi.json",
        "/redoc",
        "/reset",
    ),
    *(
        "/schema",
        "/state",
        "/step",
        "/web",
        "/web/",
        "/web/metadata",
        "/web/reset",
        "/web/state",
        "/web/step",
    ),
    *("/ws", "/ws/ui", "/x/num_tasks", "/x/splits", "/x/task", "/x/task_range", "/x/tasks"),
    *("/web/assets/x", "/web/favicon.ico", "/web/manifest.json", "/web/static/x", "/web/theme.css"),
    *("/web/gradio_api/cancel", "/web/gradio_api/heartbeat/x"),
    *("/web/gradio_api/queue/data", "/web/gradio_api/queue/join"),
]


def paths_of(routes: Any, above: str = "") -> Iterator[str]:
    """Yield the path of every route, also of those within others, with ``x`` for each parameter."""
    for route in routes:
        path = above + re.sub(r"\{[^}]*\}", "x", getattr(route, "path", ""))
        within = getattr(route, "original_router", None) or getattr(route, "app", None)
        if hasattr(within, "routes"):
            yield from paths_of(within.routes, path)
        else:
            yield path


@pytest.mark.usefixtures("_collected")
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_routes__are_open_by_a_list():
    app = create_app(WORLD, web=True)
    paths = set(paths_of(app.routes))
    is_open = re.compile(f"{OPEN}|{OPEN_ON_THE_PAGE}").fullmatch
    assert sorted(filter(is_open, paths)) == sorted(OPEN_ROUTES)
    closed = paths - set(OPEN_ROUTES)
    assert {
        "/web/gradio_api/upload",
        "/web/gradio_api/file=x",
        "/web/login",
        "/web/monitoring",
    } <= closed
    with TestClient(app, base_url="http://localhost") as client:
        for path in closed:
            for method in ("GET", "POST"):
                answer = client.request(method, path, follow_redirects=False)
                assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"}), path
    with TestClient(create_app(WORLD), base_url="http://localhost") as client:
        assert client.get("/web/", follow_redirects=False).status_code == 404
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws/ui"):
            pass


def test_sessions__are_opened_by_connections_alone():
    with TestClient(create_app(WORLD, max_sessions=1), base_url="http://localhost") as client:
        for _ in range(2):
            body = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {}}
            answer = client.post("/mcp", json=body)
            assert answer.json()["error"]["code"] == -32601
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/mcp"):
            pass
        with client.websocket_connect("/ws") as socket:
            assert ask(socket, "reset", seed=0)["type"] == "observation"


def test_page__is_played_in_a_browser(browser: Any):
    command = [
        sys.executable,
        "-m",
        "textcraft_gym",
        "serve",
        "openenv",
        "--env",
        WORLD,
        "--port",
        "0",
        "--web",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        line = process.stdout.readline()
        try:
            browser.get(next(word for word in line.split() if word.startswith("http://")))
            wait = WebDriverWait(browser, 60)
            wait.until(
                expected_conditions.element_to_be_clickable((By.XPATH, "//button[text()='Reset']"))
            ).click()
            wait.until(
                expected_conditions.text_to_be_present_in_element(
                    (By.TAG_NAME, "body"), "Crafting commands"
                )
            )
        finally:
            process.kill()


def test_folder__is_valid_and_its_client_plays(address: str):
    command = [
        sys.executable,
        "-m",
        "openenv.cli",
        "validate",
        str(FOLDER),
        "--level",
        "static",
        "--skip-build",
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "Verdict: PASS" in result.stdout, result
    spec = importlib.util.spec_from_file_location("text_worlds", FOLDER / "__init__.py")
    assert spec
    assert spec.loader
    package = sys.modules["text_worlds"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    with package.TextWorlds(base_url=address).sync() as world:
        result = world.reset(seed=0, split="test", index=3)
        assert result.observation.text == TextEpisode(WORLD).reset(tasks(WORLD, "test")[3].id, 0)
        result = world.step(package.TextAction(command="no such thing"))
        assert (result.observation.invalid_reason, result.reward, result.done) == (
            "unknown_action",
            0.0,
            False,
        )
        assert world.state().step_count == 1


def test_folder__serves_what_its_variables_say():
    variables = {
        **os.environ,
        "ENV_ID": "ALFWorld-v0",
        "ENV_ARGS": "split=train",
        "HOST": "127.0.0.1",
        "PORT": "0",
    }
    command = [sys.executable, "-m", "server.app"]
    with subprocess.Popen(
        command,
        cwd=FOLDER,
        env={**variables, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        address = process.stdout.readline().split()[-1]
        with GenericEnvClient(base_url=address).sync() as client:
            assert client.reset(seed=0).observation["text"] == TextEpisode(
                "ALFWorld-v0", split="train"
            ).reset(seed=0)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_page_of_the_docs__plays(address: str, capsys: pytest.CaptureFixture[str]):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(code.replace("http://127.0.0.1:8000", address), {})
    first = TextEpisode(WORLD).reset(tasks(WORLD, "test")[3].id, 0)
    assert capsys.readouterr().out == f"{first}\nFalse 100\n"
