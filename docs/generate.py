"""The pages of the docs that are made from the code, so that they can't drift: commands, settings and the API."""

from __future__ import annotations

from pathlib import Path

import click

from rehi.cli import COMMANDS, cli
from rehi.serve.reference import OperationEntry, list_entries, list_problem_kinds, list_types
from rehi.settings import HostSettings, Settings, describe_settings

DOCS = Path(__file__).parent


def commands() -> str:
    """Every command with its help."""
    context = cli.make_context("rehi", ["stats"], terminal_width=100)
    parts = ["# Commands", "", "Made from the code by `make docs`. `rehi COMMAND --help` shows the same.", ""]
    parts += ["```", cli.get_help(context), "```", ""]
    for name in COMMANDS:
        parts += _command(cli, name, context)
    return "\n".join(parts)


def _command(group: click.Group, name: str, parent: click.Context) -> list[str]:
    """A command with its help, and those below it."""
    command = group.get_command(parent, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100)
    parts = [f"## {context.command_path}", "", "```", command.get_help(context), "```", ""]
    below = command.list_commands(context) if isinstance(command, click.Group) else []
    return parts + [line for one in below for line in _command(command, one, context)]  # type: ignore[arg-type]


def settings() -> str:
    """Every setting with its default and its meaning."""
    lines = [
        "# Settings",
        "",
        "Made from the code by `make docs`. `rehi settings` shows the values in force.",
        "",
        "They come from `rehi.toml` in the current folder (or the file named with `--config` or `REHI_CONFIG`) and from the",
        "environment, which wins: `fetch.delay` is `delay` in the table `[fetch]`, and `REHI_FETCH__DELAY`.",
        "",
        "| setting | default | meaning |",
        "|---|---|---|",
    ]
    for row in describe_settings(Settings.model_construct()):
        default = f"`{row.default}`" if row.default not in ("", []) else ""
        lines.append(f"| `{row.name}` | {default} | {row.help} |")
    lines += ["", "Each table `[[fetch.hosts]]` may have these; the first that matches a host holds ([hosts.md](hosts.md)):", ""]
    lines += ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in HostSettings.model_fields.items():
        default = f"`{field.default}`" if field.default and not field.is_required() else ""
        lines.append(f"| `{name}` | {default} | {field.description} |")
    return "\n".join(lines) + "\n"


API = """# REST and SPARQL

Made from the code by `make docs`. A running rehi shows the same at `/docs`, and as an OpenAPI 3.1 document at `/openapi.json`.

`rehi up` answers on `http://127.0.0.1:8666` (`serve.host`, `serve.port`). On any address but loopback, everything that
changes something needs `Authorization: Bearer TOKEN` (the setting `serve.token`); on loopback, requests from other web
pages are refused by their Origin and Host.

Parameters that are unknown, malformed or given twice are refused (400 in a query, 422 in a body, 404 in a path), and so are
those that are empty where that means nothing, and texts that are not in UTF-8 or hold control characters; only a SPARQL query
may have lines. Forms on pages may leave the fields that they have empty, and files under `/static/` take any query, by which
caches tell them apart. Every refusal is a problem after RFC 9457, `application/problem+json`: `type`, `title`, `status`,
`detail`, `instance`, and of our own `code`, `advice`, and `parameters`, which names each that is wrong and says why (the code
is `bad-request`, `bad-content` or `not-found` then); whoever accepts `text/html` gets a page with the same words. `HEAD` goes where `GET`
goes, and `OPTIONS` says which methods an address has. What `Accept` rules out, with `q=0` too, is not sent (406).
"""
NOTES = {
    "Graph": """`/sparql` speaks the SPARQL 1.1 query protocol: `GET /sparql?query=…`, `POST` with a form field `query`, or `POST` with the
query itself as `application/sparql-query`. SELECT and ASK come as SPARQL JSON or XML, CSV or TSV; CONSTRUCT and DESCRIBE as
Turtle, N-Triples and others; by `Accept`, or by `format`. A query sees the union of all graphs. It is ended after
`query.timeout` seconds or at `query.memory` bytes (503), and can neither change anything nor reach out (`SERVICE`, `LOAD`: 400).
The graph's shape: [graph.md](graph.md).""",
    "Sources": "What policies there are: [revisit.md](revisit.md). What rules for versions there are: [retention.md](retention.md).",
    "Versions": "How versions are compared: [diff.md](diff.md).",
    "Web archive": "Addresses, headers and CDX fields: [memento.md](memento.md).",
    "Archive": "What the numbers mean: [archive.md](archive.md).",
    "Hosts": "How hosts are treated: [hosts.md](hosts.md).",
    "Updates": "What an update is: [updates.md](updates.md).",
}


def api() -> str:
    """Every operation with its parameters and its answer, the types of the answers, and the kinds of problems."""
    lines = [API, "| address | what |", "|---|---|"]
    lines += [f"| `{one.address}` | {one.operation.summary} |" for entries in list_entries().values() for one in entries]
    lines.append("")
    for group, entries in list_entries().items():
        lines += [f"## {group}", "", *([NOTES[group], ""] if group in NOTES else [])]
        for entry in entries:
            lines += _operation(entry)
    lines += ["## Types", ""]
    for one in list_types():
        lines += [f"### {one.name}", "", one.description + (f" One of {', '.join(map(_code, one.values))}." if one.values else ""), ""]
        if one.fields:
            lines += ["| field | type |", "|---|---|", *(f"| `{name}` | {kind} |" for name, kind in one.fields), ""]
    lines += ["## Problems", "", "| code | status | what | what to do |", "|---|---|---|---|"]
    lines += [f"| `{one.code}` | {one.status} | {one.title} | {one.advice} |" for one in list_problem_kinds()]
    return "\n".join(lines) + "\n"


def _operation(entry: OperationEntry) -> list[str]:
    operation = entry.operation
    needs = " Needs the token." if operation.changes else ""
    lines = [f"### {entry.address}", "", f"{entry.description}{needs}", ""]
    if entry.parameters:
        lines += ["| parameter | in | type | default | meaning |", "|---|---|---|---|---|"]
        for row in entry.parameters:
            name = f"`{row.name}`" + (" (needed)" if row.required else "")
            lines.append(f"| {name} | {row.place} | {row.kind} | {row.default} | {row.description} |")
        lines.append("")
    media_types = ", ".join(map(_code, entry.answers))
    given = f"{entry.answer} as {media_types}" if entry.answer else media_types or "no body"
    lines += [f"Answer: {given}. Statuses: {', '.join(str(status) for status, _ in entry.statuses)}.", ""]
    return [*lines, "```", entry.curl, "```", ""]


def _code(text: object) -> str:
    return f"`{text}`"


PAGES = {"commands.md": commands, "settings.md": settings, "api.md": api}


if __name__ == "__main__":
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), encoding="utf-8")
