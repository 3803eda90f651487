"""How often the catalogue is asked for what people look at: SQLite answers sooner than SQLAlchemy asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from rehi.engines.sql import open_catalogue
from rehi.engines.sql.catalogue import SqlCatalogue
from rehi.model.listing import DocumentFilter, Page
from rehi.testing.contracts.catalogue_index import HOME, _fill


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[SqlCatalogue]:
    opened = open_catalogue(f"sqlite:///{tmp_path / 'catalogue.db'}")
    assert isinstance(opened, SqlCatalogue)
    _fill(opened)
    yield opened
    opened.close()


def statements_of(catalogue: SqlCatalogue) -> list[str]:
    """Return a list that grows by each statement that goes through SQLAlchemy."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(catalogue.database._engine, "before_cursor_execute", note)
    return statements


def test_titles_and_addresses_are_looked_through_once_for_a_page_and_its_count(catalogue: SqlCatalogue) -> None:
    statements = statements_of(catalogue)
    rows, total = catalogue.documents(DocumentFilter(text="algus"), Page(limit=1))
    assert len(rows) == total == 1
    assert sum("searched" in statement for statement in statements) == 1
    plan = [
        row.detail
        for row in catalogue.database.read(
            lambda connection: connection.exec_driver_sql(
                f"EXPLAIN QUERY PLAN {statements[0]}", ("algus", 0, "algus", 0, 1, 0)
            ).all()
        )
    ]
    assert not [step for step in plan if step.startswith("SCAN document")], plan


def test_a_documents_details_do_not_go_through_sqlalchemy(catalogue: SqlCatalogue) -> None:
    number = catalogue.document(HOME).resource_id
    statements = statements_of(catalogue)
    catalogue.document(number)
    catalogue.outline(number)
    catalogue.versions(HOME)
    catalogue.claims_on([number])
    catalogue.shown_reading(number)
    assert statements == []
