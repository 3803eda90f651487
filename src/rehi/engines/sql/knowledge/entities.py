"""Entities: which readings mention them under which forms, and how many documents do now.

A mention belongs to a reading. How many documents mention an entity, and use a form of its name, is counted by what
documents show: it changes when a document shows another reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from rehi.engines.sql.index.tally import HOUSE, Additions
from rehi.engines.sql.statements.driver import BulkUpdate, SelectMany, Upsert, newest
from rehi.engines.sql.statements.values import folded, key_of, storable
from rehi.engines.sql.tables import entity, form, identifier, mention
from rehi.model.entity import EntityKey, Form, Identifier, Identity, LinkedIdentity

NAME, LEMMA = "name", "lemma"

_INSERT_ENTITY = Upsert(entity, ("key", "kind", "slug", "sense"), unique=("key",))
_INSERT_FORM = Upsert(form, ("key", "entity_id", "what", "text", "given", "family", "folded"), unique=("key",))
INSERT_MENTION = Upsert(mention, ("reading_id", "entity_id", "count", "forms"), unique=("reading_id", "entity_id"))
_IDENTIFIERS = SelectMany("SELECT entity_id, key, iri, score FROM identifier", "entity_id", "bigint")
_KEEP_IDENTIFIER = Upsert(
    identifier, ("entity_id", "key", "iri", "score"), unique=("entity_id", "key"), change=newest(("score",))
)
_NAME_ENTITY = BulkUpdate(
    entity,
    {"id": "bigint", "name": "text", "given": "text", "family": "text"},
    {name: f"new.{name}" for name in ("name", "given", "family")},
    where="entity.id = new.id",
)
_ADD_DOCUMENTS = {
    table: BulkUpdate(
        table,
        {"id": "bigint", "n": "bigint"},
        {"documents": f"{table.name}.documents + new.n"},
        where=f"{table.name}.id = new.id",
    )
    for table in (entity, form)
}
_MENTIONS = SelectMany("SELECT reading_id, entity_id, forms FROM mention", "reading_id", "bigint")
_ENTITY_IDS = SelectMany("SELECT coalesce(merged_into, id) AS id, key FROM entity", "key", "bytea")
_LOCKED = SelectMany("SELECT id, kind, documents FROM entity", "id", "bigint", order="id", lock="FOR NO KEY UPDATE")
_FORM_IDS = SelectMany("SELECT id, key FROM form", "key", "bytea")
_FORMS = SelectMany("SELECT id, entity_id, documents FROM form", "id", "bigint")
_NAMES = SelectMany(
    f"SELECT form.entity_id, form.text, form.given, form.family FROM entity"  # noqa: S608
    f" JOIN form ON form.entity_id = entity.id AND form.what = '{NAME}' AND form.documents > 0",
    "entity.id",
    "bigint",
)


def enter_mentions(connection: Connection, mentions: Mapping[int, Sequence[LinkedIdentity]]) -> set[int]:
    """Enter the mentions of new readings, with new entities and forms; they count when a document shows them.

    Returns the entities that authorities call something that was not known.
    """
    new = {one.identity.key for linked in mentions.values() for one in linked if one.entity_id is None}
    ids = ensure_entities(connection, new)
    identified: set[tuple[int, Identifier]] = set()
    merged: dict[tuple[int, int], tuple[int, set[Form]]] = {}
    for reading_id, linked in mentions.items():
        for one in linked:
            pair = reading_id, one.entity_id if one.entity_id is not None else ids[one.identity.key]
            count, forms = merged.get(pair, (0, set()))
            merged[pair] = count + one.identity.count, forms | forms_of(one.identity)
            identified.update((pair[1], known) for known in one.identifiers)
    form_ids = ensure_forms(
        connection, {(entity_id, one) for (_, entity_id), (_, used) in merged.items() for one in used}
    )
    rows = [
        (reading_id, entity_id, count, " ".join(map(str, sorted(form_ids[entity_id, one] for one in used))))
        for (reading_id, entity_id), (count, used) in sorted(merged.items(), key=lambda item: item[0])
    ]
    INSERT_MENTION.run(connection, rows)
    return _keep_identifiers(connection, identified) if identified else set()


def _keep_identifiers(connection: Connection, identified: Iterable[tuple[int, Identifier]]) -> set[int]:
    """Keep what authorities call entities, and return the entities of which that was not known so."""
    wanted = {(row, key_of(one.iri)): (storable(one.iri), float(one.score)) for row, one in sorted(identified)}
    rows = _IDENTIFIERS.run(connection, sorted({row for row, _ in wanted}))
    known = {(row.entity_id, bytes(row.key)): (row.iri, row.score) for row in rows}
    new = sorted(key for key, values in wanted.items() if known.get(key) != values)
    _KEEP_IDENTIFIER.run(connection, [(*key, *wanted[key]) for key in new])
    return {row for row, _ in new}


def count_mentions(
    connection: Connection,
    before: Mapping[int, int],
    after: Mapping[int, int | None],
    choose_name: Callable[[Iterable[Form]], Form],
    additions: Additions,
) -> set[int]:
    """Count mentions of documents that show other readings now; return the entities that the graph must be told of."""
    shown: Counter[int] = Counter()  # readings, by how many documents more or fewer show them
    for resource_id, reading_id in after.items():
        old = before.get(resource_id)
        if old != reading_id:
            shown.update([reading_id] if reading_id is not None else [])
            shown.subtract([old] if old is not None else [])
    rows = _MENTIONS.run(connection, sorted(row for row, n in shown.items() if n))
    if not rows:
        return set()
    entities: Counter[int] = Counter()
    forms: Counter[int] = Counter()
    for row in rows:
        entities[row.entity_id] += shown[row.reading_id]
        for form_id in map(int, row.forms.split()):
            forms[form_id] += shown[row.reading_id]
    locked = {row.id: row for row in _LOCKED.run(connection, sorted(entities))}
    changed = _count_forms(connection, forms) | _count_entities(connection, entities, locked, additions)
    _choose_names(connection, changed, choose_name)
    return changed


def forms_of(identity: Identity) -> set[Form]:
    """Return the forms that a document uses of an entity."""
    own = Form(NAME, storable(identity.name), storable(identity.given), storable(identity.family))
    return {own, *(Form(LEMMA, storable(lemma)) for lemma in identity.lemmas)}


def ensure_entities(connection: Connection, keys: Iterable[EntityKey]) -> dict[EntityKey, int]:
    """Return the ids of entities by their keys, of merged ones that of the other; those that are new are entered."""
    by_key = {key_of(key.kind, key.path): key for key in keys}
    rows = [(key, by_key[key].kind, by_key[key].slug, by_key[key].sense) for key in sorted(by_key)]
    _INSERT_ENTITY.run(connection, rows)
    return {by_key[bytes(row.key)]: row.id for row in _ENTITY_IDS.run(connection, sorted(by_key))}


def ensure_forms(connection: Connection, wanted: Iterable[tuple[int, Form]]) -> dict[tuple[int, Form], int]:
    """Return the ids of forms of entities; those that are new are entered."""
    by_key = {key_of(str(row), one.what, one.text, one.given, one.family): (row, one) for row, one in wanted}
    known = _FORM_IDS.run(connection, sorted(by_key))
    missing = sorted(by_key.keys() - {bytes(row.key) for row in known})
    rows = [
        (key, row, one.what, one.text, one.given, one.family, folded(one.text))
        for key, (row, one) in ((key, by_key[key]) for key in missing)
    ]
    _INSERT_FORM.run(connection, rows)
    made = _FORM_IDS.run(connection, missing)
    return {by_key[bytes(row.key)]: row.id for row in (*known, *made)}


def _count_forms(connection: Connection, difference: Counter[int]) -> set[int]:
    """Change the counts of documents by form, and return the entities that have won or lost a form."""
    moved = {row: n for row, n in difference.items() if n}
    rows = _FORMS.run(connection, sorted(moved))
    _ADD_DOCUMENTS[form].run(connection, sorted(moved.items()))
    return {row.entity_id for row in rows if (row.documents > 0) != (row.documents + moved[row.id] > 0)}


def _count_entities(
    connection: Connection, difference: Counter[int], rows: Mapping[int, Any], additions: Additions
) -> set[int]:
    """Change the counts of documents by entity, and return the entities that have appeared or vanished."""
    _ADD_DOCUMENTS[entity].run(connection, sorted((row, n) for row, n in difference.items() if n))
    changed = {row for row, n in difference.items() if (rows[row].documents > 0) != (rows[row].documents + n > 0)}
    for row in changed:
        additions.add(HOUSE, f"kind:{rows[row].kind}", 1 if difference[row] > 0 else -1)
    return changed


def _choose_names(connection: Connection, entities: set[int], choose_name: Callable[[Iterable[Form]], Form]) -> None:
    names: dict[int, list[Form]] = {}
    for row in _NAMES.run(connection, sorted(entities)):
        names.setdefault(row.entity_id, []).append(Form(NAME, row.text, row.given, row.family))
    chosen = [(entity_id, choose_name(forms)) for entity_id, forms in sorted(names.items())]
    _NAME_ENTITY.run(connection, [(entity_id, one.text, one.given, one.family) for entity_id, one in chosen])
