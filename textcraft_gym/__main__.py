"""``python -m textcraft_gym`` is ``textcraft-gym``."""

import sys

if not getattr(sys.flags, "safe_path", False):  # -P, since Python 3.11
    del sys.path[0]  # Python puts the working folder first, which may hold anybody's modules

from textcraft_gym.cli.main import main

main()
