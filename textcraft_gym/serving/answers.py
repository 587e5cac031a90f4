"""The answers of the servers. Extra ``[serve]``."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Response


def json_answer(value: Any, status: int = 200) -> Response:
    """Return an answer in JSON."""
    # json.dumps escapes to ASCII: a text may hold what UTF-8 cannot encode.
    return Response(json.dumps(value), status, media_type="application/json")
