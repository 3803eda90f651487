"""``rehi doctor``: is everything as it should be?"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from rehi import __version__
from rehi.app import House
from rehi.app.folder_lock import is_locked
from rehi.cli.output import json_option, open_house, show_json, show_table
from rehi.errors import CatalogueLost, EngineAway, RehiError

if TYPE_CHECKING:
    from rehi.operations.health import Ailment, Examination, Mended

ENOUGH_DISK = 1_000_000_000
ENOUGH_FILES = 1024
SHOWN = 50


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was seen, and what to do if it is not well."""

    what: str
    ok: bool
    seen: str
    cure: str = ""
    ailments: tuple[Ailment, ...] = ()  # of a part of the house
    in_part: bool = False  # whether something was left out that should have been looked at

    @property
    def word(self) -> str:
        """How it is, in a word: what was not looked at is not called well."""
        if not self.ok:
            return "NOT WELL"
        return "in part" if self.in_part else "well"


@click.command("doctor")
@click.option("--deep", is_flag=True, help="Read everything: all records, every table, every description.")
@click.option("--mend", "mending", is_flag=True, help="Bring back what is damaged, and list what can't be.")
@json_option
@click.pass_context
def command(ctx: click.Context, deep: bool, mending: bool, as_json: bool) -> int:
    """Check versions, disk, engines and every part of the data folder, and name the cure; exits with 1 if any is not well.

    A quick look takes seconds: sizes, marks and samples. A deep one reads everything. Both may run while rehi is up.
    To mend, stop the harvest: derived files come from the archive, the graph from the catalogue, indexes from the files, and
    the catalogue from what can be read of it and from the archive. What is replaced is set aside.

    \b
    Examples:
      rehi doctor
      rehi doctor --deep
      rehi doctor --mend
      rehi doctor --json
    """
    if mending:
        return _mend(ctx, as_json=as_json)
    with open_house(ctx) as house:
        checks = list(_examine(house, deep=deep))
    if as_json:
        show_json(checks)
    else:
        _show(checks)
    return 0 if all(check.ok for check in checks) else 1


def _mend(ctx: click.Context, *, as_json: bool) -> int:
    """Mend, print what was done, what is lost and what ails the house still, and return 1 if anything is or does."""
    from rehi.operations.health import mend

    with open_house(ctx) as house:
        mended = mend(house.settings)
    if as_json:
        show_json(mended)
    else:
        for line in mended.done or ["Nothing had to be mended."]:
            click.echo(line)
        _show_losses(mended)
    return 0 if mended.is_whole else 1


def _show_losses(mended: Mended) -> None:
    versions = [(lost.url, lost.number, lost.at, lost.why) for lost in mended.lost]
    _show_some(("URL", "version", "of", "what is lost"), versions)
    records = [(lost.kind, lost.url, lost.at, f"{lost.file}:{lost.offset}") for lost in mended.records]
    _show_some(("lost record", "URL", "of", "where"), records)
    if mended.missing:
        click.echo("Only the catalogue knew, and it can't be brought back:")
        for line in mended.missing:
            click.echo(f"- {line}")
    if mended.ailing:
        click.echo("This ails the house still:")
    _show_ailments(mended.ailing)


