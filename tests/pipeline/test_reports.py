"""The rounds of a worker: which update its visits count for, and when that is over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rehi.app import House, utc_now
from rehi.model.update import UpdateKind, UpdateState
from rehi.operations.updates import list_updates, order_update
from rehi.pipeline.clock import SharedClock
from rehi.pipeline.reports import Rounds
from rehi.pipeline.rooms import Progress
from rehi.settings import load_settings


def test_before_an_update_is_over_its_pages_are_looked_for(tmp_path: Path) -> None:
    steady = 0.0
    looks: list[int] = []
    with House(load_settings(data=tmp_path / "data")) as house, house.working() as harvest:
        clock = SharedClock(utc_now, wall=utc_now, steady=lambda: steady)
        rooms = replace(harvest._rooms, clock=clock)
        rounds = Rounds(rooms, Progress(), on_change=lambda: looks.append(1))
        rounds.begin(UpdateKind.DAY)
        ordered = order_update(house)
        rounds.turn(idle=True)
        assert looks == [1], "what is idle now was so before the update"
        rounds.turn(idle=False)
        steady += 5
        rounds.turn(idle=False)
        assert {row.id: row.state for row in list_updates(house).updates}[ordered.id] is UpdateState.RUNNING
        steady += 5
        rounds.turn(idle=True)
        assert {row.id: row.state for row in list_updates(house).updates}[ordered.id] is UpdateState.DONE
