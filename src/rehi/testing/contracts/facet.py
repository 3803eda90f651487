"""The contract of facets: what every facet does, whoever brings it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from rehi.enrich import Facet
from rehi.model.codec import to_json
from rehi.model.document import Document, Term


class FacetContract:
    """Subclass it with fixtures: the ``facet``, a ``document`` of which it knows something, and the facets ``before`` it."""

    @pytest.fixture
    def before(self) -> Mapping[str, Any]:
        """Return the values of the facets that this one builds on."""
        return {}

    @pytest.fixture
    def value(self, facet: Facet, document: Document, before: Mapping[str, Any]) -> Any:
        """Return what the facet knows of the document."""
        return facet.find(document, before)

    def test_it_has_a_name_and_a_version(self, facet: Facet) -> None:
        assert facet.name
        assert facet.version >= 1

    def test_it_knows_something_and_the_same_each_time(
        self, facet: Facet, document: Document, before: Mapping[str, Any], value: Any
    ) -> None:
        assert value is not None
        assert facet.find(document, before) == value

    def test_an_empty_document_is_no_reason_to_fail(self, facet: Facet, before: Mapping[str, Any]) -> None:
        value = facet.find(Document(media_type="text/plain", text=""), before)
        if value is not None:
            assert self._written(facet, value) == value

    def test_its_value_comes_back_from_json(self, facet: Facet, value: Any) -> None:
        assert self._written(facet, value) == value

    def test_keys_that_a_later_version_has_added_are_passed_over(self, facet: Facet, value: Any) -> None:
        data = orjson.loads(to_json(facet.encode(value)))
        assert facet.decode(_with_more(data), facet.version + 1) == value

    def test_what_the_catalogue_keeps_can_be_written_as_json(self, facet: Facet, value: Any) -> None:
        assert orjson.dumps(facet.brief(value))

    def test_its_terms_have_a_field_and_a_value(self, facet: Facet, value: Any) -> None:
        for term in facet.terms(value):
            assert isinstance(term, Term)
            assert term.field
            assert ":" not in term.field
            assert term.value

    def test_what_a_page_shows_is_text(self, facet: Facet, value: Any) -> None:
        assert all(isinstance(label, str) and isinstance(text, str) for label, text in facet.show(value))

    @staticmethod
    def _written(facet: Facet, value: Any) -> Any:
        return facet.decode(orjson.loads(to_json(facet.encode(value))), facet.version)


def _with_more(data: Any) -> Any:
    """Return JSON with a key more in every object."""
    if isinstance(data, dict):
        return {**{key: _with_more(item) for key, item in data.items()}, "added later": 1}
    return [_with_more(item) for item in data] if isinstance(data, list) else data
