"""Programs that models write, interpreted node by node within an allow-list and never executed.

Allowed are integers, texts, f-strings without formats and flat lists, variables, arithmetic,
comparisons, ``and``, ``or``, ``not``, ``if``, ``for``, ``while``, ``assert`` with a message,
``pass``, ``break``, ``continue``, ``return`` and functions, whose parameters may have defaults.
There are no subscripts and no built-in functions but ``range``, ``min``, ``max``, ``len``,
``print``, which prints nothing, and ``literal_eval``. A call of any other name is an action.
Nothing is imported: ``from actions import ...`` does nothing, and is allowed only where the caller
says so. Only the objects that the caller gives have attributes, such as ``agent``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

from textcraft_gym.agents.contract.agent import Request
from textcraft_gym.agents.program.parse import ProgramError
from textcraft_gym.agents.program.values import (
    AGENT,
    FUNCTIONS,
    MAX_TEXT,
    Value,
    apply,
    binary,
    bounded,
    compare,
    formatted,
    size,
    unary,
)

MAX_STEPS = 5_000
"""Maximum number of nodes that a program may evaluate."""
MAX_WORK = 500_000
"""Maximum number of characters and list items that a program may make, read or compare in all.

With the number of nodes it bounds time and memory, on a slow machine as on a fast one.
"""
MAX_DEPTH = 50
"""Maximum depth of blocks and expressions, through all functions being called."""

Names: TypeAlias = dict[str, Value]
"""The variables of a function, by name."""
Action: TypeAlias = Callable[[str, list[Value]], Generator[Request, Any, Value]]
"""Plays ``name(*arguments)`` and returns its value."""
Section: TypeAlias = Callable[[ast.If], AbstractContextManager[None]]
"""Returns the context in which the body of an ``if`` runs."""


ACTIONS = "actions"
"""The module from which a program may import its actions, where the caller allows it."""

_CONSTANTS = (type(None), bool, int, str)


class Steered(Protocol):
    """What stands behind an object of a program, such as ``agent``."""

    def attribute(self, name: str) -> Value:
        """Return the value of an attribute; ProgramError if there is none of that name."""

    def call(
        self,
        name: str,
        arguments: list[Value],
    ) -> Generator[Request, Any, Value]:
        """Call a method and return its value; ProgramError if there is none of that name."""


class Function(NamedTuple):
    """One of the program's own functions, with the values of its defaults."""

    node: ast.FunctionDef
    defaults: Names

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters."""
        return [argument.arg for argument in self.node.args.args]


class _Return(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class Interpreter:
    """Runs one program.

    Args:
        action: Plays the calls of names that are neither built-in nor the program's own functions.
        agent: What stands behind the value ``AGENT``; None if no value has attributes.
        section: Returns the context in which the body of an ``if`` runs.
        objects: The objects that have attributes wherever their names are written.
        imports: Whether ``from actions import ...`` is allowed.
    """

    def __init__(
        self,
        action: Action,
        agent: Steered | None = None,
        section: Section = lambda _: nullcontext(),
        *,
        objects: Mapping[str, Steered] = MappingProxyType({}),
        imports: bool = False,
    ) -> None:
        self.action = action
        self.agent = agent
        self.section = section
        self.objects = objects
        self.imports = imports
        self.functions: dict[str, Function] = {}
        self.steps = self.work = self.depth = 0

    def run(self, program: ast.Module) -> Generator[Request, Any, None]:
        """Run a program, then its functions without parameters that nothing calls.

        Raises:
            ProgramError: If it uses something that is not allowed, an assertion fails, or it
                exceeds a bound.
        """
        # Outside functions and loops these end the program, as its last statement would.
        with suppress(_Return, _Break, _Continue):
            yield from self._block(program.body, {})
            called = _called_names(program)
            # Models define plan() and forget to call it. A copy, since running a function may
            # define others.
            for name, function in list(self.functions.items()):
                if name not in called and not function.parameters:
                    yield from self._enter(function, {})

    def run_function(
        self,
        program: ast.Module,
        name: str,
        names: Names,
    ) -> Generator[Request, Any, Value]:
        """Run one function of a program and nothing else at its top level, and return its value.

        Args:
            program: The program.
            name: The function.
            names: Its variables at the start, the arguments among them; it changes this table, so
                that the caller has its variables even if it breaks off.

        Raises:
            ProgramError: As for ``run``, also if there is no such function or an argument is
                missing.
        """
        # Models add calls of the function, with arguments that only the caller has.
        for statement in program.body:
            if isinstance(statement, ast.FunctionDef):
                yield from self._statement(statement, {})
        if name not in self.functions:
            raise ProgramError(f"there is no function {name}")
        function = self.functions[name]
        for parameter in function.parameters:
            if parameter not in names:
                names[parameter] = self._name(parameter, function.defaults)
        return (yield from self._enter(function, names))

    def _block(
        self,
        body: list[ast.stmt],
        names: Names,
    ) -> Generator[Request, Any, None]:
        self._descend()
        try:
            for statement in body:
                yield from self._statement(statement, names)
        finally:
            self.depth -= 1

    def _statement(
        self,
        node: ast.stmt,
        names: Names,
    ) -> Generator[Request, Any, None]:
        try:
            self._count()
            yield from self._do(node, names)
        except ProgramError as error:
            error.line = error.line or node.lineno
            raise

    def _do(
        self,
        node: ast.stmt,
        names: Names,
    ) -> Generator[Request, Any, None]:
        if isinstance(node, ast.Expr):
            yield from self._value(node.value, names)
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            yield from self._assign(node, names)
        elif isinstance(node, ast.If):
            yield from self._if(node, names)
        elif isinstance(node, (ast.For, ast.While)) and not node.orelse:
            yield from self._loop(node, names)
        elif isinstance(node, ast.Assert):
            yield from self._assert(node, names)
        elif isinstance(node, ast.FunctionDef):
            self.functions[node.name] = yield from self._function(node, names)
        elif isinstance(node, ast.Return):
            yield from self._return(node, names)
        else:
            self._jump(node)

    def _jump(self, node: ast.stmt) -> None:
        """Play a statement that evaluates nothing."""
        if isinstance(node, ast.Break):
            raise _Break
        if isinstance(node, ast.Continue):
            raise _Continue
        does_nothing = isinstance(node, ast.Pass)
        if isinstance(node, ast.ImportFrom) and node.module == ACTIONS:
            does_nothing = self.imports
        if not does_nothing:
            raise ProgramError(f"{type(node).__name__} is not allowed")

    def _if(
        self,
        node: ast.If,
        names: Names,
    ) -> Generator[Request, Any, None]:
        if (yield from self._value(node.test, names)):
            with self.section(node):
                yield from self._block(node.body, names)
        else:
            yield from self._block(node.orelse, names)

    def _return(
        self,
        node: ast.Return,
        names: Names,
    ) -> Generator[Request, Any, None]:
        value = None
        if node.value:
            value = yield from self._value(node.value, names)
        raise _Return(value)

    def _assert(
        self,
        node: ast.Assert,
        names: Names,
    ) -> Generator[Request, Any, None]:
        if not (yield from self._value(node.test, names)):
            if node.msg is None:
                raise ProgramError(f"the assertion {_source(node.test)} failed")
            raise ProgramError(formatted((yield from self._value(node.msg, names))))

    def _assign(
        self,
        node: ast.Assign | ast.AugAssign,
        names: Names,
    ) -> Generator[Request, Any, None]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        target = targets[0]
        if not isinstance(target, ast.Name) or len(targets) > 1:
            raise ProgramError("only a name can be assigned to")
        value = yield from self._value(node.value, names)
        if isinstance(node, ast.AugAssign):
            value = self._make(binary(node.op, self._name(target.id, names), value))
        names[target.id] = value

    def _loop(
        self,
        node: ast.For | ast.While,
        names: Names,
    ) -> Generator[Request, Any, None]:
        try:
            if isinstance(node, ast.While):
                while (yield from self._value(node.test, names)):
                    yield from self._round(node.body, names)
                return
            if not isinstance(node.target, ast.Name):
                raise ProgramError("only a name can be assigned to")
            values = yield from self._value(node.iter, names)
            if not isinstance(values, list):
                raise ProgramError("only a list can be gone through")
            for value in values:
                names[node.target.id] = value
                yield from self._round(node.body, names)
        except _Break:
            return

    def _round(
        self,
        body: list[ast.stmt],
        names: Names,
    ) -> Generator[Request, Any, None]:
        with suppress(_Continue):
            yield from self._block(body, names)

    def _value(
        self,
        node: ast.expr,
        names: Names,
    ) -> Generator[Request, Any, Value]:
        self._count()
        self._descend()
        try:
            return (yield from self._evaluate(node, names))
        finally:
            self.depth -= 1

    def _evaluate(
        self,
        node: ast.expr,
        names: Names,
    ) -> Generator[Request, Any, Value]:
        if isinstance(node, ast.Constant) and type(node.value) in _CONSTANTS:
            return bounded(node.value)
        if isinstance(node, ast.Name):
            return self._name(node.id, names)
        if isinstance(node, ast.Attribute):
            return self._make(self._steered(node, names).attribute(node.attr))
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._make((yield from self._values(node.elts, names)))
        if isinstance(node, ast.JoinedStr):
            return self._make((yield from self._joined(node, names)))
        if isinstance(node, ast.IfExp):
            test = yield from self._value(node.test, names)
            return (yield from self._value(node.body if test else node.orelse, names))
        if isinstance(node, ast.Call):
            return (yield from self._call(node, names))
        return (yield from self._operation(node, names))

    def _operation(
        self,
        node: ast.expr,
        names: Names,
    ) -> Generator[Request, Any, Value]:
        if isinstance(node, ast.BinOp):
            left, right = yield from self._values([node.left, node.right], names)
            return self._make(binary(node.op, left, right))
        if isinstance(node, ast.BoolOp):
            return (yield from self._and_or(node, names))
        if isinstance(node, ast.UnaryOp):
            return bounded(unary(node.op, (yield from self._value(node.operand, names))))
        if isinstance(node, ast.Compare):
            return (yield from self._compare(node, names))
        raise ProgramError(f"{type(node).__name__} is not allowed")

    def _and_or(
        self,
        node: ast.BoolOp,
        names: Names,
    ) -> Generator[Request, Any, Value]:
        """Return the first operand that decides ``and`` or ``or``, else the last."""
        value = None
        decisive = isinstance(node.op, ast.Or)  # a true operand decides ``or``, a false one ``and``
        for operand in node.values:
            value = yield from self._value(operand, names)
            if bool(value) == decisive:
                break
        return value

    def _compare(
        self,
        node: ast.Compare,
        names: Names,
    ) -> Generator[Request, Any, Value]:
        """Return the first comparison that fails, else the last; ``1 < n < 3`` has two."""
        left, holds = (yield from self._value(node.left, names)), True
        for operation, comparator in zip(node.ops, node.comparators, strict=True):
            right = yield from self._value(comparator, names)
            self._charge(left, right)
            holds = compare(operation, left, right)
            if not holds:
                break
            left = right
        return holds

    def _joined(
        self,
        node: ast.JoinedStr,
        names: Names,
    ) -> Generator[Request, Any, str]:
        """Return the text of an f-string."""
        text = ""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                # f"{1:1000000}" would be a cheap way to use up memory.
                if part.format_spec or part.conversion == ord("a"):
                    raise ProgramError("an f-string has no formats")
                value = yield from self._value(part.value, names)
                text += formatted(value, quoted=part.conversion == ord("r"))
            else:
                text += yield from self._value(part, names)
            if len(text) > MAX_TEXT:
                raise ProgramError("a text is too long")
        return text

    def _values(
        self,
        nodes: list[ast.expr],
        names: Names,
    ) -> Generator[Request, Any, list[Value]]:
        values = []
        for node in nodes:
            value = yield from self._value(node, names)
            values.append(value)
        return values

    def _call(
        self,
        node: ast.Call,
        names: Names,
    ) -> Generator[Request, Any, Value]:
        called = [keyword.arg for keyword in node.keywords if keyword.arg]
        if len(called) < len(node.keywords):
            raise ProgramError("** is not allowed")
        if isinstance(node.func, ast.Attribute):
            method, steered = node.func.attr, self._steered(node.func, names)
            arguments = yield from self._arguments(node, names)
            return self._make((yield from steered.call(method, arguments)))
        if not isinstance(node.func, ast.Name):
            raise ProgramError("only a name can be called")
        name = node.func.id
        arguments = yield from self._arguments(node, names)
        # As in Python, a function of the program hides the built-in one of its name.
        if name in self.functions:
            return (yield from self._call_own(self.functions[name], arguments, called))
        if name in FUNCTIONS:
            if called and name != "print":  # which takes anything, since it prints nothing
                raise ProgramError(f"{name} takes no arguments with names")
            self._charge(*arguments)
            return self._make(apply(FUNCTIONS[name], *arguments))
        return self._make((yield from self.action(name, arguments)))

    def _arguments(
        self,
        node: ast.Call,
        names: Names,
    ) -> Generator[Request, Any, list[Value]]:
        """Return the arguments in the order in which they are written, those with names last."""
        named = [keyword.value for keyword in node.keywords]
        return (yield from self._values([*node.args, *named], names))

    def _call_own(
        self,
        function: Function,
        arguments: list[Value],
        called: list[str],
    ) -> Generator[Request, Any, Value]:
        """Call one of the program's own functions; the last arguments are ``called`` by name."""
        parameters = function.parameters
        plain = len(arguments) - len(called)
        given = [*parameters[:plain], *called]
        if plain > len(parameters) or len({*given}) < len(given) or not {*given} <= {*parameters}:
            raise ProgramError(
                f"{function.node.name} takes {', '.join(parameters) or 'no arguments'}"
            )
        names = {**function.defaults, **dict(zip(given, arguments, strict=True))}
        missing = [parameter for parameter in parameters if parameter not in names]
        if missing:
            raise ProgramError(f"{function.node.name} needs {', '.join(missing)}")
        return (yield from self._enter(function, names))

    def _enter(
        self,
        function: Function,
        names: Names,
    ) -> Generator[Request, Any, Value]:
        """Run the body of a function with its variables."""
        try:
            yield from self._block(function.node.body, names)
        except _Return as returned:
            return returned.value
        except (_Break, _Continue) as error:
            raise ProgramError("there is no loop to break or to continue") from error
        return None

    def _function(
        self,
        node: ast.FunctionDef,
        names: Names,
    ) -> Generator[Request, Any, Function]:
        """Return a function if it has plain parameters only, and no decorators."""
        args = node.args
        if node.decorator_list or args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs:
            raise ProgramError(f"{node.name} has more than plain parameters")
        defaults = yield from self._values(args.defaults, names)
        named = [argument.arg for argument in args.args[len(args.args) - len(defaults) :]]
        return Function(node, dict(zip(named, defaults, strict=True)))

    def _name(self, name: str, names: Names) -> Value:
        if name not in names:
            raise ProgramError(f"there is no {name}")
        return names[name]

    def _steered(self, node: ast.Attribute, names: Names) -> Steered:
        """Return what has an attribute: an object, or the agent, by a name of it."""
        if isinstance(node.value, ast.Name) and node.value.id in self.objects:
            return self.objects[node.value.id]
        if not isinstance(node.value, ast.Name) or self.agent is None:
            raise ProgramError(f"only {' and '.join(self.objects) or 'agent'} has attributes")
        if self._name(node.value.id, names) is not AGENT:
            raise ProgramError(f"only agent has attributes, and {node.value.id} is not agent")
        return self.agent

    def _make(self, value: Value) -> Value:
        """Return a value that an operation made, if it is within the bounds."""
        self._charge(bounded(value))
        return value

    def _charge(self, *values: Value) -> None:
        """Count the characters and items that an operation makes, or is about to go through."""
        self.work += sum(map(size, values))
        if self.work > MAX_WORK:
            raise ProgramError(
                f"the program goes through more than {MAX_WORK} characters and items"
            )

    def _descend(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            # The caller's ``finally`` is not reached.
            self.depth -= 1
            raise ProgramError(f"it goes more than {MAX_DEPTH} deep")

    def _count(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise ProgramError(f"the program goes on for more than {MAX_STEPS} steps")


def _called_names(program: ast.Module) -> set[str]:
    """Return the names of the functions that a program calls anywhere."""
    names: set[str] = set()
    for node in ast.walk(program):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            names.add(node.func.id)
    return names


def _source(node: ast.expr) -> str:
    """Return the source of an expression, or its line number if it is nested too deeply."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return f"in line {node.lineno}"
