"""Retention on SQL: which versions may go, and which bodies were pruned."""
