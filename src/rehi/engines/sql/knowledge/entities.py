"""Entities: the forms under which documents mention them, counted as documents come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, delete

from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.statements.batches import execute_for_each
from rehi.engines.sql.statements.bulk_delete import BulkDelete
from rehi.engines.sql.statements.bulk_update import BulkUpdate
from rehi.engines.sql.statements.select_many import SelectMany
from rehi.engines.sql.statements.text import folded, key_of, storable
from rehi.engines.sql.statements.upsert import Upsert, newest
from rehi.engines.sql.tables import entity, form, mention
from rehi.model.entity import EntityKey, Identity

NAME, LEMMA = "name", "lemma"

_ENTER_ENTITY = Upsert(entity, ("key", "kind", "slug"), unique=("key",))
_ENTER_FORM = Upsert(form, ("key", "entity_id", "what", "text", "given", "family", "folded"), unique=("key",))
_ENTER_MENTION = Upsert(
    mention,
    ("resource_id", "entity_id", "count", "forms"),
    unique=("resource_id", "entity_id"),
    change=newest(("count", "forms")),
)
_DELETE_MENTION = delete(mention).where(
    mention.c.resource_id == bindparam("resource"), mention.c.entity_id == bindparam("entity")
)
_DELETE_FORMS = BulkDelete(form.c.id)
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
_MENTIONS = SelectMany("SELECT resource_id, entity_id, count, forms FROM mention", "resource_id", "bigint")
_ENTITY_IDS = SelectMany("SELECT id, key FROM entity", "key", "bytea")
_ENTITIES = SelectMany("SELECT id, kind, documents FROM entity", "id", "bigint", order="id", lock="FOR NO KEY UPDATE")
_FORM_IDS = SelectMany("SELECT id, key FROM form", "key", "bytea")
_FORMS = SelectMany("SELECT id, entity_id, documents FROM form", "id", "bigint")
_NAMES = SelectMany(
    f"SELECT form.entity_id, form.text, form.given, form.family FROM entity"  # noqa: S608
    f" JOIN form ON form.entity_id = entity.id AND form.what = '{NAME}'",
    "entity.id",
    "bigint",
)


@dataclass(frozen=True, slots=True)
class Form:
    """A name with its parts, or a lemma."""

    what: str
    text: str
    given: str = ""
    family: str = ""


@dataclass(slots=True)
class _Change:
    """How many more or fewer documents there are."""

    entities: Counter[int] = field(default_factory=Counter)
    forms: Counter[int] = field(default_factory=Counter)
    gone: list[dict[str, int]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)


def best_name(names: Iterable[Form]) -> Form:
    """The name by which an entity is host_is: it depends on the set of names, never on their order or number."""
    return min(names, key=_rank)


def _rank(name: Form) -> tuple[bool, int, str, bool, str, str]:
    words = name.text.split()
    shouted = name.text in (name.text.upper(), name.text.lower())
    odd = sum(not word[0].isupper() for word in words) + sum(map(str.isupper, "".join(word[1:] for word in words)))
    return shouted, odd, name.text, not (name.given or name.family), name.given, name.family


def forms_of(identity: Identity) -> set[Form]:
    """The forms that a document uses of an entity."""
    own = Form(NAME, storable(identity.name), storable(identity.given), storable(identity.family))
    return {own, *(Form(LEMMA, storable(lemma)) for lemma in identity.lemmas)}


def replace_mentions(
    connection: Connection, mentions: Mapping[int, Sequence[Identity]], additions: Additions
) -> set[int]:
    """Let documents mention these entities and no others; the entities of which the graph must be told."""
    old = {(row.resource_id, row.entity_id): row for row in _MENTIONS.run(connection, mentions)}
    keys = {identity.key for identities in mentions.values() for identity in identities}
    ids = _ensure_entities(connection, keys)
    rows = _lock(connection, {entity_id for _, entity_id in old} | set(ids.values()))
    new = _merged(mentions, ids)
    form_ids = _ensure_forms(connection, new, {entity_id: key for key, entity_id in ids.items()})
    change = _compare(old, new, form_ids)
    _write_mentions(connection, change)
    changed = _count_forms(connection, change.forms) | _count_entities(connection, change.entities, rows, additions)
    _choose_names(connection, changed)
    return changed


def _ensure_entities(connection: Connection, keys: Iterable[EntityKey]) -> dict[EntityKey, int]:
    by_key = {key_of(key.kind, key.slug): key for key in keys}
    rows = [{"key": key, "kind": by_key[key].kind.value, "slug": by_key[key].slug} for key in sorted(by_key)]
    _ENTER_ENTITY.run(connection, rows)
    return {by_key[bytes(row.key)]: row.id for row in _ENTITY_IDS.run(connection, by_key)}


def _lock(connection: Connection, ids: Iterable[int]) -> dict[int, Any]:
    """The entities' rows, and with them their forms, which nobody else changes until the transaction ends."""
    return {row.id: row for row in _ENTITIES.run(connection, sorted(ids))}


