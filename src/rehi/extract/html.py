"""HTML: the text that a visitor came to read, with title, language, links and what the head says.

Of a page that is too deep or too wide to build a tree of, the words are read flat, in one pass.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from itertools import islice
from typing import Any

from rehi.extract.body import Body
from rehi.extract.characters import one_line
from rehi.extract.decode import Decoded, decode_markup
from rehi.extract.iri import MAX_LENGTH, MAX_LINKS, written_links
from rehi.extract.markup import is_beyond_trees
from rehi.extract.paragraphs import part_lines
from rehi.model.document import Document

# Names in the menus of every page are noise, names in its body count. So the main part is read, unless that is so
# little that the guess must be wrong.
_LEAST_MAIN = 200  # characters
_LEAST_SHARE = 0.1  # of all visible text
_MAX_NODES = 20_000  # cells or lists that are looked at one by one

Nodes = Mapping[str, Sequence[Any]]
_ALIKE = {"area": "a", "th": "td"}  # elements of one use, in their common order

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_BLOCKS = "p, div, ul, ol, table, h1, h2, h3, h4, section, article"
_FRAME = frozenset({"nav", "header", "footer", "aside", "form", "menu"})
_MAIN = frozenset({"article", "main"})
_METADATA = {
    "og:title": "title",
    "author": "author", "article:author": "author", "dc.creator": "author", "dcterms.creator": "author",
    "description": "description", "og:description": "description", "dc.description": "description",
    "keywords": "keywords", "og:site_name": "publisher", "dc.publisher": "publisher",
    "date": "date", "dc.date": "date", "dcterms.issued": "date", "dcterms.created": "date",
    "article:published_time": "date", "article:modified_time": "modified", "last-modified": "modified",
}  # fmt: skip

# The extractor's time grows with the square of the number of tags: 40,000 paragraphs took 3 to 12 s at once.
_TAGS_AT_ONCE = 8_000  # more are given to it piece by piece
_SHORTEST_TAG = 3  # characters
_MAX_DESCENT = 12  # levels down to which a page is taken apart; what is still too large there is read flat
_KEPT_ATTRIBUTES = ("class", "id", "role")  # by which the extractor tells menus from main parts
_NAME = re.compile(r"/?[a-zA-Z][a-zA-Z0-9]*")
_ROW_START = re.compile(r"\n[;\s]*")
_INLINE = re.compile(r"a|abbr|b|big|cite|code|em|font|i|mark|q|s|small|span|strong|su[bp]|td|th|time|u|var|wbr")
_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "title"})


def read(body: Body) -> Document:
    """Read an HTML page."""
    from resiliparse.parse.html import HTMLTree

    decoded = decode_markup(body.raw, declared=body.charset)
    if is_beyond_trees(decoded.text):
        return _read_flat(decoded, body)
    tree = HTMLTree.parse(decoded.text)
    nodes = _survey(tree)
    metadata = dict(_read_meta(nodes["meta"]))
    title = tree.title or metadata.pop("title", "") or _first_heading(tree)
    return Document(
        media_type=body.media_type,
        text=_text(tree, nodes, len(decoded.text)),
        title=one_line(title),
        charset=decoded.charset,
        language=_language(tree),
        links=written_links(link.getattr("href") or "" for link in nodes["a"][: MAX_LINKS * 10]),
        base=_base(nodes["base"]),
        metadata=tuple((key, value) for key, value in metadata.items() if key != "title"),
    )


def _read_flat(decoded: Decoded, body: Body) -> Document:
    return Document(
        media_type=body.media_type,
        text=part_lines(flat_text(decoded.text)),
        title=one_line(flat_title(decoded.text)),
        charset=decoded.charset,
    )


def has_markup(text: str) -> bool:
    """Whether a string holds tags, as the texts inside feeds and JSON do."""
    return "<" in text and _TAG.search(text) is not None


def plain(fragment: str) -> str:
    """Return the visible text of a fragment of HTML, every block a paragraph."""
    from resiliparse.extract.html2text import extract_plain_text

    if is_beyond_trees(fragment):
        return part_lines(flat_text(fragment))
    return part_lines(extract_plain_text(fragment, main_content=False, links=False, list_bullets=False))


def _survey(tree: Any) -> Nodes:
    """Return the elements that are looked at one by one, found in one pass: seven took 80 microseconds, this takes 20."""
    nodes: defaultdict[str, list[Any]] = defaultdict(list)
    for node in tree.document.query_selector_all("a, area, base, meta, td, th, ul"):
        tag = node.tag
        nodes[_ALIKE.get(tag, tag)].append(node)
    return nodes


def _text(tree: Any, nodes: Nodes, source: int) -> str:
    """Return the main part, or all if there is too little of it; no text exceeds ``source``, the length of the markup."""
    if tree.body is None:
        return ""
    _part_cells(tree, nodes["td"])
    _keep_lists(tree, nodes["ul"])
    pieces = [tree] if source < _TAGS_AT_ONCE * _SHORTEST_TAG else _take_apart(tree.body)
    main = _words(pieces, main_content=True)
    # The whole need not be extracted to be sure.
    share = len(main) / (_LEAST_SHARE * 2)
    if len(main) >= _LEAST_MAIN and (share >= source or share >= len(tree.body.text)):
        return part_lines(main)
    whole = _words(pieces, main_content=False)
    enough = len(main) >= _LEAST_MAIN and len(main) >= len(whole) * _LEAST_SHARE
    return part_lines(main if enough else whole)


def _words(pieces: Sequence[Any], *, main_content: bool) -> str:
    """Return the text of a tree, or of the pieces of one."""
    from resiliparse.extract.html2text import extract_plain_text

    texts = (
        extract_plain_text(piece, main_content=main_content, links=False, list_bullets=False, alt_texts=True)
        for piece in pieces
    )
    return "\n".join(text for text in texts if text)


def _take_apart(node: Any, around: str = "", level: int = 0) -> list[str]:
    """Return an element's markup in pieces of a size that the extractor takes well, each inside the same elements."""
    markup = node.html
    if markup.count("<") <= _TAGS_AT_ONCE:
        return [around + markup]
    if level == _MAX_DESCENT:
        return [escape(flat_text(markup))]
    around += _start_tag(node)
    pieces: list[str] = []
    run: list[str] = []
    tags = 0
    for child in node.child_nodes:
        part = child.html
        size = part.count("<")
        if run and tags + size > _TAGS_AT_ONCE:
            pieces.append(around + "".join(run))
            run, tags = [], 0
        if size > _TAGS_AT_ONCE:
            pieces += _take_apart(child, around, level + 1)
        else:
            run.append(part)
            tags += size
    return [*pieces, around + "".join(run)] if run else pieces


