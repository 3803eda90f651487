"""``rehi query``: ask the graph."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from rehi.cli.output import open_house, show_table
from rehi.errors import QueryError
from rehi.ports import QueryAnswer


@click.command("query")
@click.argument("text", required=False)
@click.option("-f", "--file", type=click.Path(path_type=Path), help="Read the query from a file; - is standard input.")
@click.option("--format", "form", type=click.Choice(["table", "json", "csv", "tsv", "xml", "ttl", "nt"]), default="table",
              show_default=True, help="How to print the answer.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.pass_context
def command(ctx: click.Context, text: str | None, file: Path | None, form: str, as_json: bool) -> None:
    """Ask the graph in SPARQL 1.1, over all that has been harvested. Well-known prefixes need no declaration.

    \b
    Examples:
      rehi query 'SELECT ?name WHERE { ?who a nerd:Person ; foaf:name ?name } ORDER BY ?name LIMIT 10'
      rehi query 'SELECT ?page WHERE { ?place ner:locationName "Võru" ; ner:mentionedAtSite ?page }' --format csv
      rehi query -f question.rq --json
    """
    from rehi.graph import media_type_for, prepare_query

    query = prepare_query(_text(text, file))
    media_type = media_type_for("json" if as_json else form, query.kind)
    with open_house(ctx) as house:
        answer = house.query(query, media_type=media_type)
        if form == "table" and not as_json:
            _show(answer.media_type, b"".join(answer.chunks))
            click.echo(f"{answer.seconds * 1000:.0f} ms", err=True)
            _warn(answer)
            return
        for chunk in answer.chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        _warn(answer)


def _text(text: str | None, file: Path | None) -> str:
    if (text is None) == (file is None):
        raise click.UsageError("give the query either as an argument or with -f FILE")
    if text is not None:
        return text
    if file == Path("-"):
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8") if file else ""
    except (OSError, UnicodeDecodeError) as error:
        raise QueryError(f"the query file {file} can't be read: {error}") from error


def _warn(answer: QueryAnswer) -> None:
    if answer.incomplete:
        click.echo(f"The answer is incomplete. {answer.incomplete}", err=True)


def _show(media_type: str, body: bytes) -> None:
    if media_type != "application/sparql-results+json":
        click.echo(body.decode())
        return
    import orjson

    result = orjson.loads(body)
    if "boolean" in result:
        click.echo("yes" if result["boolean"] else "no")
        return
    columns = result["head"]["vars"]
    rows = [[row.get(name, {}).get("value", "") for name in columns] for row in result["results"]["bindings"]]
    show_table(columns, rows, empty="No rows.")
