"""Reading what models write: the command of a turn, what was thought before it, a block of code, a yes or no.

Chat models rarely answer with the bare line that a paper's prompt asks for. They think aloud,
label, number, quote and fence the command, write it as JSON or as a call, and go on with what the
game might answer. One reader finds the command in all of that; a bare line is returned as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from textcraft_gym.commands import CommandForm

MAX_REPLY = 100_000
"""Maximum number of characters of an answer that are read for a command."""
MAX_COMMAND = 2000
"""Maximum number of characters of a command; the rest is cut off."""

_CLOSINGS = re.compile(
    r"</(?:seed:)?(?:think|thinking|thoughts?|reasoning|scratchpad|inner_monologue)>|\[/THINK\]|◁/think▷|"
    r"<\|END_THINKING\|>|<\|end_of_thought\|>",
    re.IGNORECASE,
)
_OPENINGS = re.compile(
    r"<(?:seed:)?(?:think|thinking|thoughts?|reasoning|scratchpad|inner_monologue)>|\[THINK\]|◁think▷|"
    r"<\|START_THINKING\|>|<\|begin_of_thought\|>",
    re.IGNORECASE,
)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_CONTROL_TOKEN = re.compile(
    r"<\|[\w/ ]{1,40}\|>|</?s>|<(?:end_of_turn|start_of_turn|eos|bos)>|\[/?INST\]"
)

_ACTION = r"(?:(?:the |my )?(?:next|final|chosen|best) |my )?(?:action|act|command)(?: is)? ?\d*"
_LABEL = re.compile(
    rf"[*_#> ]*(?:thoughts?\b.*\W)?{_ACTION}[*_ ]*[:\uff1a][*_]*(.*)", re.IGNORECASE
)
_HEADING = re.compile(rf"#+ *[*_]*{_ACTION}[*_ ]*", re.IGNORECASE)
_TAG = re.compile(
    r"<(action|command|answer|act)>([^<]*)</\1>|\[\[(?!\[)(.+?)\]\](?!\])|\\boxed\{([^{}\n]+)\}",
    re.IGNORECASE,
)
_OBSERVED = re.compile(
    r"[*_#> ]*(?:observation|obs|environment|game|result|output)\b ?\d*[*_ ]*[:\uff1a]", re.I
)
_THOUGHT = re.compile(
    r"[*_#> ]*(?:think|thoughts?|reasoning)\b ?\d*[*_ ]*(?:[:\uff1a]|\[)[*_ ]*", re.IGNORECASE
)
_NUMBER = re.compile(r"(?:[-*•+]|\(?\d{1,3}[.):]|step \d{1,3}[.:)]?)\s+", re.IGNORECASE)
_FENCE = re.compile(r"[`~]{3,}\w*")
_BLOCK = re.compile(r"^[^\n`]*```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL | re.MULTILINE)
_MARKED = re.compile(r"(`{1,3}|\"|'|\*{1,3}|_{1,2})(.+)\1|“(.+)”|\u2018(.+)\u2019|«(.+)»")
_INLINE = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\"([^\"\n]+)\"|“([^”\n]+)”")
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_ARGUMENT = re.compile(
    r"\s*(?:(\w+)\s*[=:]\s*)?(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^,]+?)\s*(?:,|$)"
)
_THINK = ("think:", "think[")
"""Prefixes of a thought in the papers' form, in lower case."""
_JSON_KEYS = ("action", "command", "next_action", "act", "move")


class Answer(NamedTuple):
    """An answer of a model, divided into what it thought and what it said."""

    reasoning: str
    text: str


class Turn(NamedTuple):
    """What a model does in a turn.

    Attributes:
        action: The command; empty if there is none.
        thought: What stands before it, on one line.
        mended: Whether the reply was more, or other, than the bare command or thought.
        known: Whether the action begins as one of the game's commands does, as far as these are
            known.
    """

    action: str = ""
    thought: str = ""
    mended: bool = False
    known: bool = True

    @property
    def line(self) -> str:
        """The action, else the thought as a line of the papers' form."""
        return self.command or f"think: {self.thought}"

    @property
    def command(self) -> str:
        """The action, else a thought in the papers' form, which some games take; empty if there is neither."""
        return self.action or (self.thought if self.thought.lower().startswith(_THINK) else "")


