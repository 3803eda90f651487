"""Entities: the forms under which documents mention them, counted as documents come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, select, update

from rehi.engines.sql.database import chunks, gather, run_many
from rehi.engines.sql.insertion import Insertion, newest
from rehi.engines.sql.schema import entity, form, mention
from rehi.engines.sql.tally import Additions
from rehi.engines.sql.text import folded, key_of, storable
from rehi.model.entity import EntityKey, Identity

NAME, LEMMA = "name", "lemma"

_ENTER_ENTITY = Insertion(entity, ("key", "kind", "slug"), unique=("key",))
_ENTER_FORM = Insertion(form, ("key", "entity_id", "what", "text", "given", "family", "folded"), unique=("key",))
_ENTER_MENTION = Insertion(
    mention,
    ("resource_id", "entity_id", "count", "forms"),
    unique=("resource_id", "entity_id"),
    change=newest(("count", "forms")),
)
_DELETE_MENTION = delete(mention).where(
    mention.c.resource_id == bindparam("resource"), mention.c.entity_id == bindparam("entity")
)
_NAME_ENTITY = (
    update(entity)
    .where(entity.c.id == bindparam("row"))
    .values({name: bindparam(f"new_{name}") for name in ("name", "given", "family")})
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
    """The name by which an entity is called: it depends on the set of names, never on their order or number."""
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
    query = select(mention)
    old = {
        (row.resource_id, row.entity_id): row
        for row in gather(connection, mentions, lambda part: query.where(mention.c.resource_id.in_(part)))
    }
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
    _ENTER_ENTITY.enter(connection, rows)
    query = select(entity.c.id, entity.c.key)
    found = gather(connection, by_key, lambda part: query.where(entity.c.key.in_(part)))
    return {by_key[bytes(row.key)]: row.id for row in found}


def _lock(connection: Connection, ids: Iterable[int]) -> dict[int, Any]:
    """The entities' rows, and with them their forms, which nobody else changes until the transaction ends."""
    query = select(entity.c.id, entity.c.kind, entity.c.documents).order_by(entity.c.id).with_for_update(key_share=True)
    return {row.id: row for row in gather(connection, sorted(ids), lambda part: query.where(entity.c.id.in_(part)))}


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
    query = select(form.c.id, form.c.key)
    known = gather(connection, wanted, lambda part: query.where(form.c.key.in_(part)))
    missing = wanted.keys() - {bytes(row.key) for row in known}
    _ENTER_FORM.enter(connection, [_form_row(key, *wanted[key]) for key in sorted(missing)])
    made = gather(connection, sorted(missing), lambda part: query.where(form.c.key.in_(part)))
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
    run_many(connection, _DELETE_MENTION, change.gone)
    _ENTER_MENTION.enter(connection, change.rows)


def _count_forms(connection: Connection, difference: Counter[int]) -> set[int]:
    """Count documents of forms; the entities that have won or lost a form."""
    moved = {row: n for row, n in difference.items() if n}
    query = select(form.c.id, form.c.entity_id, form.c.documents)
    rows = gather(connection, sorted(moved), lambda part: query.where(form.c.id.in_(part)))
    gone = {row.id for row in rows if row.documents + moved[row.id] <= 0}
    _add_documents(connection, form, {row: n for row, n in moved.items() if row not in gone})
    for part in chunks(sorted(gone)):
        connection.execute(delete(form).where(form.c.id.in_(part)))
    return {row.entity_id for row in rows if row.documents <= 0 or row.id in gone}


def _count_entities(
    connection: Connection, difference: Counter[int], rows: Mapping[int, Any], additions: Additions
) -> set[int]:
    """Count documents of entities; those that have appeared or vanished."""
    _add_documents(connection, entity, {row: n for row, n in difference.items() if n})
    changed = {row for row, n in difference.items() if (rows[row].documents > 0) != (rows[row].documents + n > 0)}
    for row in changed:
        additions.add_to_house(f"kind:{rows[row].kind}", 1 if difference[row] > 0 else -1)
    return changed


def _add_documents(connection: Connection, table: Table, moved: Mapping[int, int]) -> None:
    """One statement for all that move by the same number, which is 1 for most: 28 ms for 1,200 forms, not 70."""
    for step in sorted(set(moved.values())):
        for part in chunks(sorted(row for row, n in moved.items() if n == step)):
            connection.execute(update(table).where(table.c.id.in_(part)).values(documents=table.c.documents + step))


def _choose_names(connection: Connection, entities: set[int]) -> None:
    query = select(form.c.entity_id, form.c.text, form.c.given, form.c.family).where(form.c.what == NAME)
    names: dict[int, list[Form]] = {}
    for row in gather(connection, sorted(entities), lambda part: query.where(form.c.entity_id.in_(part))):
        names.setdefault(row.entity_id, []).append(Form(NAME, row.text, row.given, row.family))
    chosen = [(entity_id, best_name(found)) for entity_id, found in sorted(names.items())]
    run_many(
        connection,
        _NAME_ENTITY,
        [
            {"row": entity_id, "new_name": one.text, "new_given": one.given, "new_family": one.family}
            for entity_id, one in chosen
        ],
    )
