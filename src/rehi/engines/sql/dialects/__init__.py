"""What SQLite and PostgreSQL must be told in their own words."""
