"""The index on SQL: what people look at."""
