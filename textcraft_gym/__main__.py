"""``python -m textcraft_gym`` is ``textcraft-gym``."""

from textcraft_gym.cli import main

main()
