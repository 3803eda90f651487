"""Dialects: the statements and settings in which SQLite and PostgreSQL differ."""
