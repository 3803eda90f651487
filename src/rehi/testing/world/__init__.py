"""The practice web: a small deterministic web on loopback, whose names are all known."""

from rehi.testing.world.clock import START, ClockState, WorldClock
from rehi.testing.world.rules import WorldRule, list_rules
from rehi.testing.world.server import WorldServer, serve_forever
from rehi.testing.world.world import World

__all__ = ["START", "ClockState", "World", "WorldClock", "WorldRule", "WorldServer", "list_rules", "serve_forever"]
