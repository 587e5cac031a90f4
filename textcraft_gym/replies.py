"""Reading what models write: a turn's command and thought, a block of code, a yes or no.

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

_REASONING = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning|scratchpad|inner_monologue)"
_CLOSINGS = re.compile(
    rf"</{_REASONING}>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>",
    re.IGNORECASE,
)
_OPENINGS = re.compile(
    rf"<{_REASONING}>|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>",
    re.IGNORECASE,
)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_CONTROL_TOKEN = re.compile(
    r"<\|[\w/ ]{1,40}\|>|</?s>|<(?:end_of_turn|start_of_turn|eos|bos)>|\[/?INST\]"
)

_ACTION = r"(?:(?:the |my )?(?:next|final|chosen|best) |my )?(?:action|act|command)(?: is)? ?\d*"
_LABEL = re.compile(
    rf"[*_#> ]*(?:thoughts?\b.*\W)?{_ACTION}[*_ ]*[:\uff1a][*_]*(.*)",
    re.IGNORECASE,
)
_HEADING = re.compile(rf"#+ *[*_]*{_ACTION}[*_ ]*", re.IGNORECASE)
_TAG = re.compile(
    r"<(action|command|answer|act)>([^<]*)</\1>|\[\[(?!\[)((?:(?!\[\[).)+?)\]\](?!\])|"
    r"\\boxed\{([^{}\n]+)\}",
    re.IGNORECASE,
)
_OBSERVED = re.compile(
    r"[*_#> ]*(?:observation|obs|environment|game|result|output)\b ?\d*[*_ ]*[:\uff1a]",
    re.I,
)
_THOUGHT = re.compile(
    r"[*_#> ]*(?:think|thoughts?|reasoning)\b ?\d*[*_ ]*(?:[:\uff1a]|\[)[*_ ]*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:[-*•+]|\(?\d{1,3}[.):]|step \d{1,3}[.:)]?)\s+", re.IGNORECASE)
_FENCE = re.compile(r"[`~]{3,}\w*")
_BLOCK = re.compile(r"^[^\n`]*```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL | re.MULTILINE)
_MARKED = re.compile(r"(`{1,3}|\"|'|\*{1,3}|_{1,2})(.+)\1|“(.+)”|\u2018(.+)\u2019|«(.+)»")
_INLINE = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\"([^\"\n]+)\"|“([^“”\n]+)”")
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
        """The action, else a thought in the papers' form, which some games take; else empty."""
        return self.action or (self.thought if self.thought.lower().startswith(_THINK) else "")


def split_reasoning(reply: str) -> Answer:
    """Divide a reply into reasoning and answer.

    Reasoning stands in ``<think>`` and its like. The opening tag may be missing, since chat
    templates write it; without a closing one the model was cut off while it thought.
    """
    # Most replies have no tag, which is seen without the patterns.
    if not any(bracket in reply for bracket in "<[◁"):
        return Answer("", reply)
    before, final, after = reply.rpartition(_FINAL_CHANNEL)
    if final:
        return Answer(_CONTROL_TOKEN.sub("\n", before).strip(), after.partition("<|")[0])

    end = 0
    for closing in _CLOSINGS.finditer(reply):
        end = closing.end()
    answer = reply[end:]
    opening = _OPENINGS.search(answer)
    if opening:
        reasoning = reply[:end] + answer[opening.start() :]
        return Answer(reasoning.strip(), answer[: opening.start()])
    if not end:
        return Answer("", reply)
    if not answer.strip():
        # It answered before it thought, or not at all.
        first = _OPENINGS.search(reply)
        if first and reply[: first.start()].strip():
            return Answer(reply[first.start() :].strip(), reply[: first.start()])
    return Answer(_OPENINGS.sub("", _CLOSINGS.sub("", reply[:end])).strip(), answer)


def first_line(text: str) -> str:
    """Return the first line of a text without ``>``, as the papers' programs read a turn."""
    return (text.strip().splitlines() or [""])[0][:MAX_COMMAND].strip().removeprefix(">").strip()


def code_block(text: str, containing: str = "") -> str:
    """Return the code in a reply.

    It is the first fenced block that contains a text, else the first, else the whole reply.
    """
    blocks: list[str] = _BLOCK.findall(text)
    for block in blocks:
        if containing in block:
            return block
    return blocks[0] if blocks else text


