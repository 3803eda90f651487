"""The command line: one module per command, none imported before it is called."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from rehi import __version__
from rehi.cli.lazy_group import LazyGroup

# name: (module, what it does). Kept here so that ``rehi --help`` imports nothing else.
COMMANDS = {
    "add": ("rehi.cli.add", "Add a crawl log, a list of URLs, or one page."),
    "harvest": ("rehi.cli.harvest", "Visit what is due and take it through all rooms."),
    "update": ("rehi.cli.update", "Visit everything, or a part of it, now; show past updates."),
    "up": ("rehi.cli.up", "Harvest continuously and serve the page, REST and SPARQL."),
    "query": ("rehi.cli.query", "Ask the graph in SPARQL."),
    "find": ("rehi.cli.find", "Find people, organisations and places by name."),
    "get": ("rehi.cli.get", "Get a version back, or many of them as a zip file."),
    "text": ("rehi.cli.text", "Show the text of a version, and what is understood of it."),
    "versions": ("rehi.cli.versions", "List the versions of a URL, and how each is stored."),
    "export": ("rehi.cli.export", "Write what is kept as WARC, WACZ or files, for other tools."),
    "diff": ("rehi.cli.diff", "Show what is different between two versions of a page, a table or a file."),
    "stats": ("rehi.cli.stats", "Show what there is, in numbers."),
    "archive": ("rehi.cli.archive", "Look after the archive: stats, verify, reindex, prune, compact."),
    "backup": ("rehi.cli.backup", "Back everything up, while a harvest goes on; list, verify and prune backups."),
    "restore": ("rehi.cli.restore", "Bring everything back from a backup, or a part of it."),
    "source": ("rehi.cli.source", "Show the sources; say when their pages are visited again and what is kept."),
    "host": ("rehi.cli.host", "Show how hosts fare, and order their pace, or that one is left alone."),
    "problems": ("rehi.cli.problems", "Show what went wrong, where, and what happens next."),
    "workers": ("rehi.cli.workers", "List who works on the catalogue, and what each holds."),
    "plugins": ("rehi.cli.plugins", "List the parts of every kind, and the packages that bring them."),
    "doctor": ("rehi.cli.doctor", "Check engines, disk, ports and versions, and say what to do."),
    "settings": ("rehi.cli.settings", "Show every setting, its value and its meaning."),
    "world": ("rehi.cli.world", "Serve the practice web on loopback."),
}


@click.group(cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rehi")
@click.option("--data", type=click.Path(path_type=Path), help="The data folder (default: rehi-data).")
@click.option("--config", type=click.Path(path_type=Path), help="The settings file (default: rehi.toml).")
@click.pass_context
def cli(ctx: click.Context, data: Path | None, config: Path | None) -> None:
    """Bring the public web's documents in, keep every version, and ask who, what and where.

    \b
    Examples:
      rehi add crawl.log          take in a Heritrix crawl log
      rehi harvest                visit, keep, read and describe what is due
      rehi find "Katrin Paio"     where a name is mentioned
      rehi up                     do all that continuously, with a web page
    """
    given: dict[str, Any] = {} if data is None else {"data": data}
    ctx.obj = (config, given)


def main() -> None:
    """Run a command; what goes wrong is one sentence and an honest exit code."""
    from rehi.cli.failure import explain

    try:
        result = cli.main(standalone_mode=False, prog_name="rehi")
    except BaseException as error:
        sys.exit(explain(error, as_json="--json" in sys.argv))
    sys.exit(result if isinstance(result, int) else 0)
