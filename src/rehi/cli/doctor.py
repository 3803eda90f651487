"""``rehi doctor``: is everything as it should be?"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import click

from rehi import __version__
from rehi.app import House, lock_folder
from rehi.cli.output import json_option, open_house, show_json, show_table
from rehi.errors import DataFolderBusy, RehiError

ENOUGH_DISK = 1_000_000_000
ENOUGH_FILES = 1024


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was seen, and what to do if it is not well."""

    what: str
    ok: bool
    seen: str
    cure: str = ""


@click.command("doctor")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """Check versions, the data folder, disk, engines and the port, and say what to do; exits with 1 if any is not well.

    \b
    Examples:
      rehi doctor
      rehi doctor --json
    """
    with open_house(ctx) as house:
        checks = list(_examine(house))
    if as_json:
        show_json(checks)
    else:
        rows = [("well" if check.ok else "NOT WELL", check.what, check.seen, check.cure) for check in checks]
        show_table(("", "what", "seen", "what to do"), rows, empty="")
    return 0 if all(check.ok for check in checks) else 1


def _examine(house: House) -> Iterator[Check]:
    yield _python()
    yield Check("rehi", True, __version__)
    yield _folder(house)
    yield _disk(house)
    yield _files()
    yield _engine("catalogue", lambda: house.catalogue.check(), "check the setting `catalogue`")
    yield _engine("graph", lambda: house.graph.check(), "check the setting `graph`")
    yield _engine("archive", lambda: house.check_archive(), "check the settings under `archive`, and the credentials")
    yield _engine("fetch", _libcurl, "install pycurl from its wheel")
    yield _engine("names", _estonian, "install estnltk from its wheel")
    yield _plugins()
    yield _port(house)


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


def _engine(what: str, look: Callable[[], str], cure: str) -> Check:
    try:
        return Check(what, True, look())
    except RehiError as error:
        return Check(what, False, str(error), cure)
    except ImportError as error:
        return Check(what, False, f"{error.name} is not installed", cure)


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


def _is_up(house: House) -> bool:
    try:
        with lock_folder(house.settings.data):
            return False
    except DataFolderBusy:
        return True


def _port(house: House) -> Check:
    settings = house.settings.serve
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            seen = f"{settings.host}:{settings.port}: {error.strerror.lower() if error.strerror else error}"
            if _is_up(house):
                return Check("port", True, f"{seen}, by the rehi that is up")
            return Check("port", False, seen, "choose another with serve.port, or end what listens there")
    return Check("port", True, f"{settings.host}:{settings.port} is free")
