"""Playing episodes, one or many at once."""
