"""Solutions: plans as functions in numbered steps, as the models of AdaPlanner write them.

    def solution(agent, start_from=1):
        if start_from <= 1:
            print('[Step 1] take the mug')
            agent.take('mug 1', 'desk 1')
            assert agent.holding == 'mug 1', f'Error in [Step 1]: no mug. {agent.report()}'

A refined solution starts from the step whose assertion failed.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from textcraft_gym.agents.program.interpreter import Names
from textcraft_gym.agents.program.parse import ProgramError, parse_program
from textcraft_gym.replies import code_block

NAME, START = "solution", "start_from"
HEAD = f"def {NAME}(agent, {START}=1):"


class Solution(NamedTuple):
    """A solution as it was written and as it is run."""

    source: str
    program: ast.Module


def source_of(text: str) -> str:
    """Return the source of the function in a completion, which may go on from the head of it."""
    source = code_block(text, containing=f"def {NAME}").strip("\n")
    if f"def {NAME}" in source:
        return source
    if not source[:1].isspace():  # some models leave out the spaces of the first line
        source = f"    {source}"
    return f"{HEAD}\n{source}"


def read_solution(source: str) -> Solution:
    """Return a solution.

    Raises:
        ProgramError: If it cannot be parsed, or has no function of the form.
    """
    program = parse_program(source)
    for statement in program.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == NAME:
            return Solution(source, program)
    raise ProgramError(f"there is no function {HEAD}")


def explained(error: ProgramError, source: str) -> str:
    """Return why a solution failed, as it is told to the model: where and what."""
    lines = source.split("\n")
    if error.line is None or error.line > len(lines):
        return str(error)
    return f"In line {error.line}, {lines[error.line - 1].strip()}\n{error}"


def step_of(node: ast.If) -> int | None:
    """Return the step that ``if start_from <= 2`` begins; None for another condition."""
    match node.test:
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[ast.LtE()],
            comparators=[ast.Constant(value=int() as number)],
        ) if name == START:
            return number
    return None


def title_of(node: ast.If) -> str:
    """Return the text that a step prints first, else its number in brackets."""
    match node.body[0]:
        case ast.Expr(
            value=ast.Call(func=ast.Name(id="print"), args=[ast.Constant(value=str() as title)])
        ):
            return title
    return f"[Step {step_of(node)}]"


def carried(names: Names) -> Names:
    """Return the variables that a broken run leaves to the next: the texts, numbers and lists."""
    return {name: value for name, value in names.items() if type(value) in (bool, int, str, list)}
