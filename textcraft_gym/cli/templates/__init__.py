"""What ``textcraft-gym new`` writes, with the names of an example in it."""
