"""The facets that rehi brings, and an outsider's, keep to the contract of facets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from rehi.enrich import Facet, recipe_of, understand
from rehi.enrich.language import FACET as LANGUAGE
from rehi.enrich.metadata import FACET as METADATA
from rehi.enrich.names import FACET as NAMES
from rehi.model.document import Document, TableShape
from rehi.testing.contracts.facet import FacetContract
from rehi.testing.waiting import PATIENCE
from tests.plugins.weather.rehi_weather.facet import FACET as WEATHER

TEXT = "The mayor of Leeds, Mary Smith, said yesterday that the new library would open in the spring."


class TestLanguage(FacetContract):
    @pytest.fixture
    def facet(self) -> Facet:
        return LANGUAGE

    @pytest.fixture
    def document(self) -> Document:
        return Document(media_type="text/plain", text=TEXT)


class TestNames(FacetContract):
    @pytest.fixture
    def facet(self) -> Facet:
        return NAMES

    @pytest.fixture
    def document(self) -> Document:
        return Document(media_type="text/plain", text=TEXT)

    @pytest.fixture
    def before(self) -> Mapping[str, Any]:
        return {"language": "en"}


class TestMetadata(FacetContract):
    @pytest.fixture
    def facet(self) -> Facet:
        return METADATA

    @pytest.fixture
    def document(self) -> Document:
        told = (("author", "Mary Smith"), ("date", "2014-02-03"), ("robots", "none"))
        return Document(media_type="text/html", text=TEXT, metadata=told)

    def test_the_catalogue_keeps_what_the_graph_states(self, facet: Facet, value: Any) -> None:
        assert facet.brief(value) == {"author": "Mary Smith", "date": "2014-02-03"}
        assert facet.brief((("robots", "none"),)) is None
        assert list(facet.show(value)) == [("Author", "Mary Smith"), ("Date", "2014-02-03"), ("Robots", "none")]


class TestWeather(FacetContract):
    @pytest.fixture
    def facet(self) -> Facet:
        return WEATHER

    @pytest.fixture
    def document(self) -> Document:
        rows = "station|degrees|sky\nAberffin|-4|clear\nLlanwyntog|2|snow"
        table = TableShape(part=0, header=("station", "degrees", "sky"), columns=3, rows=2, end=len(rows))
        return Document(media_type="application/vnd.weather", text=rows, tables=(table,))

    def test_what_its_first_version_wrote_can_be_read(self) -> None:
        assert WEATHER.decode({"coldest": "Aberffin", "degrees": -4}, 1).skies == ()


def test_all_that_follows_from_a_document_comes_at_once() -> None:
    result = understand(Document(media_type="text/plain", text=TEXT))
    assert result.facets.keys() == result.encoded.keys() == {"language", "names"}
    assert result.encoded["language"] == b'{"version":1,"value":"en"}'
    assert (result.briefs, result.terms, result.failures) == ([], {}, {})


def test_a_recipe_names_the_facets_but_for_those_that_failed() -> None:
    assert recipe_of() == "language-1 names-1 metadata-1"
    assert recipe_of({"names": "ValueError: no"}) == "language-1 metadata-1"


FULL_DISK = """
import errno, resource, signal
from rehi.enrich import understand
from rehi.model.document import Document
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    understand(Document(media_type="text/plain", text="Mary Smith opened the new library in Leeds yesterday."))
except OSError as error:
    assert error.errno == errno.EFBIG
    print("raised")
"""


def test_a_full_disk_is_not_a_facets_fault() -> None:
    """The language model is unpacked to a temporary file: without room for it, a document must not lose its names for good."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.stdout == "raised\n", done.stderr
