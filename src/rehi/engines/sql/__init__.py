"""The catalogue on SQLite and PostgreSQL."""

from rehi.engines.sql.catalogue import SqlCatalogue, open_catalogue

__all__ = ["SqlCatalogue", "open_catalogue"]