def plain_text(text: str) -> str:
    """Return a reply without headings, bullets, bold, code marks and fences."""
    lines = []
    for line in text.splitlines():
        if not _FENCE.fullmatch(line.strip()):
            line = re.sub(r"^\s*(?:#+|[-*•+])\s+", "", line)
            lines.append(re.sub(r"\*\*|`", "", line))
    return "\n".join(lines)


def says_done(text: str) -> bool:
    """Return whether a reply begins with done, marked or not."""
    return re.match(r"\W*done\b", text, re.IGNORECASE) is not None


def decision(text: str) -> bool | None:
    """Return the yes or no of a reply: that of its first line, else of its last; None without."""
    lines = [line for line in split_reasoning(text).text.splitlines() if line.strip()]
    for line in (*lines[:1], *lines[-1:]):
        # Behind a label first: "Is it solved: no".
        behind = line.rpartition(":")[2]
        for part in (behind, line):
            if match := re.match(r"\W*(yes|no)\b", part, re.IGNORECASE):
                return match[1].lower() == "yes"
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
        >>> last_command("Thought 2: the desk.\nAction 2: **go to desk 1**\nObservation 2: Done.")
        'go to desk 1'
        >>> last_command("<think>Is it? Action: look</think>\n```\nopen drawer 2\n```\nThen look.")
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
        self,
        reply: str,
        answered: Collection[tuple[str, str]] = (),
        *,
        strict: bool = False,
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
            if line.lower().startswith(_THINK):
                return Turn("", line)
            return Turn(line, known=self.is_known(line))
        text = _CONTROL_TOKEN.sub("", split_reasoning(reply).text[:MAX_REPLY]).strip()
        bare = text.removeprefix(">").strip()
        if "\n" not in text and self._is_bare(bare):
            return self._bare(bare)

        lines = text.splitlines()
        position, action = self._find(text, lines, answered)
        if not action:
            return self._fallback(lines[: self._end(lines)])
        thought = _one_line(lines[:position])
        action = (self.canonical(action) or action)[:MAX_COMMAND].strip()
        return Turn(action, thought, mended=action != bare, known=self.is_known(action))

    def canonical(self, line: str) -> str | None:
        """Return a line as a command in the game's spelling; None if it has no known form."""
        for form in self.forms:
            if command := form.canonical(line):
                return command
        return None

    def is_known(self, action: str) -> bool:
        """Return whether an action begins as one of the game's commands; True if none are known."""
        return not self.forms or any(form.begins(action) for form in self.forms)

    def call(self, name: str, arguments: Any) -> str | None:
        """Return the command of a call by a verb's name; None if it has no such verb or arguments.

        Args:
            name: The name of a form.
            arguments: An object by parameters' names, or a list of values in order.
        """
        forms = [form for form in self.forms if form.name == name.lower()]
        # Those of most parameters first: a longer form uses more of the arguments.
        for form in sorted(forms, key=lambda form: -len(form.parameters)):
            named = arguments
            if isinstance(arguments, list):
                fits = len(arguments) == len(form.parameters)
                # Arguments that do not fit do not matter to a verb that takes none.
                named = dict(zip(form.parameters, arguments, strict=True)) if fits else {}
            if isinstance(named, Mapping) and (command := form.fill(named)):
                return command
        return None

    def _is_bare(self, line: str) -> bool:
        """Return whether a line is a command or a thought, and nothing else."""
        if self.canonical(line) == line:
            return True
        return bool(_THOUGHT.match(line)) and not _LABEL.match(line)

    def _bare(self, line: str) -> Turn:
        line = line[:MAX_COMMAND].strip()
        if line.lower().startswith(_THINK):
            return Turn("", line)
        thought = _THOUGHT.match(line)
        return Turn("", line[thought.end() :], mended=True) if thought else Turn(line)

    def _find(
        self,
        text: str,
        lines: list[str],
        answered: Collection[tuple[str, str]],
    ) -> tuple[int, str]:
        """Return the first command and the number of its line; empty if there is none."""
        end = self._end(lines, answered)
        # The surest marks first: words that merely look like a command may be talk about it.
        for kind in (
            self._tagged,
            self._object,
            self._called,
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

    def _end(
        self,
        lines: list[str],
        answered: Collection[tuple[str, str]] = (),
    ) -> int:
        """Return the number of the line at which an imagined answer begins."""
        real = {answer for _, answer in answered}
        for number, line in enumerate(lines[1:], 1):
            label = _OBSERVED.match(line)
            if label and line[label.end() :].strip() not in real:
                return number
        return len(lines)

    def _tagged(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """Yield commands in tags, in double brackets and in boxes."""
        for number, line in enumerate(lines):
            if tag := _TAG.search(line):
                yield number, (tag[2] or tag[3] or tag[4]).strip()

    def _object(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """Yield the command of the first JSON object."""
        text = "\n".join(lines)
        start = text.find("{")
        if start >= 0 and (named := self._of_object(text[start:])):
            yield text.count("\n", 0, start), named

    def _called(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """Yield commands written as calls of a verb."""
        for number, line in enumerate(lines):
            if "(" not in line:
                continue
            call = _CALL.fullmatch(_unmarked(line).removeprefix("action:").strip())
            if call and (command := self.call(call[1], _arguments(call[2]))):
                yield number, command

    def _of_object(self, text: str) -> str:
        """Return the command of the JSON object at the start of a text; empty if it has none."""
        try:
            value, _ = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            return ""
        if not isinstance(value, Mapping):
            return ""
        if isinstance(value.get("function"), Mapping):  # as servers write a call of a tool
            value = value["function"]
        arguments = value.get("arguments", value.get("parameters", value.get("action_input")))
        for key in ("name", "tool", *_JSON_KEYS):
            name = value.get(key)
            if isinstance(name, str):
                if isinstance(arguments, str):
                    arguments = _arguments(arguments)
                whole = "" if arguments else first_line(name)
                return self.call(name, arguments) or whole
        return ""

    def _labelled(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """Yield what follows a label such as ``Action:``, on its line or the next with a text."""
        for number, line in enumerate(lines):
            label = _LABEL.fullmatch(line.strip())
            if label or _HEADING.fullmatch(line.strip()):
                rest = [label[1] if label else "", *lines[number + 1 :]]
                if text := next(_texts(rest), None):
                    yield number, self._command(text)

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
        # A number or bullet is dropped only before a known command: others may begin with one.
        number = _NUMBER.match(command)
        if number and self.canonical(_unmarked(command[number.end() :])):
            command = _unmarked(command[number.end() :])
        call = _CALL.fullmatch(command) if self.forms else None
        if call and (named := self.call(call[1], _arguments(call[2]))):
            return named
        return command

    def _fallback(self, lines: list[str]) -> Turn:
        """Return the turn of a reply without a marked command: one of its lines, or a thought."""
        spoken = _spoken(lines)
        if not spoken:
            return Turn(known=not self.forms)
        rest = [line for line in spoken[1:] if not _THOUGHT.match(line)]
        if _THOUGHT.match(spoken[0]) and (self.forms or not rest):
            return Turn("", _one_line(spoken), mended=True)

        # A game whose commands are known gets the first line, as the papers' programs read it; else
        # the last is likelier to be the command.
        chosen = spoken[0]
        if not self.forms and len(spoken) > 1:
            chosen = (rest or spoken)[-1]
        command = self._command(chosen)[:MAX_COMMAND].strip()
        whole = "\n".join(lines).strip()
        is_whole = command in (whole, whole.removeprefix(">").strip())
        return Turn(command, mended=not is_whole, known=self.is_known(command))


def _texts(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that have a text, fences left out."""
    for line in lines:
        if line.strip() and not _FENCE.fullmatch(line.strip()):
            yield line


def _spoken(lines: Iterable[str]) -> list[str]:
    """Return the lines that say something, without marks and labels that stand alone."""
    spoken = []
    for line in _texts(lines):
        if line.strip(" >*`") and not _LABEL.fullmatch(line.strip()):
            spoken.append(line)
    return spoken


def _unmarked(line: str) -> str:
    """Return a line without a ``>`` before it, and without marks and quotes around it."""
    command = line.strip()
    # Marks may be nested, as in **`look`**.
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
    pairs = []
    for match in _ARGUMENT.finditer(written[:MAX_COMMAND]):
        if match[0].strip():
            pairs.append((match[1], match[2].strip("\"'")))
    if pairs and all(name for name, _ in pairs):
        return dict(pairs)
    return [value for _, value in pairs]
