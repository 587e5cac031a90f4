"""A table with blocks, bowls, rings and boxes: the five tasks of tabletop manipulation of DEPS, after CLIPort's."""
