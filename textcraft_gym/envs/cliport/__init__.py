"""CLIPort's simulator behind the goals of the tabletop."""
