"""XML: the text of its elements in their order; feeds with the HTML inside their items."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any, cast

from rehi.errors import Unreadable
from rehi.extract.body import Body
from rehi.extract.characters import clean, one_line
from rehi.extract.decode import decode_markup
from rehi.extract.html import flat_text, has_markup, plain
from rehi.extract.iri import written_links
from rehi.extract.paragraphs import join_blocks, part_lines
from rehi.model.document import Document

_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>", re.IGNORECASE)
_TITLES = frozenset({"title", "pealkiri", "headline", "titel"})
_NAMING = frozenset({"name", "nimi", "title", "pealkiri", "label", "fullname", "author", "autor"})
_LINKING = frozenset({"href", "src", "resource", "about", "url"})
_NO_TEXT = frozenset(
    {"guid", "pubdate", "lastbuilddate", "updated", "published", "generator", "ttl", "script", "style"}
)
_URL = re.compile(r"https?://\S+")
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_FEW = 100  # attributes
_LEAFY = 64  # child elements; one with more is a container even if a stray word stands between them


def read(body: Body) -> Document:
    """Read an XML document, mended where it is broken."""
    decoded = decode_markup(body.raw, declared=body.charset)
    root = _parse(decoded.text)
    blocks = list(_blocks(root, body.max_text))
    text = join_blocks((text for _, text in blocks if not _URL.fullmatch(text)), body.max_text)
    return Document(
        media_type=body.media_type,
        # The parser gives up at 256 levels; the words below are still words.
        text=text or part_lines(flat_text(decoded.text)),
        title=one_line(next((text for name, text in blocks if name in _TITLES), "") or body.file_name),
        charset=decoded.charset,
        language=_language(root, blocks),
        links=written_links(_links(root, blocks)),
    )


def _parse(text: str) -> Any:
    """Return the root element. Entities stay as they are: none is fetched, and none grows."""
    from lxml import etree

    parser = etree.XMLParser(
        encoding="utf-8", recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    source = clean(_DECLARATION.sub("", text, count=1)).strip().encode("utf-8")
    try:
        root = etree.fromstring(source, parser)
    except etree.XMLSyntaxError as error:
        raise Unreadable(f"not XML: {error}") from error
    if root is None:
        raise Unreadable("not XML: there is no element in it")
    return root


def _blocks(root: Any, limit: int) -> Iterator[tuple[str, str]]:
    """Yield the local name and the text of each element that has words of its own; its children are part of its text."""
    stack, total = [root], 0
    while stack and total < limit:
        element = stack.pop()
        name = _local(element)
        if name in _NO_TEXT:
            continue
        if _has_words(element):
            text = _words(element)
        else:
            stack.extend(reversed(element))
            text = "; ".join(value for key, value in _attributes(element) if _bare(key) in _NAMING and value.strip())
        if text:
            total += len(text) + 2
            yield name, text


def _has_words(element: Any) -> bool:
    if not isinstance(element.tag, str) or (element.text and element.text.strip()):
        return True
    return len(element) <= _LEAFY and any(child.tail and child.tail.strip() for child in element)


def _words(element: Any) -> str:
    for child in element.iterdescendants("*"):
        if not len(child) and not child.text:
            child.text = " "  # an empty element, such as a line break, parts words
    text = "".join(map(_explained, element.itertext())) if len(element) else element.text or ""
    return plain(text) if has_markup(text) else " ".join(text.split())


def _explained(piece: str) -> str:
    """Return a piece of text; for an entity that no DTD explains, as &otilde;, what it means in HTML."""
    return unescape(piece) if piece.startswith("&") and piece.endswith(";") else piece


def _links(root: Any, blocks: list[tuple[str, str]]) -> Iterator[str]:
    yield from (text for _, text in blocks if _URL.fullmatch(text))
    for element in root.iter("*"):
        for key, value in _attributes(element):
            if _bare(key) in _LINKING:
                yield value


def _attributes(element: Any) -> Iterable[tuple[str, str]]:
    """Return names and values. lxml looks through all attributes for each value: for 40,000 it takes 2 s, XPath .01."""
    if len(element.attrib) <= _FEW:
        return cast("Iterable[tuple[str, str]]", element.attrib.items())
    return ((value.attrname, value) for value in element.xpath("@*"))


def _language(root: Any, blocks: list[tuple[str, str]]) -> str:
    language = root.get(_XML_LANG) or next((text for name, text in blocks[:50] if name in {"language", "keel"}), "")
    return language.lower() if _LANGUAGE.fullmatch(language) else ""


def _local(element: Any) -> str:
    return _bare(element.tag) if isinstance(element.tag, str) else ""


def _bare(name: str) -> str:
    return name.rpartition("}")[2].lower()
