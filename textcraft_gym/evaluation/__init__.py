"""Playing episodes, one or many, and reporting the results."""
