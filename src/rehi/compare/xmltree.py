"""XML as a tree: attributes, text and children of each element under their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rehi.compare.tree import DEEPEST, NoTree, Step, TooDeep, Tree

TEXT = "#text"
_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,500}\?>")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_XML = "http://www.w3.org/XML/1998/namespace"


_FEW = 100  # namespaces that are named as the document does; to look it up costs as much as there are


@dataclass(slots=True)
class Prefixes:
    """The prefix of each namespace, the same for both versions."""

    by_uri: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def of(self, uri: str, element: Any) -> str:
        """The prefix, chosen now if need be; none for the first namespace that has none."""
        if uri not in self.by_uri:
            known = element.nsmap.items() if len(self.by_uri) < _FEW else ()
            said = "xml" if uri == _XML else next((prefix for prefix, value in known if value == uri), "ns") or ""
            if said in self.taken:
                said = f"{said or 'ns'}{len(self.by_uri)}"
            self.by_uri[uri] = said
            self.taken.add(said)
        return self.by_uri[uri]


def parse_xml(text: str, prefixes: Prefixes) -> Tree:
    """The tree of a text; NoTree if it is no XML.

    No entity is resolved, none is fetched, and none grows.
    """
    from lxml import etree

    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        huge_tree=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    source = _FORBIDDEN.sub("", _DECLARATION.sub("", text.lstrip("\ufeff"), count=1)).strip().encode("utf-8")
    try:
        root = etree.fromstring(source, parser)
    except etree.XMLSyntaxError as error:
        raise NoTree(str(error)) from error
    return {_name(root.tag, root, prefixes): [_value(root, prefixes, 0)]}


def _value(element: Any, prefixes: Prefixes, depth: int) -> Tree:
    """An element's text alone if there is nothing else to it."""
    if depth > DEEPEST:
        raise TooDeep
    value: dict[str, Tree] = {f"@{_name(name, element, prefixes)}": said for name, said in element.attrib.items()}
    words = [element.text or ""]
    children: dict[str, list[Tree]] = {}
    for child in element:
        if isinstance(child.tag, str):
            children.setdefault(_name(child.tag, child, prefixes), []).append(_value(child, prefixes, depth + 1))
        else:  # an entity that stays as it is
            words.append(child.text or "")
        words.append(child.tail or "")
    text = " ".join("".join(words).split())
    if not value and not children:
        return text
    if text:
        value[TEXT] = text
    return {**value, **children}


def _name(name: str, element: Any, prefixes: Prefixes) -> str:
    if not name.startswith("{"):
        return name
    uri, _, local = name[1:].partition("}")
    prefix = prefixes.of(uri, element)
    return f"{prefix}:{local}" if prefix else local


def show_xpath(steps: Sequence[Step]) -> str:
    """A path as people write it: ``/rss/channel/item[guid=17]/@href``."""
    return "".join(map(_show_step, steps)) or "/"


def _show_step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step + 1}]"
    if isinstance(step, tuple):
        return f"[{step[0]}={step[1][:100]}]"
    return "/text()" if step == TEXT else f"/{step[:100]}"
