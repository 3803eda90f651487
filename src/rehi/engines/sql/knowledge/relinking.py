"""Relinking: readings mention another entity than before, as when two are one, or one is two."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, delete, or_, select, update

from rehi.engines.sql.database import Database, transaction
from rehi.engines.sql.index.tally import Additions
from rehi.engines.sql.knowledge.entities import (
    INSERT_MENTION,
    count_mentions,
    ensure_entities,
    ensure_forms,
)
from rehi.engines.sql.outbox.port import put_work
from rehi.engines.sql.statements.driver import chunks, select_in_chunks
from rehi.engines.sql.tables import document, entity, form, mention
from rehi.model.entity import EntityKey, Form
from rehi.ports import ReadRules


class SqlRelinking:
    """The method of the port Knowledge that gives mentions to another entity."""

    database: Database

    @transaction
    def relink(
        self,
        connection: Connection,
        entity_id: int,
        to: EntityKey,
        *,
        readings: Collection[int] | None = None,
        rules: ReadRules,
    ) -> int:
        """Let some readings, or all, mention the entity of a key in place of another, and return its id."""
        ensure_entities(connection, [to])
        query = select(entity.c.id, entity.c.merged_into).where(
            entity.c.kind == to.kind, entity.c.slug == to.slug, entity.c.sense == to.sense
        )
        bearer = connection.execute(query.with_for_update(key_share=True)).one()
        goal: int = bearer.id if readings is not None or bearer.merged_into is None else bearer.merged_into
        if goal == entity_id:
            return goal
        query = select(mention.c.reading_id, mention.c.count, mention.c.forms).where(mention.c.entity_id == entity_id)
        if readings is None:
            moved = {row.reading_id: row for row in connection.execute(query)}
            merged = or_(entity.c.id == entity_id, entity.c.merged_into == entity_id)
            connection.execute(update(entity).where(merged).values(merged_into=goal))
        else:
            rows = select_in_chunks(connection, readings, lambda part: query.where(mention.c.reading_id.in_(part)))
            moved = {row.reading_id: row for row in rows}
            connection.execute(update(entity).where(entity.c.id == goal).values(merged_into=None))
        shown = _showing(connection, moved)
        additions = Additions()
        # Counted as if these documents showed nothing for a moment, so that counts, forms and names follow by themselves.
        changed = count_mentions(connection, shown, dict.fromkeys(shown), rules.choose_name, additions)
        _move(connection, entity_id, goal, moved)
        changed |= count_mentions(connection, {}, dict(shown), rules.choose_name, additions)
        put_work(connection, "entity", changed | {entity_id, goal})
        put_work(connection, "resource", shown)
        additions.write(connection, self.database)
        return goal


def _showing(connection: Connection, readings: Collection[int]) -> dict[int, int]:
    """Return the resources whose documents show these readings, each with its own."""
    query = select(document.c.resource_id, document.c.reading_id).order_by(document.c.resource_id).with_for_update()
    rows = select_in_chunks(connection, readings, lambda part: query.where(document.c.reading_id.in_(part)))
    return {row.resource_id: row.reading_id for row in rows}


def _move(connection: Connection, entity_id: int, goal: int, moved: Mapping[int, Any]) -> None:
    """Give mentions to another entity; where a reading mentions it already, they are one mention."""
    query = select(mention.c.reading_id, mention.c.count, mention.c.forms).where(mention.c.entity_id == goal)
    rows = select_in_chunks(connection, moved, lambda part: query.where(mention.c.reading_id.in_(part)))
    there = {row.reading_id: row for row in rows}
    used = {one for row in moved.values() for one in map(int, row.forms.split())}
    columns = select(form.c.id, form.c.what, form.c.text, form.c.given, form.c.family)
    forms = {
        row.id: Form(row.what, row.text, row.given, row.family)
        for row in select_in_chunks(connection, used, lambda part: columns.where(form.c.id.in_(part)))
    }
    ids = ensure_forms(connection, {(goal, one) for one in forms.values()})
    new = []
    for reading_id, row in sorted(moved.items()):
        mine, count, before = (
            {ids[goal, forms[one]] for one in map(int, row.forms.split())},
            row.count,
            there.get(reading_id),
        )
        if before is not None:
            mine, count = mine.union(map(int, before.forms.split())), count + before.count
        new.append((reading_id, goal, count, " ".join(map(str, sorted(mine)))))
    for part in chunks(moved):
        connection.execute(delete(mention).where(mention.c.entity_id == entity_id, mention.c.reading_id.in_(part)))
        connection.execute(delete(mention).where(mention.c.entity_id == goal, mention.c.reading_id.in_(part)))
    INSERT_MENTION.run(connection, new)
