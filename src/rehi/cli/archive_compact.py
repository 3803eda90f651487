"""``rehi archive compact``: files are written anew without what was dropped."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json


@click.command("compact")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Free the room of the bodies that `rehi archive prune` has dropped, without stopping anybody.

    Versions that stood on a dropped one are written anew. Records that stay keep their old addresses: a file beside the
    archive's says where they are now. While rehi is up, what was dropped within the last hour stays, and what something
    stood on goes the next time.

    \b
    Examples:
      rehi archive prune
      rehi archive compact
    """
    from rehi.operations.compaction import compact_archive

    with open_house(ctx) as house:
        show = click.echo if not as_json else (lambda *_, **__: None)
        result = compact_archive(house, on_file=lambda file: show(f"writing {file} anew", err=True))
    if as_json:
        show_json(result)
        return
    done = result.done
    if done.files:
        click.echo(
            f"{done.bodies:,} bodies are gone and {done.rebased:,} versions stand on something else: {done.files:,} files, "
            f"{done.bytes_before:,} bytes before and {done.bytes_after:,} now."
        )
    elif not result.notes:
        click.echo(
            "There is nothing to let go of; `rehi archive prune` drops what the rules of the sources don't keep."
        )
    for note in result.notes:
        click.echo(note)
