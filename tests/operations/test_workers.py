"""What a worker holds, in words."""

from __future__ import annotations

from typing import Any

from rehi.model.worker import Worker
from rehi.operations.workers import describe_holdings
from tests.keeper import NOON


def holdings(**held: Any) -> str:
    return describe_holdings(Worker(name="one", started_at=NOON, seen_at=NOON, **held))


def test_every_kind_of_work_has_its_word() -> None:
    claims = {"discover": 1, "follow": 2, "read": 12, "resource": 1, "entity": 3, "climate": 4}
    assert holdings(hosts=1, claims=claims) == (
        "1 host, claimed 4 to describe (climate), claimed 1 source to read, claimed 3 entities to describe, "
        "claimed 2 documents to follow the links of, claimed 12 documents to read, claimed 1 document to describe"
    )


def test_what_waits_for_a_worker_is_told() -> None:
    assert holdings(waiting=1, waiting_sources=2, owns_graph=True) == (
        "1 document that waits to be read in its folder, 2 sources that wait to be read on its machine, the graph"
    )
    assert holdings() == "nothing"