def split_reasoning(reply: str) -> Answer:
    """Divide a reply into reasoning and answer.

    Reasoning stands in ``<think>`` and its like. The opening tag may be missing, since chat
    templates write it; without a closing one the model was cut off while it thought.
    """
    if "<" not in reply and "[" not in reply and "◁" not in reply:
        return Answer("", reply)
    before, final, after = reply.rpartition(_FINAL_CHANNEL)
    if final:
        return Answer(_CONTROL_TOKEN.sub("\n", before).strip(), after.partition("<|")[0])
    end = 0
    for closing in _CLOSINGS.finditer(reply):
        end = closing.end()
    said = reply[end:]
    opening = _OPENINGS.search(said)
    if opening:
        return Answer((reply[:end] + said[opening.start() :]).strip(), said[: opening.start()])
    if (
        end
        and not said.strip()
        and (first := _OPENINGS.search(reply))
        and reply[: first.start()].strip()
    ):
        return Answer(
            reply[first.start() :].strip(), reply[: first.start()]
        )  # it answered before it thought
    return (
        Answer(_OPENINGS.sub("", _CLOSINGS.sub("", reply[:end])).strip(), said)
        if end
        else Answer("", reply)
    )


def first_line(text: str) -> str:
    """Return the first line of a text without ``>`` before it, as the papers' programs read a turn."""
    return (text.strip().splitlines() or [""])[0][:MAX_COMMAND].strip().removeprefix(">").strip()


def code_block(text: str, containing: str = "") -> str:
    """Return the code in a reply: the first fenced block that contains a text, else the first, else all of it."""
    blocks: list[str] = _BLOCK.findall(text)
    return next((block for block in blocks if containing in block), blocks[0]) if blocks else text


def plain_text(text: str) -> str:
    """Return a reply without the marks that chat models put around lines: headings, bullets, bold, code and fences."""
    lines = (line for line in text.splitlines() if not _FENCE.fullmatch(line.strip()))
    return "\n".join(
        re.sub(r"\*\*|`", "", re.sub(r"^\s*(?:#+|[-*•+])\s+", "", line)) for line in lines
    )


def says_done(text: str) -> bool:
    """Return whether a reply begins with done, marked or not."""
    return re.match(r"\W*done\b", text, re.IGNORECASE) is not None


def decision(text: str) -> bool | None:
    """Return the yes or no of a reply: the first word, else the last line's; None if it says neither."""
    lines = [line for line in split_reasoning(text).text.splitlines() if line.strip()]
    for line in (*lines[:1], *lines[-1:]):
        said = re.sub(r"^.*:(?=[^:]*$)", "", line) if ":" in line else line
        if found := re.match(r"\W*(yes|no)\b", said, re.IGNORECASE) or re.match(
            r"\W*(yes|no)\b", line, re.IGNORECASE
        ):
            return found[1].lower() == "yes"
    return None


def last_command(reply: str) -> str:
    r"""Return the command in a reply of a chat model; empty if there is none.

    It is the first that the game has not answered: what follows an imagined ``Observation:`` does
    not count. See ``CommandReader``, which knows a game's commands and finds them where nothing
    marks them.

    Args:
        reply: The whole reply.

    Examples:
        >>> last_command("I need planks first.\n\nAction: get 1 oak log")
        'get 1 oak log'
        >>> last_command("Thought 2: the desk may have it.\nAction 2: **go to desk 1**\nObservation 2: Done.")
        'go to desk 1'
        >>> last_command("<think>Is it open? Action: look</think>\n```\nopen drawer 2\n```\nThen I will look inside.")
        'open drawer 2'
        >>> last_command("> inventory")
        'inventory'
    """
    return CommandReader().read(reply).command


