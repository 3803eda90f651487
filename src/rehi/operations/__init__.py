"""Operations: what people and programs can ask for, the same over HTTP, on pages and on the command line."""
