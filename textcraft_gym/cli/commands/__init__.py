"""The commands, one a module, which is imported when the command is called."""
