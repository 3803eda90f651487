"""Knowledge on SQL: readings, facets and entities."""
