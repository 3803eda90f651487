"""The practice web: a small deterministic web on loopback, whose every name is known."""

from rehi.testing.world.clock import START, Clock, ClockState
from rehi.testing.world.server import WorldServer, serve_forever
from rehi.testing.world.world import World

__all__ = ["START", "Clock", "ClockState", "World", "WorldServer", "serve_forever"]
