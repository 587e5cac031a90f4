"""Writes the mean of several adapters, factor by factor.

    python examples/language_model/average.py runs/a/adapter.gguf runs/b/adapter.gguf --out FILE

A training that goes on from another forgets some of what that knew; their mean is often better than
both (Wortsman et al., "Model soups", 2022, arXiv 2203.05482). The mean of two factors is that of
what they do together only while the adapters are close, as those of such trainings are.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from adapter import read_tensors, write_tensors


def average(files: Sequence[Path], out: Path) -> None:
    """Write the mean of some adapters.

    Args:
        files: The GGUF files of the adapters.
        out: The file to write, in half precision; it names no training data.

    Raises:
        ValueError: If a file is no adapter, or has other factors than the first.
        OSError: If a file cannot be read or written.
    """
    adapters = [*map(_read, files)]
    shapes = [*map(_shapes, adapters)]
    for file, found in zip(files, shapes, strict=True):
        if found != shapes[0]:
            raise ValueError(f"{file} has other factors than {files[0]}")
    mean = {name: np.mean([tensors[name] for tensors in adapters], axis=0) for name in shapes[0]}
    write_tensors(mean, out)


def _read(file: Path) -> dict[str, np.ndarray]:
    try:
        return read_tensors(file)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _shapes(tensors: dict[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in tensors.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the mean."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="the adapters")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    options = parser.parse_args(arguments)
    try:
        average(options.files, options.out)
    except (OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
