"""Playing episodes, many of them, and what came of it."""
