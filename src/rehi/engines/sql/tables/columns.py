"""Columns: the kinds that the tables are made of."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, MetaData, SmallInteger, Text
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import TypeEngine

metadata = MetaData()

ID = BigInteger().with_variant(Integer, "sqlite")
# Byte order is the order of URLs, and what prefix searches by range need.
BYTEWISE = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def string(name: str) -> Column[str]:
    """Return a column for text, empty unless it is given."""
    return Column(name, Text, nullable=False, server_default="")


def integer(name: str, default: str = "0") -> Column[int]:
    """Return a column for a whole number."""
    return Column(name, BigInteger, nullable=False, server_default=default)


def real(name: str, default: str = "0") -> Column[float]:
    """Return a column for a number with a fraction."""
    return Column(name, Float(53), nullable=False, server_default=default)


_ON_POSTGRES: dict[type[TypeEngine[Any]], str] = {
    BigInteger: "bigint",
    Float: "float8",
    Integer: "integer",
    LargeBinary: "bytea",
    SmallInteger: "smallint",
    Text: "text",
}


def kind_of(column: Column[Any]) -> str:
    """Return a column's type, as PostgreSQL names it in an array."""
    return _ON_POSTGRES[type(column.type)]
