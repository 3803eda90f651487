"""Statements that are written once and run for many rows, past SQLAlchemy."""
