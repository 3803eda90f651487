"""Upkeep on SQL: hosts, orders, updates, problems and workers."""
