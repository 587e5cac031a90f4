"""A table with blocks, bowls, rings and boxes: DEPS's five tabletop tasks, after CLIPort's."""
