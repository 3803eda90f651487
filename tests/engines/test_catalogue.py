"""The catalogue of SQLite and PostgreSQL, by the contract of the port."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rehi.engines.sql import SqlCatalogue, open_catalogue
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue import CatalogueContract


class TestCatalogue(CatalogueContract):
    """SQLite and PostgreSQL keep the same promises."""

    @pytest.fixture
    def catalogue(self, catalogue_uri: str) -> Iterator[Catalogue]:
        catalogue: SqlCatalogue = open_catalogue(catalogue_uri)
        yield catalogue
        catalogue.close()
