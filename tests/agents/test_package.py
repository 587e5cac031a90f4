"""The package of the agents: its names, and what importing them costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import textcraft_gym
from textcraft_gym import agents
from textcraft_gym.agents.registry import AGENTS, find_agent

MODULES = sorted(Path(agents.__path__[0]).rglob("*.py"))


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def modules_after(statement: str) -> set[str]:
    return set(
        run(
            f"{statement}; import sys; print(*[name for name in sys.modules if 'm.agents' in name])"
        ).split()
    )


def test_import__of_react_takes_few_modules():
    assert 1 < len(modules_after("import textcraft_gym.agents.adapt.react")) <= 12


def test_import__of_react_and_its_profile_parses_no_recipes():
    code = """
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.agents.games.minetechtree.knowledge import ways
make_agent("react", profile="minetechtree")
print(ways.cache_info().misses)
"""
    assert run(code) == "0"


def test_import__of_the_registry_takes_no_agent():
    modules = modules_after("import textcraft_gym.agents.registry")
    assert "textcraft_gym.agents.registry" in modules
    assert not modules & {path.partition(":")[0] for path in AGENTS.values()}


def test_modules__are_not_named_after_the_standard_librarys():
    assert len(MODULES) > 40
    assert [path for path in MODULES if path.stem in sys.stdlib_module_names] == []


def test_names__are_imported_when_they_are_asked_for():
    assert {find_agent(name).__name__ for name in AGENTS} <= set(agents.__all__)
    assert set(agents.__all__) <= set(dir(agents))
    assert agents.ADaPTAgent is import_module("textcraft_gym.agents.adapt.adapt").ADaPTAgent
    with pytest.raises(AttributeError, match="ADAPTAgent"):
        _ = agents.ADAPTAgent


@pytest.mark.parametrize("package", [agents, textcraft_gym])
def test_names__are_those_that_type_checkers_read(package: ModuleType):
    """Its imports, most of them for type checkers alone, are its names, each from the module that
    it comes from."""
    tree = ast.parse(Path(package.__path__[0], "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    homes = {
        alias.name: node.module
        for node in imports
        for alias in node.names
        if "textcraft_gym" in str(node.module)
    }
    assert homes.keys() - {"register_suite"} == set(package.__all__)
    for name, home in homes.items():
        assert getattr(package, name) is getattr(import_module(str(home)), name)
