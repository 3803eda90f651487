"""Plugins: the parts that are installed, and who brings each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from rehi.app import House
from rehi.builtin import Plugin, outsiders, plugins

Others = Annotated[bool, Field(description="Leave out what rehi itself brings.")]


def list_plugins(house: House, *, others: Others = False) -> Sequence[Plugin]:
    """List the parts of every kind with the packages that bring them; one that can't be used says why."""
    return outsiders(check=True) if others else plugins()
