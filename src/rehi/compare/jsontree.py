"""JSON as a tree: of one value, or of one value on each line (JSON Lines)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import cast

import orjson

from rehi.compare.tree import NoTree, Step, Tree

_PLAIN_NAME = re.compile(r"[^\W\d][\w-]*")


def parse_json(text: str) -> Tree:
    """Return the value of a JSON text, a list for JSON Lines; NoTree if it is no JSON."""
    text = text.lstrip("\ufeff")
    try:
        return cast("Tree", orjson.loads(text))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        pass
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        return [cast("Tree", orjson.loads(line)) for line in lines] if len(lines) > 1 else _parse_slowly(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return _parse_slowly(text)


def _parse_slowly(text: str) -> Tree:
    """Parse with the standard library, which accepts NaN (kept as a word here) and lone surrogates."""
    try:
        return cast("Tree", json.loads(text, strict=False, parse_constant=str, parse_int=_integer))
    except RecursionError as error:
        raise NoTree("it is nested too deeply") from error
    except ValueError as error:
        raise NoTree(str(error)) from error


def _integer(digits: str) -> int | str:
    """Return an integer; one beyond 64 bits as it is written."""
    return int(digits) if len(digits) < 19 else digits


def show_path(steps: Sequence[Step]) -> str:
    """Return a path as people write it: ``$.items[id=17].name``."""
    return "$" + "".join(map(_show_step, steps))


def _show_step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if isinstance(step, tuple):
        return f"[{step[0]}={step[1][:100]}]"
    return f".{step}" if len(step) <= 100 and _PLAIN_NAME.fullmatch(step) else f"[{json.dumps(step[:100])}]"
