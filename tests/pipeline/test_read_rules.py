"""What a document shows, and which problems are solved, is said by pure functions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rehi.errors import FacetFailed, RehiError, Unreadable
from rehi.model.problem import Problem, Stage
from rehi.model.version import Digest, RecordRef
from rehi.model.work import Claim, ReadResult, ReadTask, ReadVersion
from rehi.pipeline.read_rules import choose_shown

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TASK = ReadTask(
    claim=Claim("read", 1, (1,)), resource_id=1, source_id=1, version_id=1, url="http://a.ee/", blob_id=1,
    digest=Digest("sha256:a"), size=1, media_type="", body=RecordRef("a.warc.gz", 0, 1),
)  # fmt: skip


def at(hours: float) -> datetime:
    return NOW + timedelta(hours=hours)


def version(number: int, hours: float) -> ReadVersion:
    return ReadVersion(number, at(hours), ReadResult(task=replace(TASK, version_id=number)))


@pytest.mark.parametrize(
    ("read", "before", "shown"),
    [
        ([version(1, 1)], None, 1),
        ([version(1, 1), version(2, 2)], None, 2),
        ([version(2, 2), version(1, 1)], None, 2),
        ([version(3, 1), version(1, 2)], None, 1),  # the third came late, from an older crawl
        ([version(1, 1), version(2, 1)], None, 2),
        ([version(1, 1)], at(1), 1),  # read again, as by a new recipe
        ([version(1, 1)], at(2), None),
        ([version(1, 1), version(3, 3)], at(2), 3),
    ],
)
def test_a_document_shows_the_newest_version_that_was_read(
    read: list[ReadVersion], before: datetime | None, shown: int | None
) -> None:
    chosen = choose_shown(read, before)
    assert (None if chosen is None else chosen.number) == shown


@pytest.mark.parametrize(
    ("stage", "error", "solved"),
    [
        (None, None, (Stage.EXTRACT, Stage.ENRICH)),
        (Stage.EXTRACT, Unreadable("no"), (Stage.ENRICH,)),
        (Stage.ENRICH, FacetFailed("no"), (Stage.EXTRACT,)),
    ],
)
def test_what_was_wrong_is_solved_in_each_room_in_which_nothing_is_wrong_now(
    stage: Stage | None, error: RehiError | None, solved: tuple[Stage, ...]
) -> None:
    problem = Problem.of(error, stage=stage, subject=TASK.url, at=NOW) if stage and error else None
    assert ReadResult(task=TASK, problem=problem).solved == solved
