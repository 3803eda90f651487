"""Compaction: the archive's files are written anew without what was pruned, while everybody reads on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta

from rehi.app import House, lock_folder, utc_now
from rehi.archive import Compacted
from rehi.errors import DataFolderBusy
from rehi.operations.verification import archive_files

# Longer than any visit takes from its lease to its record: until then somebody may write on what is about to go.
GRACE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction came to, and why it was not more."""

    done: Compacted
    notes: tuple[str, ...] = ()


def compact_archive(house: House, *, on_file: Callable[[str], None] = lambda _: None) -> Compaction:
    """Let go of the bytes that were dropped. While somebody harvests, only of those that were dropped over an hour ago."""
    settings, archive, now = house.settings, house.archive, utc_now()
    with ExitStack() as stack:
        stack.enter_context(lock_folder(settings.data, name="compact.lock"))
        alone = not settings.archive.uri and _lock(house, stack)
        last = archive.compacted_at
        if not alone and last is not None and now - last < GRACE:
            wait = f"Somebody harvests, and the last compaction was less than an hour ago: come again at {last + GRACE:%H:%M} UTC."
            return Compaction(Compacted(), (wait,))
        elsewhere = _elsewhere(house)
        if elsewhere:
            missing = f"{len(elsewhere)} files are not here, {elsewhere[0]} for one, and what lies in them may be needed: nothing was done."
            return Compaction(Compacted(), (missing,))
        pruned = [body.place for body in house.catalogue.bodies(pruned_before=now if alone else now - GRACE)]
        spool = settings.data / "spool"
        spool.mkdir(parents=True, exist_ok=True)
        only_of = house.worker if settings.archive.uri else ""
        plan = archive.plan_compaction(pruned, at_once=alone, only_of=only_of)
        done = archive.compact(plan, worker=house.worker, now=now, spool=spool, on_file=on_file)
        return Compaction(done, tuple(_notes(done, alone=alone)))


def _elsewhere(house: House) -> list[str]:
    """Return the files of this archive that are not here: a delta in one of them may need a record that lies here."""
    shared = bool(house.settings.archive.uri)
    return [
        file.name
        for file in archive_files(house)
        if (shared or file.owner in ("", house.worker)) and not house.archive.has_file(file.name)
    ]


def _lock(house: House, stack: ExitStack) -> bool:
    """Keep others from harvesting meanwhile, if nobody does."""
    try:
        stack.enter_context(
            lock_folder(house.settings.data, name="intake.lock")
        )  # crawls made elsewhere are kept under it
        stack.enter_context(lock_folder(house.settings.data))
    except DataFolderBusy:
        return False
    return True


def _notes(done: Compacted, *, alone: bool) -> list[str]:
    notes = []
    if not alone:
        notes.append("Somebody harvests: what was dropped within the last hour stays for now.")
    if done.waiting:
        when = "until the file of those is sealed" if alone else "for an hour at least"
        notes.append(f"{done.waiting:,} bodies stay {when}, since versions stand on them.")
    if done.unsealed:
        notes.append(
            f"{done.unsealed:,} bodies lie in files that are still written to, and stay until those are sealed."
        )
    return notes
