"""The Dockerfile without Docker: its instructions are followed in an empty folder that stands for
the root."""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OFFLINE = {
    "PIP_NO_INDEX": "1",
    "PIP_NO_DEPS": "1",
    "PIP_NO_BUILD_ISOLATION": "0",  # pip turns the meaning of this one around
    "PIP_QUIET": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


def instructions() -> Iterator[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for line in re.sub(r"\\\n", "", text).splitlines():
        if line.strip() and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            yield word, rest


def ignored(name: str) -> bool:
    """Return whether a name at the top of the checkout is left out of the context of the build."""
    rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert rules[0] == "**"
    return f"!{name}" not in rules


@dataclass
class Stage:
    """What the instructions of a stage made.

    Attributes:
        root: The folder that stands for its root.
        python: The virtual environment that stands for its Python.
        work: Its working folder.
        env: Its variables.
        entry: The words of ``ENTRYPOINT``.
        words: The words of ``CMD``.
        user: Its user.
    """

    root: Path
    python: Path
    work: Path
    env: dict[str, str] = field(default_factory=dict)
    entry: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    user: str = "root"

    def run(self, command: str | list[str]) -> str:
        path = os.pathsep.join([str(self.python / "bin"), os.environ["PATH"]])
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "VIRTUAL_ENV")
        }
        env = {**kept, **OFFLINE, **self.env, "PATH": path}
        done = subprocess.run(
            command,
            cwd=self.work,
            env=env,
            shell=isinstance(command, str),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout


def new_stage(folder: Path) -> Stage:
    """Return an empty root, and a Python with the packages that the tests run with, but without
    this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "python"], check=True)
    (packages,) = (folder / "python").glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text("\n".join(site.getsitepackages()) + "\n", encoding="utf-8")
    pip = folder / "python" / "bin" / "pip"
    pip.write_text('#!/bin/sh\nexec python -m pip "$@"\n', encoding="utf-8")
    pip.chmod(0o755)
    root = folder / "root"
    root.mkdir()
    return Stage(root, folder / "python", root)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Follow the Dockerfile and return its last stage."""
    if os.name == "nt":
        pytest.skip("the commands of an image are those of a POSIX shell")
    stages: dict[str, Stage] = {}
    arguments: dict[str, str] = {}
    stage: Stage | None = None
    for word, rest in instructions():
        if word == "ARG":
            name, _, value = rest.partition("=")
            arguments[name] = value
            if stage:
                stage.env[name] = value
            continue
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            version = re.fullmatch(
                r"python:(\d+)\.(\d+)-slim", base.replace("${PYTHON}", arguments["PYTHON"])
            )
            assert version, base
            assert (3, 10) <= (int(version[1]), int(version[2])) <= (3, 13)
            stage = stages[name] = new_stage(tmp_path_factory.mktemp("stage"))
            continue
        assert stage
        if word == "WORKDIR":
            stage.work = stage.root / rest.lstrip("/")
            stage.work.mkdir(parents=True, exist_ok=True)
        elif word == "COPY":
            *froms, to = rest.split()
            origin = None
            if froms[0].startswith("--from="):
                origin = stages[froms.pop(0).removeprefix("--from=")].root
            for copied in froms:
                assert origin or not ignored(copied), f"{copied} is left out by .dockerignore"
                source = origin / copied.lstrip("/") if origin else ROOT / copied
                target = stage.work / to / (source.name if to.endswith("/") else "")
                without = shutil.ignore_patterns("__pycache__")
                copy = (
                    shutil.copytree(source, target, symlinks=True, ignore=without)
                    if source.is_dir()
                    else None
                )
                assert copy or shutil.copy(source, target)
        elif word == "RUN":
            assert not re.search(r"(^|[\s=])/", rest), (
                f"{rest} names a path outside its working folder"
            )
            stage.run(rest)
        elif word == "ENV":
            name, _, value = rest.partition("=")
            stage.env[name] = value
        elif word == "USER":
            stage.user = rest
        elif word in ("ENTRYPOINT", "CMD"):
            setattr(stage, "entry" if word == "ENTRYPOINT" else "words", json.loads(rest))
        else:
            raise AssertionError(f"the test does not know {word}")
    assert stage
    stage.env["TEXTCRAFT_GYM_CACHE"] = str(
        stage.root / stage.env["TEXTCRAFT_GYM_CACHE"].lstrip("/")
    )
    return stage


def test_image__shows_the_commands_of_its_own_installation(image: Stage):
    assert "evaluate" in image.run([*image.entry, *image.words])
    (home,) = (image.python / "lib").glob("python*/site-packages/textcraft_gym")
    assert (
        image.run(["python", "-c", "import textcraft_gym as home; print(home.__file__)"])
        == f"{home}/__init__.py\n"
    )


def test_image__evaluates_into_its_working_folder_as_any_user(image: Stage):
    arguments = (
        "evaluate --env TextCraft-v0 --split test --agent expert --limit 2 --out expert --no-table"
    )
    image.run([*image.entry, *arguments.split()])
    lines = (image.work / "expert" / "episodes.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["won"] for line in lines] == [True, True]
    assert image.work.stat().st_mode & 0o777 == 0o777
    assert image.user.partition(":")[0] not in ("", "0", "root")


def test_dockerfile__has_extras_that_exist_and_all_folders_of_the_package():
    config = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    extras = set(
        re.findall(r"^(\w+) =$", config.partition("[options.extras_require]")[2], re.MULTILINE)
    )
    (wanted,) = (
        rest.partition("=")[2] for word, rest in instructions() if rest.startswith("EXTRAS=")
    )
    assert set(wanted.split(",")) <= extras - {"shop"}, (
        "the shop listens on the container's own loopback address only"
    )
    mapped = re.findall(
        r"^    [\w.]+ = (\w+)",
        config.partition("package_dir =")[2].partition("packages =")[0],
        re.M,
    )
    copied = {name for word, rest in instructions() if word == "COPY" for name in rest.split()}
    assert set(mapped) <= copied
