"""XML as a tree: each element a dict of its attributes, its text and its children by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from rehi.compare.tree import DEEPEST, NoTree, Step, TooDeep, Tree

TEXT = "#text"
_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,500}\?>")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_XML = "http://www.w3.org/XML/1998/namespace"
# Attributes; and namespaces that keep the document's own prefix: looking it up takes time for each namespace there is.
_FEW = 100


@dataclass(slots=True)
class Prefixes:
    """The prefixes of namespaces, the same for both versions."""

    by_uri: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def of(self, uri: str, element: Any) -> str:
        """Return the prefix of a namespace, chosen now if it has none yet; empty for the first default namespace."""
        if uri not in self.by_uri:
            known = element.nsmap.items() if len(self.by_uri) < _FEW else ()
            prefix = "xml" if uri == _XML else next((name for name, value in known if value == uri), "ns") or ""
            if prefix in self.taken:
                prefix = f"{prefix or 'ns'}{len(self.by_uri)}"
            self.by_uri[uri] = prefix
            self.taken.add(prefix)
        return self.by_uri[uri]


def parse_xml(text: str, prefixes: Prefixes) -> Tree:
    """Return the tree of an XML text; NoTree if it is no XML.

    Entities are neither resolved nor fetched nor expanded.
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
    """Return an element as a tree: its text alone if it has neither attributes nor children."""
    if depth > DEEPEST:
        raise TooDeep
    value: dict[str, Tree] = {
        f"@{_name(name, element, prefixes)}": attribute for name, attribute in _attributes(element)
    }
    words = [element.text or ""]
    children: dict[str, list[Tree]] = {}
    for child in element:
        if isinstance(child.tag, str):
            children.setdefault(_name(child.tag, child, prefixes), []).append(_value(child, prefixes, depth + 1))
        else:  # an entity that is not resolved
            words.append(child.text or "")
        words.append(child.tail or "")
    text = " ".join("".join(words).split())
    if not value and not children:
        return text
    if text:
        value[TEXT] = text
    return {**value, **children}


def _attributes(element: Any) -> Iterable[tuple[str, str]]:
    """Return names and values. lxml looks through all attributes for each value: for 40,000 it takes 2 s, XPath .01."""
    if len(element.attrib) <= _FEW:
        return cast("Iterable[tuple[str, str]]", element.attrib.items())
    return ((value.attrname, str(value)) for value in element.xpath("@*"))


def _name(name: str, element: Any, prefixes: Prefixes) -> str:
    if not name.startswith("{"):
        return name
    uri, _, local = name[1:].partition("}")
    prefix = prefixes.of(uri, element)
    return f"{prefix}:{local}" if prefix else local


def show_xpath(steps: Sequence[Step]) -> str:
    """Return a path as people write it: ``/rss/channel/item[guid=17]/@href``."""
    return "".join(map(_show_step, steps)) or "/"


def _show_step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step + 1}]"
    if isinstance(step, tuple):
        return f"[{step[0]}={step[1][:100]}]"
    return "/text()" if step == TEXT else f"/{step[:100]}"
