"""Sources on SQL: where resources come from."""
