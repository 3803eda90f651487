"""Which links become resources of a source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.errors import SettingsError
from rehi.sources.links import MOST_LINKS, choose_links, parse_follow

PAGE = "https://www.example.ee/data/index.html?x=/y/"
LINKS = (
    "https://www.example.ee/data/a.csv",
    "https://www.example.ee/data/old/b.csv",
    "https://www.example.ee/about",
    "http://www.example.ee/data/c.csv",
    "https://files.example.ee/data/d.csv",
    "https://elsewhere.ee/",
)


def followed(rule: str, *links: str, depth: int = 0) -> list[str]:
    return [one.url for one in choose_links(parse_follow(rule), PAGE, links or LINKS, depth=depth)]


@pytest.mark.parametrize(
    ("rule", "chosen"),
    [
        ("", ()),
        ("none", ()),
        ("same host", LINKS[:4]),
        ("same folder", LINKS[:2]),
        ("host www.example.ee", LINKS[:4]),
        ("host *.example.ee", LINKS[:5]),
        ("Same  Host, host elsewhere.ee", (*LINKS[:4], LINKS[5])),
        ("anywhere", LINKS),
        ("anywhere, path /data/*.csv", (*LINKS[:2], *LINKS[3:5])),
        ("anywhere, path /data/*, not path */old/*", (LINKS[0], *LINKS[3:5])),
    ],
)
def test_a_rule_says_where_links_may_lead(rule: str, chosen: tuple[str, ...]) -> None:
    assert followed(rule) == list(chosen)


def test_a_rule_reaches_only_so_far() -> None:
    assert len(followed("same host", depth=2)) == 4
    assert followed("same host", depth=3) == []
    assert followed("same host, depth 1", depth=1) == []
    assert str(parse_follow("same host")) == "same host, depth 3"


def test_what_can_not_be_visited_or_leads_nowhere_new_is_passed_over() -> None:
    given = (PAGE, f"{PAGE}#top", "mailto:a@b.ee", "https://www.example.ee/robots.txt", "nonsense",
             "https://www.example.ee/a", "https://www.example.ee/a#b")  # fmt: skip
    assert followed("same host", *given) == ["https://www.example.ee/a"]
    assert len(followed("same host", *(f"https://www.example.ee/{n}" for n in range(MOST_LINKS + 9)))) == MOST_LINKS


@pytest.mark.parametrize(
    "rule", ["everything", "depth 2", "same host, depth 0", "same host, depth 101", "host a b", ","]
)
def test_a_rule_that_is_none_is_refused_in_a_sentence(rule: str) -> None:
    with pytest.raises(SettingsError, match="there are"):
        parse_follow(rule)


@given(
    places=st.lists(st.sampled_from(["same host", "same folder", "anywhere", "host *.a.ee"]), min_size=1, unique=True),
    paths=st.lists(st.sampled_from(["path /a/*", "not path *.pdf", "path *?q=*"]), unique=True),
    depth=st.integers(min_value=1, max_value=100),
)
def test_a_rule_is_written_as_it_is_read(places: list[str], paths: list[str], depth: int) -> None:
    rule = parse_follow(", ".join([*places, *paths, f"depth {depth}"]))
    assert parse_follow(str(rule)) == rule
    assert rule.depth == depth
