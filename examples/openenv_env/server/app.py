"""The server of an environment, chosen by ENV_ID, ENV_ARGS (KEY=VALUE ...) and MAX_SESSIONS.

It answers requests to localhost, to any address of the machine, to the Space's own name and to
those in ALLOWED_HOSTS.
"""

import os

from textcraft_gym.integrations.openenv import create_app
from textcraft_gym.plugins import key_values
from textcraft_gym.serving.server import run_server

app = create_app(
    os.environ.get("ENV_ID", "TextCraft-v0"),
    max_sessions=int(os.environ.get("MAX_SESSIONS", "256")),
    **key_values(os.environ.get("ENV_ARGS", "").split()),
)


def main() -> None:
    """Serve until the container stops."""
    names = (os.environ.get("SPACE_HOST", ""), *os.environ.get("ALLOWED_HOSTS", "").split(","))
    run_server(
        app,
        # A container is reached from outside only as its ports are published.
        host=os.environ.get("HOST", "0.0.0.0"),  # noqa: S104
        port=int(os.environ.get("PORT", "8000")),
        allowed_hosts=[name for name in names if name],
        on_start=lambda address: print(f"served at {address}", flush=True),
    )


if __name__ == "__main__":
    main()