def _show_some(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print the first rows of a table, and how many there are besides."""
    if rows:
        show_table(columns, rows[:SHOWN], empty="")
    if len(rows) > SHOWN:
        click.echo(f"{len(rows) - SHOWN:,} more; --json shows all.")


def _show_ailments(ailments: Sequence[Ailment]) -> None:
    listed = [(ailment.part.value, ailment.subject, ailment.why) for ailment in ailments]
    _show_some(("part", "where", "what is wrong"), listed)


def _show(checks: Sequence[Check]) -> None:
    rows = [(check.word, check.what, check.seen, check.cure) for check in checks]
    show_table(("", "what", "seen", "what to do"), rows, empty="")
    _show_ailments([ailment for check in checks for ailment in check.ailments])


def _examine(house: House, *, deep: bool) -> Iterator[Check]:
    yield _python()
    yield Check("rehi", True, __version__)
    yield _folder(house)
    yield _disk(house)
    yield _files()
    yield _catalogue(house)
    yield _engine("engine of the graph", lambda: house.graph.check(), "check the setting `graph`")
    yield _engine("place of the archive", lambda: house.check_archive(), "check the settings under `archive`")
    from rehi.operations.health import examine

    for seen in examine(house, deep=deep):
        yield _part(seen)
    yield _engine("fetch", _libcurl, "install pycurl from its wheel")
    yield _engine("names", _estonian, "install estnltk from its wheel")
    yield _plugins()
    yield _port(house)


def _catalogue(house: House) -> Check:
    """Look at the engine of the catalogue; a file is not made by looking, and one that is damaged is no matter of settings."""
    from rehi.app.embedded import embedded_catalogue
    from rehi.operations.health.ailment import CURES, HousePart

    what, file = "engine of the catalogue", embedded_catalogue(house.settings)
    if file is not None and file.why_gone():
        return Check(what, True, f"SQLite; {file.path} is not begun, or gone")
    try:
        return Check(what, True, house.catalogue.check())
    except EngineAway as error:
        return Check(what, False, str(error), "check the setting `catalogue`")
    except RehiError as error:
        damaged = file is not None and any(not fault.unread for fault in file.faults(deep=False))
        lost = isinstance(error, CatalogueLost)
        cure = CURES[HousePart.CATALOGUE] if damaged or lost else "check the setting `catalogue`"
        return Check(what, False, str(error), cure)


def _part(seen: Examination) -> Check:
    if seen.is_well:
        return Check(seen.part.value, True, seen.seen, in_part=seen.in_part)
    first = seen.ailments[0]
    some = f"{len(seen.ailments):,} ailments, as: {first.subject}: {first.why}"
    cures = dict.fromkeys(ailment.cure for ailment in seen.ailments)
    return Check(seen.part.value, False, some, "; ".join(cures), seen.ailments)


def _python() -> Check:
    ok = sys.version_info >= (3, 11)
    return Check("Python", ok, platform.python_version(), "" if ok else "use Python 3.11 or newer")


def _folder(house: House) -> Check:
    folder = house.settings.data.resolve()
    ok = os.access(folder, os.W_OK)
    return Check("data folder", ok, str(folder), "" if ok else "make it writable, or name another with --data")


def _disk(house: House) -> Check:
    free = shutil.disk_usage(house.settings.data).free
    ok = free > ENOUGH_DISK
    return Check("disk", ok, f"{free / 1e9:,.1f} GB free", "" if ok else "make room: rehi wants at least 1 GB")


def _files() -> Check:
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    ok = limit >= ENOUGH_FILES or limit < 0
    return Check("open files", ok, f"up to {limit}", "" if ok else f"allow {ENOUGH_FILES}: ulimit -n {ENOUGH_FILES}")


def _engine(name: str, look: Callable[[], str], cure: str) -> Check:
    try:
        return Check(name, True, look())
    except RehiError as error:
        return Check(name, False, str(error), cure)
    except ImportError as error:
        return Check(name, False, f"{error.name} is not installed", cure)


def _libcurl() -> str:
    import pycurl

    return str(pycurl.version)


def _estonian() -> str:
    from importlib.metadata import version

    return f"EstNLTK {version('estnltk')}"


def _plugins() -> Check:
    from rehi.builtin import outsiders

    parts = outsiders(check=True)
    broken = [part for part in parts if part.error]
    if not broken:
        return Check("plugins", True, f"{len(parts)} parts of other packages" if parts else "none of other packages")
    seen = "; ".join(f"{part.group} {part.name} of {part.package}: {part.error}" for part in broken)
    return Check("plugins", False, seen, "repair or uninstall that package; all else works without it")


def _port(house: House) -> Check:
    settings = house.settings.serve
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            seen = f"{settings.host}:{settings.port}: {error.strerror.lower() if error.strerror else error}"
            if is_locked(house.settings.data):
                return Check("port", True, f"{seen}, by the rehi that is up")
            return Check("port", False, seen, "choose another with serve.port, or end what listens there")
    return Check("port", True, f"{settings.host}:{settings.port} is free")
