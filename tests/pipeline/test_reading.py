"""Reading, in this process: what a worker process does with a few versions, called as it calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from rehi.app import House
from rehi.app.places import open_archive
from rehi.archive import Archive
from rehi.errors import NotText, ReaderCrashed, RecordMissing, RehiError
from rehi.model.version import RecordRef, Version
from rehi.model.work import Claim, ReadTask
from rehi.pipeline.reading import ReadDocument, ReadingPlan, current_recipe, make_reading, read_document, read_documents
from rehi.settings import WorkSettings, load_settings
from tests.keeper import Keeper, at

PAGE = (
    "<!doctype html><html lang=et><title>Juhtkond</title><main><h1>Juhtkond</h1><p>Rehemaa vallavanem on Katrin Paio, "
    "kes juhib valda alates eelmise aasta sügisest ja elab Tartus.</p></main></html>"
).encode()
NOW = datetime(2026, 3, 2, tzinfo=UTC)


class Kept:
    """Versions in an archive, and tasks to read them."""

    def __init__(self, house: House) -> None:
        self.house, self._keeper, self._count = house, Keeper(house), 0
        self.open: Callable[[], Archive] = partial(open_archive, house.archive_folder.resolve(), house.settings.archive)

    def task(self, body: bytes, media_type: str = "text/html; charset=utf-8") -> ReadTask:
        self._count += 1
        url = f"http://a.test/{self._count}"
        version: Version = self._keeper.new(url, body, at(self._count), media_type=media_type)
        return ReadTask(
            claim=Claim("read", version.id, ()), blob_id=version.id, resource_id=version.resource_id, source_id=1, version_id=version.id, url=url,
            digest=version.digest, size=version.size, media_type=media_type, body=version.body,
        )  # fmt: skip

    def close(self) -> None:
        self._keeper.close()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with House(load_settings(data=tmp_path / "data")) as house:
        versions = Kept(house)
        yield versions
        versions.close()


def plan(kept: Kept, **work: object) -> ReadingPlan:
    settings = WorkSettings.model_validate(work)
    return ReadingPlan(open_archive=kept.open, worker="w", work=settings, recipe=current_recipe(settings))


def outcomes(kept: Kept, *tasks: ReadTask, **work: object) -> list[ReadDocument | RehiError]:
    return read_documents(plan(kept, **work), tasks, NOW)


def test_a_document_comes_with_its_facts_names_and_records(kept: Kept) -> None:
    (read,) = outcomes(kept, kept.task(PAGE))
    assert isinstance(read, ReadDocument)
    assert (read.facts.title, read.facts.language, read.facts.media_type) == ("Juhtkond", "et", "text/html")
    assert read.facts.characters > 80
    assert {identity.name for identity in read.identities} >= {"Katrin Paio", "Tartu"}
    assert read.facts.names >= 2
    assert read.records.startswith(b"\x1f\x8b")
    assert [name for name, _ in read.seconds] == ["extract", "enrich"]


def test_without_enrichment_there_is_only_the_text(kept: Kept) -> None:
    (read,) = outcomes(kept, kept.task(PAGE), enrich=False)
    assert isinstance(read, ReadDocument)
    assert (read.identities, read.facts.names, read.briefs) == ((), 0, ())


def test_what_is_wrong_with_one_is_its_own(kept: Kept) -> None:
    fine, picture = kept.task(PAGE), kept.task(b"\x89PNG\r\n\x1a\n" + bytes(300), "image/png")
    lost = replace(fine, body=RecordRef("nowhere.warc.gz", 0, 10))
    kinds = [type(outcome) for outcome in outcomes(kept, picture, lost, fine)]
    assert kinds == [NotText, RecordMissing, ReadDocument]


def test_a_fault_of_ours_costs_one_document_and_too_little_memory_all(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rehi.pipeline import reading

    task = kept.task(PAGE)

    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(reading, "read_bytes", fail)
    fault: BaseException = ZeroDivisionError("by zero")
    (outcome,) = outcomes(kept, task)
    assert isinstance(outcome, ReaderCrashed)
    assert str(outcome) == "ZeroDivisionError: by zero"
    fault = MemoryError()
    with pytest.raises(MemoryError):
        outcomes(kept, task)


def test_no_more_text_is_read_than_the_setting_says(kept: Kept) -> None:
    (read,) = outcomes(kept, kept.task(b"sna " * 10_000, "text/plain"), max_text=1_000, enrich=False)
    assert isinstance(read, ReadDocument)
    assert read.facts.characters <= 1_000


def test_reading_again_gives_what_was_read_first(kept: Kept) -> None:
    task, how = kept.task(PAGE), plan(kept)
    again, packed = read_document(how, task, NOW)
    first, _ = make_reading(kept.open(), task, how)
    assert (again.document, again.facets, again.recipe) == (first.document, first.facets, how.recipe)
    assert again.language == "et"
    (read,) = outcomes(kept, task)
    assert isinstance(read, ReadDocument)
    assert (packed.facts, packed.identities, packed.recipe) == (read.facts, read.identities, read.recipe)


def test_a_recipe_tells_what_was_read_with_from_what_was_not() -> None:
    whole, bare = current_recipe(WorkSettings()), current_recipe(WorkSettings(enrich=False))
    assert whole.startswith(f"{bare} ")
    assert current_recipe(WorkSettings()) == whole
    assert current_recipe(WorkSettings(), {"names": "no model"}) not in (whole, bare)
