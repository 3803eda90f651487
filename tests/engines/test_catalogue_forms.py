"""Entities counted as documents come and go equal those counted from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rehi.engines.sql import open_catalogue
from rehi.engines.sql.knowledge.entities import LEMMA, NAME, forms_of
from rehi.errors import NotFound, Unreadable
from rehi.languages.kinds import NameKind
from rehi.link import best_name
from rehi.model.entity import Entity, EntityKey, Form, Identity
from rehi.pipeline.read_rules import READ_RULES
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    at,
    claim,
    claim_descriptions,
    entity_of,
    fetched,
    misread,
    record,
    record_reads,
    understood,
)

KEYS = [EntityKey(kind, slug) for kind in (NameKind.PERSON, NameKind.PLACE) for slug in ("tartu", "mari")]
identities = st.builds(
    Identity,
    key=st.sampled_from(KEYS),
    name=st.sampled_from(["Mari", "MARI", "mari", "Tartu"]),
    given=st.sampled_from(["", "Mari"]),
    lemmas=st.sets(st.sampled_from(["mari", "Mari", "tartu"]), max_size=2).map(lambda found: tuple(sorted(found))),
    count=st.integers(1, 3),
)
pages = st.lists(identities, max_size=3, unique_by=lambda identity: identity.key)
# Which page changes, and to what; None for a version that can't be read.
histories = st.lists(st.tuples(st.integers(0, 2), st.none() | pages), min_size=1, max_size=6)


def _from_scratch(now: Mapping[int, list[Identity]]) -> dict[EntityKey, Entity]:
    entities = {}
    for key in KEYS:
        identities = [identity for page in now.values() for identity in page if identity.key == key]
        if identities:
            forms = set().union(*map(forms_of, identities))
            best = best_name(form for form in forms if form.what == NAME)
            entities[key] = Entity(
                id=0,
                key=key,
                name=best.text,
                given=best.given,
                family=best.family,
                lemmas=tuple(sorted(form.text for form in forms if form.what == LEMMA)),
                documents=len(identities),
            )
    return entities


def _stored(catalogue: Catalogue) -> dict[EntityKey, Entity]:
    entities = {}
    for key in KEYS:
        try:
            entities[key] = replace(entity_of(catalogue, key), id=0)
        except NotFound:
            continue
    return entities


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories)
def test_entities_equal_those_counted_from_scratch(history: list[tuple[int, list[Identity] | None]]) -> None:
    with TemporaryDirectory() as folder:
        catalogue = open_catalogue(f"sqlite:///{Path(folder)}/catalogue.db")
        graph: dict[EntityKey, Entity] = {}
        now: dict[int, list[Identity]] = {}
        for step, (page, said) in enumerate(history):
            record(catalogue, [fetched(f"http://a.ee/{page}", f"body {step}", step)], [], worker="one", now=at(step))
            (task,) = claim(catalogue, step)
            result = misread(task, Unreadable("no")) if said is None else understood(task, *said)
            record_reads(catalogue, result, rules=READ_RULES, when=step)
            now[page] = said or []
            told = claim_descriptions(catalogue, step)
            graph |= {entity.key: entity for entity in told.entities}
            graph = {key: entity for key, entity in graph.items() if entity.documents}
            catalogue.record_descriptions(told.claims, statements={})
            expected = _from_scratch(now)
            assert _stored(catalogue) == expected
            assert {k: (e.name, e.lemmas) for k, e in graph.items()} == {
                k: (e.name, e.lemmas) for k, e in expected.items()
            }
            totals = catalogue.totals(now=at(step))
            assert sum(totals.entities.values()) == len(expected)
            assert totals.mentions == sum(identity.count for page in now.values() for identity in page)
        catalogue.close()


def test_the_name_of_an_entity_is_normally_capitalised() -> None:
    names = [
        Form(NAME, text) for text in ("TALLINNA ÜLIKOOL", "tallinna ülikool", "Tallinna Ülikool", "TALLINNA Ülikool")
    ]
    for order in permutations(names):
        assert best_name(order).text == "Tallinna Ülikool"
    assert best_name([Form(NAME, "Mari"), Form(NAME, "Mari", "Mari", "")]).given == "Mari"
    assert best_name([Form(NAME, "")]).text == ""
