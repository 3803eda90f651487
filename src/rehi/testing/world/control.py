"""The control of the clock by HTTP, on a host that has no documents."""

from __future__ import annotations

import json

from rehi.testing.world.clock import WorldClock
from rehi.testing.world.replies import Reply
from rehi.testing.world.wire import WorldRequest

CLOCK_HOST = "clock.rehemaa.test"
CLOCK_PATH = "/_clock"

_COMMANDS = {"speed", "advance", "stop"}


def control(clock: WorldClock, request: WorldRequest, body: bytes) -> Reply:
    """Answer ``GET /_clock`` with the clock's state, and obey ``POST`` of ``speed``, ``advance`` or ``stop``."""
    if request.target != CLOCK_PATH:
        return _json(404, {"error": f"the clock is at {CLOCK_PATH}"})
    if request.method == "POST":
        try:
            _obey(clock, body)
        except ValueError as error:
            return _json(400, {"error": str(error)})
    elif request.method not in ("GET", "HEAD"):
        return _json(405, {"error": "GET shows the clock, POST sets it"})
    state = clock.state()
    return _json(200, {"now": state.now.isoformat(), "speed": state.speed})


def _obey(clock: WorldClock, body: bytes) -> None:
    try:
        commands = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("the body is not JSON") from None
    if not isinstance(commands, dict) or not commands or not commands.keys() <= _COMMANDS:
        raise ValueError('say {"speed": 60}, {"advance": 3600} or {"stop": true}')
    for name in ("speed", "advance"):
        if name in commands and (isinstance(commands[name], bool) or not isinstance(commands[name], int | float)):
            raise ValueError(f"{name} is a number")
    if commands.get("stop"):
        clock.stop()
    if "speed" in commands:
        clock.run(commands["speed"])
    if "advance" in commands:
        clock.advance(commands["advance"])


def _json(status: int, content: dict[str, object]) -> Reply:
    return Reply(status=status, headers=(("Content-Type", "application/json"),), body=json.dumps(content).encode())
