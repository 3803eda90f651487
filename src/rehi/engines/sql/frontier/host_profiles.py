"""Lessons: what was learned of hosts' manners."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from rehi.engines.sql.statements.moment import to_micros
from rehi.engines.sql.statements.text import storable
from rehi.engines.sql.statements.upsert import Upsert, newest
from rehi.engines.sql.tables import probe, robots
from rehi.model.work import HostProfile

_ROBOTS = ("status", "text", "fetched_at", "failing_since")
_KEEP_ROBOTS = Upsert(robots, ("host_id", *_ROBOTS), unique=("host_id",), change=newest(_ROBOTS))
_PROBE = ("status", "likeness", "at")
_KEEP_PROBE = Upsert(probe, ("host_id", *_PROBE), unique=("host_id",), change=newest(_PROBE))


def keep_profiles(connection: Connection, profiles: Iterable[HostProfile]) -> None:
    """Remember the newest robots.txt and probe of each host."""
    rules, probes = {}, {}
    for profile in sorted(profiles, key=lambda profile: profile.host_id):
        if (found := profile.robots) is not None:
            rules[profile.host_id] = {
                "host_id": profile.host_id,
                "status": found.status,
                "text": storable(found.text),
                "fetched_at": to_micros(found.fetched_at),
                "failing_since": None if found.failing_since is None else to_micros(found.failing_since),
            }
        if (answer := profile.probe) is not None:
            probes[profile.host_id] = {
                "host_id": profile.host_id,
                "status": answer.status,
                "likeness": answer.fingerprint,
                "at": to_micros(answer.at),
            }
    if rules:
        _KEEP_ROBOTS.run(connection, list(rules.values()))
    if probes:
        _KEEP_PROBE.run(connection, list(probes.values()))
