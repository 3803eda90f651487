"""Links: which of those on a source's documents become resources of it, by a rule that people write."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from rehi.errors import SettingsError
from rehi.model.source import Finding
from rehi.sources.urls import is_robots, is_visitable, normalise

DEPTH = 3  # links from what the source named, unless the rule says otherwise
MOST_DEPTH = 100
MOST_LINKS = 2_000  # of one document
SAME_HOST, SAME_FOLDER, ANYWHERE = "same host", "same folder", "anywhere"
_HOST = re.compile(r"host ([a-z0-9.*-]+(?::\d{1,5})?)")
_PATH = re.compile(r"(not )?path (\S+)")
_DEPTH = re.compile(r"depth (\d{1,3})")
_FORMS = (
    '"same host", "same folder", "host example.ee", "anywhere"; with "depth 2", "path /data/*" or "not path /tmp/*"'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowRule:
    """Which links are followed: none, if it names no place."""

    places: tuple[str, ...] = ()  # one of which must hold: "same host", "same folder", "host *.example.ee"
    paths: tuple[str, ...] = ()  # patterns, one of which the path and query must match, if there are any
    not_paths: tuple[str, ...] = ()  # patterns of which none may match
    depth: int = DEPTH

    def __str__(self) -> str:
        if not self.places:
            return ""
        paths = [f"path {pattern}" for pattern in self.paths] + [f"not path {pattern}" for pattern in self.not_paths]
        return ", ".join([*self.places, *paths, f"depth {self.depth}"])


@lru_cache(maxsize=256)
def parse_follow(text: str) -> FollowRule:
    """Return the rule that a text says; an empty one, or "none", follows nothing. SettingsError if it can't be understood."""
    words = [" ".join(part.split()) for part in text.split(",")]
    if words in ([""], ["none"]):
        return FollowRule()
    places: list[str] = []
    paths: dict[bool, list[str]] = {False: [], True: []}
    depth = DEPTH
    for word in words:
        if word.lower() in (SAME_HOST, SAME_FOLDER, ANYWHERE):
            places.append(word.lower())
        elif match := _HOST.fullmatch(word.lower()):
            places.append(f"host {match[1]}")
        elif (match := _DEPTH.fullmatch(word.lower())) and 1 <= int(match[1]) <= MOST_DEPTH:
            depth = int(match[1])
        elif match := _PATH.fullmatch(word):
            paths[match[1] is not None].append(match[2])
        else:
            raise SettingsError(f"{word[:80]!r} is no rule for links; there are {_FORMS}")
    if not places:
        raise SettingsError(f"{text[:80]!r} does not say where links may lead; there are {_FORMS}")
    return FollowRule(places=tuple(places), paths=tuple(paths[False]), not_paths=tuple(paths[True]), depth=depth)


def choose_links(rule: FollowRule, page: str, links: Iterable[str], *, depth: int) -> list[Finding]:
    """Return the links of a page, ``depth`` links away from what the source named, that become findings of the source."""
    if depth >= rule.depth:
        return []
    chosen: dict[str, Finding] = {}
    for link in links:
        url = normalise(link)
        if url is None or not is_visitable(url) or url == page or is_robots(url) or url in chosen:
            continue
        if any(_holds(place, page, url) for place in rule.places) and _may_lead(rule, url):
            chosen[url] = Finding(url)
            if len(chosen) == MOST_LINKS:
                break
    return list(chosen.values())


def _holds(place: str, page: str, url: str) -> bool:
    if place == ANYWHERE:
        return True
    if place == SAME_HOST:
        return urlsplit(page).netloc == urlsplit(url).netloc
    if place == SAME_FOLDER:
        start = page.partition("?")[0]
        return url.startswith(start[: start.rfind("/") + 1])
    return _matches(place.removeprefix("host "), urlsplit(url).netloc)


def _may_lead(rule: FollowRule, url: str) -> bool:
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    wanted = not rule.paths or any(_matches(pattern, path) for pattern in rule.paths)
    return wanted and not any(_matches(pattern, path) for pattern in rule.not_paths)


def _matches(pattern: str, text: str) -> bool:
    """Return whether a text is as the pattern says, in which * stands for anything; walked by hand, so that none is slow."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True
