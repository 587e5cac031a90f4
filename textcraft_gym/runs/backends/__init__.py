"""Backends, which play a run's episodes: in this process, in others, or on a Ray cluster."""

from textcraft_gym.errors import UnknownName
from textcraft_gym.runs.backends.backend import Backend, BackendError
from textcraft_gym.runs.backends.loop import LoopBackend
from textcraft_gym.runs.backends.process import ProcessBackend
from textcraft_gym.runs.backends.ray import RayBackend

BACKENDS = ("loop", "process", "ray", "ray:ADDRESS")

__all__ = [
    "BACKENDS",
    "Backend",
    "BackendError",
    "LoopBackend",
    "ProcessBackend",
    "RayBackend",
    "make_backend",
]


def make_backend(name: str) -> Backend:
    """Return a backend by its name, one of ``BACKENDS``.

    Raises:
        UnknownName: If there is none of that name.
    """
    kind, colon, address = name.partition(":")
    if kind == "ray" and bool(colon) == bool(address):
        return RayBackend(address or None)
    if name == "loop":
        return LoopBackend()
    if name == "process":
        return ProcessBackend()
    raise UnknownName.of("backend", name, BACKENDS)
