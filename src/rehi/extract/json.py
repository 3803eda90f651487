"""JSON: its strings in their order, each under its own name; lines of JSON too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rehi.errors import Unreadable
from rehi.extract.body import Body
from rehi.extract.characters import one_line
from rehi.extract.decode import decode, repair
from rehi.extract.html import has_markup, plain
from rehi.extract.iri import absolute_links
from rehi.extract.paragraphs import join_blocks
from rehi.model.document import Document

_TITLES = ("title", "name", "headline", "pealkiri", "nimi")
_LANGUAGES = ("language", "lang", "inLanguage", "keel")
_URL = re.compile(r"https?://\S+")
_BLOB = re.compile(r"\S{300,}")  # keys, hashes and pictures in base64: nothing to read
_BAD_LINES = 0.2  # of all lines that may be broken


def read(body: Body) -> Document:
    """Read JSON, or a file with JSON on each line."""
    decoded = decode(body.raw, declared=body.charset)
    value = _parse(decoded.text)
    strings = list(_strings(value, body.max_text))
    top = value if isinstance(value, dict) else {}
    return Document(
        media_type=body.media_type,
        text=join_blocks((_block(key, text) for key, text in strings if not _URL.fullmatch(text)), body.max_text),
        title=one_line(_first(top, _TITLES) or body.file_name),
        charset=decoded.charset,
        language=_first(top, _LANGUAGES) if len(_first(top, _LANGUAGES)) <= 12 else "",
        links=absolute_links("", (text for _, text in strings if _URL.fullmatch(text))),
    )


def _parse(text: str) -> Any:
    import orjson

    text = text.lstrip("\ufeff")
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError) as error:
        problem = str(error)
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and (values := _parse_lines(lines)):
        return values
    return _parse_slowly(text, problem)


def _parse_lines(lines: list[str]) -> list[Any]:
    """Return the value of each line; nothing if too many are none."""
    import orjson

    values, bad = [], 0
    for line in lines:
        try:
            values.append(orjson.loads(line))
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            bad += 1
            if bad > len(lines) * _BAD_LINES:
                return []
    return values


def _parse_slowly(text: str, problem: str) -> Any:
    """Return the value by the standard library, which forgives NaN and lone surrogates as orjson does not."""
    import json

    try:
        return json.loads(text, strict=False)
    except RecursionError as error:
        raise Unreadable("the JSON is nested too deeply") from error
    except ValueError as error:
        raise Unreadable(f"not JSON: {problem}") from error


def _strings(value: Any, limit: int) -> Iterator[tuple[str, str]]:
    """Yield every string with the name it stands under, without recursion: depth is the sender's choice."""
    stack: list[tuple[str, Any]] = [("", value)]
    total = 0
    while stack and total < limit:
        key, item = stack.pop()
        if isinstance(item, str):
            text = item.strip()
            if text and not _BLOB.fullmatch(text):
                total += len(text) + len(key) + 4
                yield key, text
        elif isinstance(item, dict):
            stack.extend((str(name), inner) for name, inner in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend((key, inner) for inner in reversed(item))


def _block(key: str, text: str) -> str:
    text = repair(text)
    text = plain(text) if has_markup(text) else text
    return f"{key}: {text}" if key else text


def _first(top: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((top[name] for name in names if isinstance(top.get(name), str)), "")
