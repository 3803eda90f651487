"""The clock of a harvest, with a given one in the place of the machine's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rehi.pipeline.clock import SharedClock

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Machine:
    """A machine whose clock can be set."""

    def __init__(self) -> None:
        self.wall, self.steady = NOON, 100.0

    def pass_by(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.steady += seconds


def clock_of(machine: Machine, *, ahead: timedelta = timedelta()) -> SharedClock:
    return SharedClock(lambda: machine.wall + ahead, wall=lambda: machine.wall, steady=lambda: machine.steady)


def test_it_goes_on_when_the_clock_is_set_and_says_by_how_much() -> None:
    for jump in (timedelta(hours=-1), timedelta(days=40)):
        machine = Machine()
        clock = clock_of(machine)
        machine.pass_by(10)
        assert clock.look() is None
        machine.wall += jump
        machine.pass_by(10)
        assert clock.look() == jump
        assert clock() == NOON + timedelta(seconds=20)


def test_small_steps_are_followed() -> None:
    machine = Machine()
    clock = clock_of(machine)
    machine.wall += timedelta(seconds=2)
    machine.pass_by(10)
    assert clock.look() is None
    assert clock() == machine.wall


def test_it_goes_with_the_catalogue() -> None:
    machine = Machine()
    assert clock_of(machine, ahead=timedelta(hours=2))() == NOON + timedelta(hours=2)
