"""The table of sessions, against a model of it that keeps everything."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from textcraft_gym.serving.sessions import Sessions, TooManySessions

MAXIMUM, SECONDS = 3, 10.0


class TableMachine(RuleBasedStateMachine):
    """Opens, uses and closes sessions while the time goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.ended: list[str] = []
        self.table: Sessions[str] = Sessions(
            MAXIMUM, SECONDS, on_close=self.ended.append, clock=lambda: self.now
        )
        self.used: list[float | None] = []  # by number; None for those that were closed

    @property
    def open(self) -> list[int]:
        return [
            n for n, used in enumerate(self.used) if used is not None and self.now - used < SECONDS
        ]

    @rule(seconds=st.floats(0, 12))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def enter(self) -> None:
        if len(self.open) < MAXIMUM:
            assert self.table.open(lambda: f"session {len(self.used)}") == len(self.used)
            self.used.append(self.now)
        else:
            with pytest.raises(TooManySessions, match="3 sessions are open"):
                self.table.open(lambda: "none")

    @precondition(lambda self: self.used)
    @rule(data=st.data())
    def use(self, data: st.DataObject) -> None:
        number = data.draw(st.integers(0, len(self.used)))
        if number in self.open:
            assert self.table.find(number) == f"session {number}"
            self.used[number] = self.now
        else:
            with pytest.raises(LookupError):
                self.table.find(number)

    @precondition(lambda self: self.used)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        number = data.draw(st.integers(0, len(self.used)))
        assert self.table.close(number) == (number in self.open)
        if number < len(self.used):
            self.used[number] = None

    @invariant()
    def has_what_is_open(self) -> None:
        assert self.table.numbers == self.open
        assert len(self.table) == len(self.open)
        assert sorted(self.ended) == sorted(
            f"session {n}" for n in range(len(self.used)) if n not in self.open
        )


TestTable = TableMachine.TestCase


def test_sessions__keep_nothing_when_one_cannot_be_made():
    table: Sessions[str] = Sessions(1)
    with pytest.raises(ZeroDivisionError):
        table.open(lambda: str(1 / 0))
    assert table.open(lambda: "x") == 0


def test_sessions__are_all_closed_at_the_end():
    ended: list[int] = []
    table: Sessions[int] = Sessions(on_close=ended.append)
    for number in range(5):
        table.open(lambda number=number: number)
    table.close_all()
    assert ended == [0, 1, 2, 3, 4]
    assert len(table) == 0


def test_sessions__are_opened_and_closed_by_many_threads():
    table: Sessions[object] = Sessions(64)

    def live(_: int) -> bool:
        number = table.open(object)
        table.find(number)
        return table.close(number)

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(live, range(2000)))
    assert table.open(object) == 2000


@pytest.mark.parametrize("wrong", [{"maximum": 0}, {"seconds": 0}, {"seconds": float("nan")}])
def test_sessions__refuse_bounds_that_are_none(wrong: dict[str, float]):
    with pytest.raises(ValueError, match="expected"):
        Sessions(**wrong)  # type: ignore[arg-type]
