"""``rehi get``: a version, or many of them."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rehi.cli.output import json_option, open_house, printable, show_json

if TYPE_CHECKING:
    from rehi.app import House
    from rehi.model.version import Version

_PIPE = Path("-")


@click.command("get")
@click.argument("url", required=False)
@click.option(
    "--at", help="The version that was valid then: 2026-03-01 (its end), 2026-03-01T12:30Z, 14 digits; in UTC."
)
@click.option("--version", "number", type=click.IntRange(1), help="The version of this number, as in `rehi versions`.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file; - is standard output.")
@click.option("--headers", is_flag=True, help="What the server said with it, in place of the bytes.")
@click.option("--zip", "zipped", type=click.Path(path_type=Path), help="Write many versions to this zip file; or -.")
@click.option("--all-versions", is_flag=True, help="With --zip: all versions, and not only the newest of each URL.")
@click.option("--source", type=int, help="With --zip: only what came from this source.")
@click.option("--host", default="", help="With --zip: only this host.")
@click.option("--domain", default="", help="With --zip: only this host and those below it.")
@click.option("--prefix", default="", help="With --zip: only URLs that begin so.")
@click.option(
    "--type", "media_type", default="", help="With --zip: only this type, as in text/html, or image/ for all."
)
@click.option("--since", default="", help="With --zip: only versions taken then or later.")
@click.option("--until", default="", help="With --zip: only versions taken then or before.")
@json_option
@click.pass_context
def command(ctx: click.Context, /, url: str | None, zipped: Path | None, as_json: bool, **given: Any) -> int:
    """Write the newest version of URL, byte for byte; or the one that was valid at a moment; or many as a zip file.

    \b
    Examples:
      rehi get https://www.example.ee/ > page.html
      rehi get https://www.example.ee/andmed.csv --at 2026-03-01 -o andmed.csv
      rehi get https://www.example.ee/ --version 3 --headers
      rehi get --zip example.zip --host www.example.ee --type text/html
      rehi get --zip history.zip --all-versions https://www.example.ee/andmed.csv
    """
    many = ("all_versions", "source", "host", "domain", "prefix", "media_type", "since", "until")
    one = ("at", "number", "output", "headers")
    if zipped is None and (wrong := [name for name in many if given[name]]):
        raise click.UsageError(f"--{wrong[0].replace('media_', '').replace('_', '-')} goes with --zip")
    if zipped is not None and (wrong := [name for name in one if given[name]]):
        raise click.UsageError(f"--{wrong[0].replace('number', 'version')} goes with a single URL, not with --zip")
    if zipped is None and url is None:
        raise click.UsageError("say what: rehi get URL, or rehi get --zip FILE")
    if as_json and zipped in (None, _PIPE) and not given["headers"] and given["output"] in (None, _PIPE):
        raise click.UsageError("--json says what was written: give -o FILE, --zip FILE or --headers with it")
    with open_house(ctx) as house:
        if zipped is not None:
            return _many(house, url or "", zipped, as_json, {name: given[name] for name in many})
        _one(house, url or "", as_json, **{name: given[name] for name in one})
    return 0


def _one(
    house: House, url: str, as_json: bool, *, at: str | None, number: int | None, output: Path | None, headers: bool
) -> None:
    from rehi.cli.output_file import CHUNK, saved, to_output
    from rehi.operations.moments import parse_moment
    from rehi.operations.versions import find_version, open_version

    if at and number:
        raise click.UsageError("give either --at or --version")
    version = find_version(house, url, at=parse_moment(at) if at else None, number=number)
    if headers:
        _show_headers(house, version, as_json)
        return
    with open_version(house, version) as body:
        if output is None or output == _PIPE:
            to_output(body, whatever=output is not None)
            return
        with saved(output) as file:
            while chunk := body.read(CHUNK):
                file.write(chunk)
    if as_json:
        show_json({"file": str(output), "url": url, "version": version})
    else:
        taken = f"{version.taken_at:%Y-%m-%d %H:%M:%S} UTC"
        click.echo(
            f"Version {version.number} of {taken}, {version.size:,} bytes, is in {printable(str(output))}.", err=True
        )


def _show_headers(house: House, version: Version, as_json: bool) -> None:
    head = house.archive.read_headers(version.record).http
    if as_json:
        show_json({"version": version, "status": head.status if head else 0, "headers": head.headers if head else ()})
    elif head is not None:
        click.echo(f"HTTP/{head.http_version} {head.status} {printable(head.reason)}")
        for name, value in head.headers:
            click.echo(f"{printable(name)}: {printable(value)}")


def _many(house: House, url: str, zipped: Path, as_json: bool, given: dict[str, Any]) -> int:
    from rehi.cli.output_file import saved
    from rehi.operations.downloads import INDEX, ZipCounts, choose, zip_versions

    all_versions = given.pop("all_versions")
    if given["host"] and given["domain"]:
        raise click.UsageError("give either --host or --domain")
    domain = given.pop("domain")
    where = choose(
        house,
        url=url,
        source_id=given.pop("source"),
        domain=bool(domain),
        **{**given, "host": given["host"] or domain},
    )
    tally = ZipCounts()
    chunks = zip_versions(house, where, all_versions=all_versions, tally=tally)
    if zipped == _PIPE:
        out = sys.stdout.buffer
        if out.isatty():
            raise click.UsageError("a terminal would make a mess of a zip file; give --zip FILE")
        for chunk in chunks:
            out.write(chunk)
        out.flush()
    else:
        with saved(zipped) as file:
            file.writelines(chunks)
    if as_json:
        show_json({"file": str(zipped), **asdict(tally)})
    else:
        count = "1 version" if tally.versions == 1 else f"{tally.versions:,} versions"
        click.echo(f"{count} of {tally.bytes:,} bytes in all: {printable(str(zipped))}", err=True)
    if tally.problems and not as_json:
        click.echo(f"{tally.problems:,} could not be had; {INDEX} in it says which and why.", err=True)
    return 1 if tally.problems else 0
