"""Importing registers the environments and does nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import textcraft_gym
from textcraft_gym.registration import SUITE


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_import__opens_no_file_but_modules_and_no_socket():
    code = """
import sys, gymnasium, importlib.metadata
seen = []
def watch(event, args):
    if event == "open" and not str(args[0]).endswith((".py", ".pyc")) and "__pycache__" not in str(args[0]):
        seen.append(args[0])
    if event.startswith(("socket", "subprocess", "urllib")):
        seen.append(event)
sys.addaudithook(watch)
import textcraft_gym
print(seen)
gymnasium.make("TextCraft-v0")
print(len(seen))
"""
    at_import, after_make = run(code).splitlines()
    assert at_import == "[]"
    assert (
        int(after_make) >= 2
    )  # the watch works: making an environment reads the two files of the bundle


def test_import__leaves_logging_and_heavy_modules_alone():
    code = """
import sys, logging
before = (logging.root.level, list(logging.root.handlers), logging.root.manager.disable)
import textcraft_gym
assert before == (logging.root.level, list(logging.root.handlers), logging.root.manager.disable)
print([name for name in ("rich", "typer", "prompt_toolkit", "scipy", "torch", "requests") if name in sys.modules])
"""
    assert run(code).strip() == "[]"


def test_import__registers_every_id_of_the_table():
    code = (
        "import gymnasium as g; before = set(g.registry);"
        "import textcraft_gym; print(sorted(set(g.registry) - before))"
    )
    assert run(code).strip() == str(sorted(SUITE))


def test_version__is_the_distributions():
    from importlib.metadata import version

    assert textcraft_gym.__version__ == version("textcraft-gym")


def test_public_names__are_known_to_type_checkers():
    tree = ast.parse(Path(textcraft_gym.__file__).read_text(encoding="utf-8"))
    imports = [node for block in tree.body if isinstance(block, ast.If) for node in block.body]
    homes = {
        alias.name: node.module
        for node in imports
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(homes) == sorted(textcraft_gym.__all__)
    for name, module in homes.items():
        assert getattr(textcraft_gym, name) is getattr(import_module(str(module)), name)