def _start_tag(node: Any) -> str:
    kept = ((name, node.getattr(name)) for name in _KEPT_ATTRIBUTES)
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in kept if value)
    return f"<{node.tag}{attributes}>"


def _part_cells(tree: Any, cells: Sequence[Any]) -> None:
    """Put a sign between the cells of a row, which would run into one word; not where cells serve as a layout."""
    for cell in islice(cells, _MAX_NODES):
        following = cell.next_element
        if following is None or cell.first_child is None or cell.query_selector(_BLOCKS) is not None:
            continue
        if cell.text.strip():
            cell.append_child(tree.create_text_node("; "))


def _keep_lists(tree: Any, lists: Sequence[Any]) -> None:
    """Save lists of people from the reader of main parts, which takes every short ``ul`` for a menu but no ``ol``."""
    for old in islice(lists, _MAX_NODES):
        parent = old.parent
        if parent is None or not _is_content(old):
            continue
        new = tree.create_element("ol")
        for child in list(old.child_nodes):
            new.append_child(child)
        parent.replace_child(new, old)


def _is_content(items: Any) -> bool:
    """Whether a list is no menu: outside the page's frame, and of words rather than links unless in its main element."""
    node, inside_main = items.parent, False
    while node is not None:
        tag = node.tag
        if tag in _FRAME:
            return False
        inside_main = inside_main or tag in _MAIN
        node = node.parent
    if inside_main:
        return True
    linked = sum(len(link.text) for link in islice(items.get_elements_by_tag_name("a"), _MAX_NODES))
    return linked * 2 <= len(items.text.strip())


def _read_meta(elements: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Yield what the meta elements say, by kind, the first of each kind."""
    seen = set()
    for meta in islice(elements, _MAX_NODES):
        name = (meta.getattr("name") or meta.getattr("property") or "").strip().lower()
        key = _METADATA.get(name)
        if key is None or key in seen:
            continue
        if value := one_line(meta.getattr("content") or "", 1000):
            seen.add(key)
            yield key, value


def _language(tree: Any) -> str:
    root = tree.document.first_element_child
    language = (root.getattr("lang") or root.getattr("xml:lang") or "").strip() if root is not None else ""
    return language.replace("_", "-").lower() if _LANGUAGE.fullmatch(language) else ""


def _first_heading(tree: Any) -> str:
    heading = tree.document.query_selector("h1")
    return heading.text if heading is not None else ""


def _base(elements: Sequence[Any]) -> str:
    """Return the address to which the links are relative, if the first base element with one gives it."""
    given = next((href for base in elements if (href := base.getattr("href")) is not None), "")
    return one_line(given, MAX_LENGTH)


def flat_text(text: str) -> str:
    """Return all words outside scripts and styles, with line breaks for blocks and signs between cells, in one pass."""
    return _ROW_START.sub("\n", unescape("".join(_pieces(text))))


def flat_title(text: str) -> str:
    """Return what stands in the title element."""
    _, _, rest = text[:100_000].partition("<title")
    return unescape(rest.partition(">")[2].partition("<")[0])


def _pieces(text: str) -> Iterator[str]:
    silent = ""
    first, *rest = text.split("<")
    yield first
    for piece in rest:
        tag = _NAME.match(piece)
        name = tag[0].lower() if tag else ""
        if silent:
            if name != "/" + silent:
                continue
            silent = ""
        elif name in _SILENT:
            silent = name
            continue
        yield _mark(name) + (piece.partition(">")[2] if name or piece[:1] in "!?/" else "<" + piece)


def _mark(name: str) -> str:
    if name in {"td", "th"}:
        return "; "
    return "" if not name or _INLINE.fullmatch(name.lstrip("/")) else "\n"
