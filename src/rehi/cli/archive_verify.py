"""``rehi archive verify``: whether all that was kept is there, and is what it was."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json, show_table
from rehi.cli.progress import bytes_bar

SHOWN = 50


@click.command("verify")
@click.option("--sample", type=click.IntRange(1, 10_000_000), metavar="N", help="Read N bodies, chosen by lot.")
@json_option
@click.pass_context
def command(ctx: click.Context, sample: int | None, as_json: bool) -> None:
    """Read every record of the archive and check its digests; exit with 1 if something is wrong.

    Deltas are unfolded, so that what they stand on is checked too, and every body that the catalogue knows of is looked
    for. What is wrong is also on the problems list. It may run while rehi is up.

    \b
    Examples:
      rehi archive verify
      rehi archive verify --sample 1000
      rehi archive verify --json
    """
    from rehi.operations.verification import archive_size, verify_all, verify_sample

    with open_house(ctx) as house:
        if sample is None:
            with bytes_bar("verifying", total=archive_size(house), quiet=as_json) as advance:
                done = verify_all(house, on_progress=advance)
        else:
            done = verify_sample(house, sample)
    if as_json:
        show_json(done)
    else:
        rows = [(fault.file, fault.offset, fault.code, fault.why) for fault in done.faults[:SHOWN]]
        if rows:
            show_table(("file", "offset", "code", "what is wrong"), rows, empty="")
        if len(done.faults) > SHOWN:
            click.echo(f"{len(done.faults) - SHOWN:,} more; --json shows all, and so does `rehi problems`.")
        looked = f"{done.bodies:,} bodies in {done.files:,} files, {done.bytes:,} bytes"
        click.echo(f"{looked}: {f'{len(done.faults):,} are not as they were' if done.faults else 'all is well'}.")
    ctx.exit(1 if done.faults else 0)