class CommandReader:
    """Reads the command of a turn.

    Args:
        forms: The forms of the game's commands; without any a command is known by its marks alone.
    """

    def __init__(self, forms: Iterable[CommandForm] = ()) -> None:
        self.forms = tuple(forms)

    def read(
        self, reply: str, answered: Collection[tuple[str, str]] = (), *, strict: bool = False
    ) -> Turn:
        """Return the turn in a reply: its first command that the game has not answered yet.

        Args:
            reply: The whole reply, with or without reasoning in tags.
            answered: The commands played so far with the first line of each answer. A model that
                repeats them is not taken at its word again.
            strict: Whether to take the first line as it is, as the papers' programs do.
        """
        if strict:
            line = first_line(reply)
            return (
                Turn("", line)
                if line.lower().startswith(_THINK)
                else Turn(line, known=self.is_known(line))
            )
        text = _CONTROL_TOKEN.sub("", split_reasoning(reply).text[:MAX_REPLY]).strip()
        bare = text.removeprefix(">").strip()
        if "\n" not in text and (
            self.canonical(bare) == bare or (_THOUGHT.match(bare) and not _LABEL.match(bare))
        ):
            return self._bare(bare)
        lines = text.splitlines()
        position, action = self._find(text, lines, answered)
        if not action:
            return self._fallback(lines[: self._end(lines)])
        thought = _one_line(lines[:position])
        action = (self.canonical(action) or action)[:MAX_COMMAND].strip()
        return Turn(action, thought, mended=action != bare, known=self.is_known(action))

    def canonical(self, line: str) -> str | None:
        """Return the command that a line is, in the game's spelling; None if it has none of the known forms."""
        for form in self.forms:
            if command := form.canonical(line):
                return command
        return None

    def is_known(self, action: str) -> bool:
        """Return whether an action begins as one of the game's commands does; True where these are not known."""
        return not self.forms or any(form.begins(action) for form in self.forms)

    def call(self, name: str, arguments: Any) -> str | None:
        """Return the command of a call by a verb's name; None if there is no such verb, or an argument is missing.

        Args:
            name: The name of a form.
            arguments: An object by parameters' names, or a list of values in order.
        """
        forms = sorted(
            (form for form in self.forms if form.name == name.lower()),
            key=lambda f: -len(f.parameters),
        )
        for form in forms:
            given = arguments
            if isinstance(arguments, list):
                given = (
                    dict(zip(form.parameters, arguments, strict=False))
                    if len(arguments) == len(form.parameters)
                    else {}
                )
            if isinstance(given, Mapping) and (command := form.fill(given)):
                return command
        return None

    def _bare(self, line: str) -> Turn:
        line = line[:MAX_COMMAND].strip()
        if line.lower().startswith(_THINK):
            return Turn("", line)
        thought = _THOUGHT.match(line)
        return Turn("", line[thought.end() :], mended=True) if thought else Turn(line)

    def _find(
        self, text: str, lines: list[str], answered: Collection[tuple[str, str]]
    ) -> tuple[int, str]:
        """Return the first command, and the number of the line that it stands on; empty if there is none."""
        end = self._end(lines, answered)
        for kind in (
            self._objects,
            self._labelled,
            self._fenced,
            self._prompted,
            self._plain,
            self._inline,
        ):
            for position, action in kind(lines[:end]):
                following = next((line for line in lines[position + 1 :] if line.strip()), "")
                if action and (action, _after_label(following)) not in answered:
                    return position, action
        return 0, ""

    def _end(self, lines: list[str], answered: Collection[tuple[str, str]] = ()) -> int:
        """Return the number of the line at which an imagined answer begins."""
        real = {answer for _, answer in answered}
        for number, line in enumerate(lines):
            if (
                number
                and (label := _OBSERVED.match(line))
                and line[label.end() :].strip() not in real
            ):
                return number
        return len(lines)

    def _objects(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """Yield commands in JSON objects, in tags, in double brackets and in calls of a verb."""
        for number, line in enumerate(lines):
            if tag := _TAG.search(line):
                yield number, (tag[2] or tag[3] or tag[4]).strip()
        text = "\n".join(lines)
        start = text.find("{")
        if start >= 0 and (named := self._of_object(text[start:])):
            yield text.count("\n", 0, start), named
        for number, line in enumerate(lines):
            found = (
                _CALL.fullmatch(_unmarked(line).removeprefix("action:").strip())
                if "(" in line
                else None
            )
            if found and (command := self.call(found[1], _arguments(found[2]))):
                yield number, command

    def _of_object(self, text: str) -> str:
        """Return the command of the JSON object at the start of a text; empty if it has none."""
        try:
            value, _ = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            return ""
        if not isinstance(value, Mapping):
            return ""
        function = value.get("function")
        value = function if isinstance(function, Mapping) else value
        arguments = value.get("arguments", value.get("parameters", value.get("action_input")))
        for key in ("name", "tool", *_JSON_KEYS):
            if isinstance(value.get(key), str):
                if isinstance(arguments, str):
                    arguments = _arguments(arguments)
                return self.call(value[key], arguments) or (
                    "" if arguments else first_line(value[key])
                )
        return ""

    def _labelled(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """Yield what follows a label such as ``Action:`` on its line, or on the next that has a text."""
        for number, line in enumerate(lines):
            label = _LABEL.fullmatch(line.strip())
            if label or _HEADING.fullmatch(line.strip()):
                rest = [label[1] if label else "", *lines[number + 1 :]]
                found = next(_texts(rest), None)
                if found:
                    yield number, self._command(found)

    def _fenced(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """Yield the lines of code blocks."""
        inside = False
        for number, line in enumerate(lines):
            if _FENCE.fullmatch(line.strip()):
                inside = not inside
            elif inside and (command := self._command(line)) and not _THOUGHT.match(line):
                yield number, command

    def _prompted(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """Yield lines after ``>``, as the prompts write a turn; thoughts are none.

        A command on the first line stands behind the mark at which the prompt ended.
        """
        marked = any(line.lstrip().startswith(">") for line in lines[1:])
        if marked and self.forms and self.canonical(self._command(lines[0])):
            yield 0, self._command(lines[0])
        for number, line in enumerate(lines):
            if line.lstrip().startswith(">") and not _THOUGHT.match(line):
                yield number, self._command(line)

    def _plain(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """Yield lines that have the form of a command."""
        for number, line in enumerate(lines):
            command = self._command(line)
            if self.forms and self.canonical(command):
                yield number, command

    def _inline(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """Yield marked words within a line that have the form of a command."""
        for number, line in enumerate(lines if self.forms else ()):
            for marked in _INLINE.finditer(line):
                command = next(filter(None, marked.groups())).strip()
                if self.canonical(command):
                    yield number, command

    def _command(self, line: str) -> str:
        """Return a line without what stands around a command."""
        command = _unmarked(line)
        numbered = _NUMBER.sub("", command, count=1)
        if numbered != command and self.canonical(_unmarked(numbered)):
            command = _unmarked(numbered)
        if (
            self.forms
            and (call := _CALL.fullmatch(command))
            and (named := self.call(call[1], _arguments(call[2])))
        ):
            return named
        return command

    def _fallback(self, lines: list[str]) -> Turn:
        """Return the turn of a reply in which nothing marks a command: a line of it, or a thought alone."""
        spoken = [
            line
            for line in _texts(lines)
            if line.strip(" >*`") and not _LABEL.fullmatch(line.strip())
        ]
        if not spoken:
            return Turn(known=not self.forms)
        thought = next((found for line in spoken[:1] if (found := _THOUGHT.match(line))), None)
        rest = [line for line in spoken[1:] if not _THOUGHT.match(line)]
        if thought and (self.forms or not rest):
            return Turn("", _one_line(spoken), mended=True)
        line = self._command(spoken[0] if self.forms or len(spoken) == 1 else (rest or spoken)[-1])[
            :MAX_COMMAND
        ].strip()
        whole = "\n".join(lines).strip()
        return Turn(
            line,
            mended=line not in (whole, whole.removeprefix(">").strip()),
            known=self.is_known(line),
        )


def _texts(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that have a text, fences left out."""
    for line in lines:
        if line.strip() and not _FENCE.fullmatch(line.strip()):
            yield line


def _unmarked(line: str) -> str:
    """Return a line without a ``>`` before it, and without marks and quotes around it."""
    command = line.strip()
    for _ in range(4):
        before = command
        command = command.removeprefix(">").strip().strip("*").strip()
        if marked := _MARKED.fullmatch(command):
            command = next(filter(None, marked.groups()[1:]), "").strip()
        if command == before:
            break
    return command


def _one_line(lines: Sequence[str]) -> str:
    """Return what stands before a command as one line, without labels."""
    texts = [_THOUGHT.sub("", line, count=1) for line in _texts(lines)]
    return " ".join(" ".join(texts).split())[:MAX_COMMAND].rstrip(" :")


def _after_label(line: str) -> str:
    label = _OBSERVED.match(line)
    return line[label.end() :].strip() if label else line.strip()


def _arguments(written: str) -> Any:
    """Return the arguments of a call as written: an object for named ones, else a list."""
    try:
        value = json.loads(written) if written.strip() else []
        return value if isinstance(value, Mapping | list) else [value]
    except (ValueError, RecursionError):
        pass
    values = [
        (found[1], found[2].strip("\"'"))
        for found in _ARGUMENT.finditer(written[:MAX_COMMAND])
        if found[0].strip()
    ]
    if values and all(name for name, _ in values):
        return dict(values)
    return [value for _, value in values]
