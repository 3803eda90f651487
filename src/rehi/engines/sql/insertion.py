"""An insertion: SQL that enters rows and says what happens to those that are there already.

SQLite and PostgreSQL understand the same words, so that each statement is written once, when its module is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Table, TextClause, text

KEEP: Mapping[str, str] = {}  # rows that are there stay as they are


def insertion(
    table: Table, columns: Sequence[str], *, unique: Sequence[str] = (), change: Mapping[str, str] = KEEP
) -> TextClause:
    """INSERT rows; where ``unique`` columns are there already, ``change`` columns as it says, ``new`` being the row."""
    names = ", ".join(f'"{name}"' for name in columns)
    values = ", ".join(f":{name}" for name in columns)
    sql = f"INSERT INTO {table.name} ({names}) VALUES ({values})"  # noqa: S608
    if not unique:
        return text(sql)
    sql += f" ON CONFLICT ({', '.join(unique)}) DO "
    if not change:
        return text(sql + "NOTHING")
    changes = ", ".join(f'"{name}" = {value.replace("new.", "excluded.")}' for name, value in change.items())
    return text(f"{sql}UPDATE SET {changes}")


def newest(columns: Sequence[str]) -> dict[str, str]:
    """Changes by which the new row's columns win."""
    return {name: f'new."{name}"' for name in columns}


def larger(table: Table, column: str) -> str:
    """The larger of the old and the new."""
    return f"CASE WHEN new.{column} > {table.name}.{column} THEN new.{column} ELSE {table.name}.{column} END"
