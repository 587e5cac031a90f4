"""The command ``textcraft-gym``: a module for each group of commands."""
