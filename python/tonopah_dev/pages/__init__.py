"""Pages of docs/ that are written from the engine and the schema."""
