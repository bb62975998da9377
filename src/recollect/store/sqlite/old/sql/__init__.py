"""The SQL behind `store.old`, as it stood."""
