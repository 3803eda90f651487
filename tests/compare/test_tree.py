"""Trees: every value that is different is found at its path, in JSON and in XML."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehi.compare import (
    NoTree,
    PathKind,
    Prefixes,
    TooDeep,
    TreeDiff,
    compare_trees,
    parse_json,
    parse_xml,
    show_path,
    show_xpath,
)

scalar = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "õ"]) | st.just(1.0)
tree = st.recursive(
    scalar,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=12,
)
flat = st.recursive(scalar, lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, max_size=4), max_leaves=12)


def compare(old: Any, new: Any) -> TreeDiff:
    return compare_trees(old, new, show=show_path)


def xml(old: str, new: str) -> list[tuple[str, str, str | None, str | None]]:
    prefixes = Prefixes()
    diff = compare_trees(parse_xml(old, prefixes), parse_xml(new, prefixes), show=show_xpath, hide_single=True)
    return [(change.kind.value, change.path, change.old, change.new) for change in diff.changes]


def applied(old: Any, diff: TreeDiff) -> Any:
    value = json.loads(json.dumps(old))
    for change in diff.changes:
        *way, last = ["", *change.path.split(".")[1:]]
        if not way:
            return json.loads(change.new or "")
        at = value
        for name in way[1:]:
            at = at[name]
        if change.kind is PathKind.REMOVED:
            del at[last]
        else:
            at[last] = json.loads(change.new or "")
    return value


@given(flat, flat)
@settings(max_examples=150, deadline=None)
def test_the_changes_applied_to_the_old_tree_give_the_new_one(old: Any, new: Any) -> None:
    assert repr_of(applied(old, compare(old, new))) == repr_of(new)


def repr_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(tree, tree)
@settings(max_examples=150, deadline=None)
def test_trees_differ_if_and_only_if_they_do_and_the_same_backwards(old: Any, new: Any) -> None:
    there, back = compare(old, new), compare(new, old)
    assert bool(there.changes) == (repr_of(old) != repr_of(new))
    assert bool(there.changes) == bool(back.changes)
    assert compare(old, old).changes == ()


@given(flat, flat)
@settings(max_examples=80, deadline=None)
def test_backwards_what_was_added_is_removed(old: Any, new: Any) -> None:
    mirror = {PathKind.ADDED: PathKind.REMOVED, PathKind.REMOVED: PathKind.ADDED}
    there = {(c.path, mirror.get(c.kind, c.kind), c.new, c.old) for c in compare(old, new).changes}
    assert there == {(c.path, c.kind, c.old, c.new) for c in compare(new, old).changes}


def test_items_are_known_by_their_id_wherever_they_stand() -> None:
    old = {"items": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "c"}]}
    new = {"items": [{"id": 3, "name": "c"}, {"id": 2, "name": "B"}, {"id": 4, "name": "d"}]}
    diff = compare(old, new)
    assert [(c.kind.value, c.path, c.old, c.new) for c in diff.changes] == [
        ("changed", "$.items[id=2].name", '"b"', '"B"'),
        ("added", "$.items[id=4]", None, '{"id": 4, "name": "d"}'),
        ("removed", "$.items[id=1]", '{"id": 1, "name": "a"}', None),
        ("reordered", "$.items", None, None),
    ]
    assert [(key.path, key.name) for key in diff.keys] == [("$.items", "id")]


def test_lists_without_a_key_are_aligned() -> None:
    diff = compare([1, 2, 3, 4, 5], [1, 3, 4, 9, 5, 6])
    assert [(c.kind.value, c.path, c.old, c.new) for c in diff.changes] == [
        ("removed", "$[1]", "2", None),
        ("added", "$[3]", None, "9"),
        ("added", "$[5]", None, "6"),
    ]


def test_true_is_not_one_and_one_is_not_one_point_zero() -> None:
    assert len(compare([1, {"a": 1}], [True, {"a": 1.0}]).changes) == 2


def test_paths_are_written_so_that_they_can_be_told_apart() -> None:
    diff = compare({"a b": {"c.d": 1}}, {"a b": {"c.d": 2}})
    assert diff.changes[0].path == '$["a b"]["c.d"]'


def test_json_on_lines_odd_numbers_and_what_is_none() -> None:
    assert parse_json('{"a":1}\n{"a":2}\n') == [{"a": 1}, {"a": 2}]
    assert len(compare(parse_json('{"n": 123456789012345678901234567890}'), parse_json('{"n": NaN}')).changes) == 1
    assert len(compare(parse_json('{"n": NaN}'), parse_json('{"n": null}')).changes) == 1
    assert compare(parse_json('["\\ud800"]'), parse_json('["\\ud800"]')).changes == ()
    for text in ("{", "", "nothing", '{"a":1}\n{"a":'):
        with pytest.raises(NoTree):
            parse_json(text)


def test_what_is_nested_without_end_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(400):
        deep = [deep]
    with pytest.raises(TooDeep):
        compare(deep, [])
    with pytest.raises(NoTree):
        parse_json("[" * 100_000)
    with pytest.raises((NoTree, TooDeep)):
        parse_xml("<a>" * 250 + "</a>" * 250, Prefixes())


def test_long_values_are_cut() -> None:
    diff = compare({"a": "x" * 100_000}, {"a": ["y" * 1_000] * 1_000})
    assert all(len(value or "") < 2_100 for change in diff.changes for value in (change.old, change.new))


def test_xml_is_compared_by_attributes_texts_and_items() -> None:
    old = '<rss><channel><item><guid>1</guid><t a="x">Tere</t></item><item><guid>2</guid></item></channel></rss>'
    new = '<rss><channel><item><guid>2</guid></item><item><guid>1</guid><t a="y">Tere!</t></item></channel></rss>'
    assert xml(old, new) == [
        ("changed", "/rss/channel/item[guid=1]/t/@a", '"x"', '"y"'),
        ("changed", "/rss/channel/item[guid=1]/t/text()", '"Tere"', '"Tere!"'),
        ("reordered", "/rss/channel/item", None, None),
    ]


def test_another_prefix_for_the_same_namespace_is_no_difference() -> None:
    old = '<a:r xmlns:a="urn:x" xmlns:b="urn:y"><a:v b:k="1">5</a:v></a:r>'
    new = '<r xmlns="urn:x" xmlns:c="urn:y">\n  <v c:k="1"> 5 </v><!-- ei --></r>'
    assert xml(old, new) == []
    assert xml(old, old.replace("urn:x", "urn:z")) != []


def test_the_second_of_several_children_is_counted_from_one() -> None:
    assert xml("<a><b>1</b><b>2</b></a>", "<a><b>1</b><b>3</b></a>") == [("changed", "/a/b[2]", '"2"', '"3"')]


BOMB = '<!DOCTYPE a [<!ENTITY x0 "ha">' + "".join(
    f'<!ENTITY x{n} "&x{n - 1};&x{n - 1};&x{n - 1};&x{n - 1};">' for n in range(1, 30)
)


def test_entities_neither_grow_nor_reach_out() -> None:
    with pytest.raises(NoTree, match="entity"):
        parse_xml(BOMB + "]><a>&x29;</a>", Prefixes())
    small = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]><a>&y;</a>'
    assert xml(small, small.replace("&y;", "&x;")) == [("changed", "/a", '"&y;"', '"&x;"')]
    file = '<!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]><a>&f;</a>'
    assert xml(file, file.replace("&f;", "x")) == [("changed", "/a", '"&f;"', '"x"')]


def test_what_is_no_xml_is_refused() -> None:
    for text in ("", "<a>", "<a></b>", "tere"):
        with pytest.raises(NoTree):
            parse_xml(text, Prefixes())


def test_attributes_of_an_element_with_thousands_are_all_compared() -> None:
    def parse(value: str) -> Any:
        many = "".join(f" a{n}='{n}'" for n in range(3_000))
        return parse_xml(f"<r xmlns:x='urn:x' xml:lang='et' x:a='{value}'{many}><b/></r>", Prefixes())

    diff = compare_trees(parse("1"), parse("2"), show=show_xpath, hide_single=True)
    assert [(one.path, one.old, one.new) for one in diff.changes] == [("/r/@x:a", '"1"', '"2"')]
    assert diff.same == 3_002
