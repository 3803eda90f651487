"""``rehi find``: entities by name."""

from __future__ import annotations

import click

from rehi.cli.output import json_option, open_house, show_json, show_table


@click.command("find")
@click.argument("name")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="No more than these.")
@json_option
@click.pass_context
def command(ctx: click.Context, name: str, limit: int, as_json: bool) -> int:
    """Find people, organisations and places of which a name or basic form begins with NAME, and where they stand.

    \b
    Examples:
      rehi find "Katrin Paio"
      rehi find võru --json
    """
    from rehi.operations.documents import list_documents
    from rehi.operations.entities import find_entities

    with open_house(ctx) as house:
        entities = find_entities(house, name=name, limit=limit)
        pages = {row.key: list_documents(house, entity=str(row.key), limit=5).documents for row in entities}
        if as_json:
            show_json([{"entity": row, "pages": [page.url for page in pages[row.key]]} for row in entities])
        else:
            rows = [
                (row.name, row.key.kind, row.documents, "\n".join(page.url for page in pages[row.key]))
                for row in entities
            ]
            show_table(("name", "kind", "pages", "for example"), rows, empty=f"No name begins with {name}.")
    return 0 if entities else 1
