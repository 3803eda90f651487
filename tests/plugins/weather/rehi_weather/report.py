"""The format of weather reports: a headline, then a line for each station, then what the forecaster writes."""

from __future__ import annotations

from rehi.extract.body import Body
from rehi.model.document import Document, Part, TableDialect, TableShape


def read(body: Body) -> Document:
    """Read a report: its stations are a table, and each block is a part."""
    headline, _, rest = body.raw.decode("utf-8").partition("\n\n")
    table, _, words = rest.partition("\n\n")
    header, *rows = [line.split("|") for line in table.splitlines()]
    start, end = len(headline) + 2, len(headline) + 2 + len(table)
    text = f"{headline}\n\n{table}\n\n{words.strip()}"
    return Document(
        media_type=body.media_type,
        text=text,
        title=headline,
        parts=(
            Part(kind="stations", title="Stations", start=start, end=end),
            Part(kind="forecast", title="Forecast", start=end + 2, end=len(text)),
        ),
        tables=(
            TableShape(
                part=0,
                header=tuple(header),
                columns=len(header),
                rows=len(rows),
                first_row=1,
                dialect=TableDialect(delimiter="|", quote_char=""),
                start=start,
                end=end,
            ),
        ),
    )