def _merged(
    mentions: Mapping[int, Sequence[Identity]], ids: Mapping[EntityKey, int]
) -> dict[tuple[int, int], tuple[int, set[Form]]]:
    merged: dict[tuple[int, int], tuple[int, set[Form]]] = {}
    for resource_id, identities in mentions.items():
        for identity in identities:
            pair = resource_id, ids[identity.key]
            count, forms = merged.get(pair, (0, set()))
            merged[pair] = count + identity.count, forms | forms_of(identity)
    return merged


def _form_key(key: EntityKey, one: Form) -> bytes:
    return key_of(str(key), one.what, one.text, one.given, one.family)


def _ensure_forms(
    connection: Connection,
    new: Mapping[tuple[int, int], tuple[int, set[Form]]],
    keys: Mapping[int, EntityKey],
) -> dict[tuple[int, Form], int]:
    wanted = {
        _form_key(keys[entity_id], one): (entity_id, one) for (_, entity_id), (_, forms) in new.items() for one in forms
    }
    known = _FORM_IDS.run(connection, wanted)
    missing = wanted.keys() - {bytes(row.key) for row in known}
    _ENTER_FORM.run(connection, [_form_row(key, *wanted[key]) for key in sorted(missing)])
    made = _FORM_IDS.run(connection, sorted(missing))
    return {wanted[bytes(row.key)]: row.id for row in (*known, *made)}


def _form_row(key: bytes, entity_id: int, one: Form) -> dict[str, Any]:
    return {
        "key": key,
        "entity_id": entity_id,
        "what": one.what,
        "text": one.text,
        "given": one.given,
        "family": one.family,
        "folded": folded(one.text),
    }


def _compare(
    old: Mapping[tuple[int, int], Any],
    new: Mapping[tuple[int, int], tuple[int, set[Form]]],
    form_ids: Mapping[tuple[int, Form], int],
) -> _Change:
    change = _Change()
    for (resource_id, entity_id), row in old.items():
        change.entities[entity_id] -= 1
        change.forms.subtract(map(int, row.forms.split()))
        if (resource_id, entity_id) not in new:
            change.gone.append({"resource": resource_id, "entity": entity_id})
    for (resource_id, entity_id), (count, forms) in new.items():
        used = sorted(form_ids[entity_id, one] for one in forms)
        change.entities[entity_id] += 1
        change.forms.update(used)
        row = {"resource_id": resource_id, "entity_id": entity_id, "count": count, "forms": " ".join(map(str, used))}
        known = old.get((resource_id, entity_id))
        if known is None or (known.count, known.forms) != (count, row["forms"]):
            change.rows.append(row)
    return change


def _write_mentions(connection: Connection, change: _Change) -> None:
    execute_for_each(connection, _DELETE_MENTION, change.gone)
    _ENTER_MENTION.run(connection, change.rows)


def _count_forms(connection: Connection, difference: Counter[int]) -> set[int]:
    """Count documents of forms; the entities that have won or lost a form."""
    moved = {row: n for row, n in difference.items() if n}
    rows = _FORMS.run(connection, sorted(moved))
    gone = {row.id for row in rows if row.documents + moved[row.id] <= 0}
    _ADD_DOCUMENTS[form].run(connection, [pair for pair in sorted(moved.items()) if pair[0] not in gone])
    _DELETE_FORMS.run(connection, sorted(gone))
    return {row.entity_id for row in rows if row.documents <= 0 or row.id in gone}


def _count_entities(
    connection: Connection, difference: Counter[int], rows: Mapping[int, Any], additions: Additions
) -> set[int]:
    """Count documents of entities; those that have appeared or vanished."""
    _ADD_DOCUMENTS[entity].run(connection, sorted((row, n) for row, n in difference.items() if n))
    changed = {row for row, n in difference.items() if (rows[row].documents > 0) != (rows[row].documents + n > 0)}
    for row in changed:
        additions.add_to_house(f"kind:{rows[row].kind}", 1 if difference[row] > 0 else -1)
    return changed


def _choose_names(connection: Connection, entities: set[int]) -> None:
    names: dict[int, list[Form]] = {}
    for row in _NAMES.run(connection, sorted(entities)):
        names.setdefault(row.entity_id, []).append(Form(NAME, row.text, row.given, row.family))
    chosen = [(entity_id, best_name(found)) for entity_id, found in sorted(names.items())]
    _NAME_ENTITY.run(connection, [(entity_id, one.text, one.given, one.family) for entity_id, one in chosen])
