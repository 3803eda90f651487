"""A topic names its subjects, or follows another that does; what fails costs only itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from rehi.engines.sql import open_catalogue
from rehi.errors import EngineError, RehiError, TopicFailed
from rehi.graph import ALL, GraphTopic, load_topics, put_all, rewritten_kinds
from rehi.ports import Catalogue, GraphChange, GraphContext

STORIES = (2, 3, 40, 500)


class Stories:
    """Subjects in a register of their own, changed by whoever tells a story."""

    follows = ""

    def subjects(self, context: GraphContext, *, after: int, limit: int) -> Sequence[int]:
        return [number for number in STORIES if number > after][:limit]

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        return {}


class Tellers(Stories):
    """One for every hundred stories, so that a changed story concerns its own."""

    follows = "stories"

    def concerned(self, changed: Sequence[int], context: GraphContext) -> Collection[int]:
        return [number // 100 + 1 for number in changed]


class Shelves(Stories):
    """Subjects of its own that may be anywhere, since it does not say which ones a story concerns."""

    follows = "stories"


class Editions:
    """What else is said of each story."""

    follows = "stories"

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        raise ZeroDivisionError("no edition")


class ForgetfulTopic(Stories):
    """Can't name its subjects."""

    def subjects(self, context: GraphContext, *, after: int, limit: int) -> Sequence[int]:
        raise KeyError("where was it")


class Restless(Stories):
    """Begins again and again."""

    def subjects(self, context: GraphContext, *, after: int, limit: int) -> Sequence[int]:
        return STORIES[:limit]


class Away(Stories):
    """Asks a catalogue that does not answer."""

    def subjects(self, context: GraphContext, *, after: int, limit: int) -> Sequence[int]:
        raise EngineError("it is away")


ROOT = GraphTopic("stories", Stories(), None)


class Noted:
    """A context and an outbox that remember what they were given."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.put_there: defaultdict[str, list[int]] = defaultdict(list)
        self.errors: dict[str, RehiError] = {}
        self.context = GraphContext(catalogue=catalogue, base="http://x.test", note=self.errors.__setitem__)

    def put(self, kind: str, subjects: Iterable[int]) -> None:
        self.put_there[kind] += subjects


@pytest.fixture
def noted(tmp_path: Path) -> Iterator[Noted]:
    catalogue = open_catalogue(f"sqlite:///{tmp_path}/catalogue.db")
    yield Noted(catalogue)
    catalogue.close()


def test_all_subjects_of_a_topic_are_put_to_work_page_by_page(noted: Noted) -> None:
    assert list(ROOT.all_subjects(noted.context, limit=3)) == [[2, 3, 40], [500]]
    topics = [ROOT, GraphTopic("tellers", Tellers(), ROOT), GraphTopic("editions", Editions(), ROOT)]
    put_all(noted.put, noted.context, topics)
    assert noted.put_there == {"stories": [*STORIES], "tellers": [*STORIES]}, "editions follow from stories"


def test_a_topic_says_which_subjects_of_its_own_a_change_concerns(noted: Noted) -> None:
    changed = [3, 500]
    assert GraphTopic("editions", Editions(), ROOT).concerned(changed, noted.context) == changed
    assert GraphTopic("tellers", Tellers(), ROOT).concerned(changed, noted.context) == {1, 6}
    assert GraphTopic("shelves", Shelves(), ROOT).concerned(changed, noted.context) == (ALL,)


def test_a_topic_that_cannot_name_its_subjects_costs_only_itself_and_is_asked_again(noted: Noted) -> None:
    put_all(noted.put, noted.context, [GraphTopic("lost", ForgetfulTopic(), None), ROOT])
    assert noted.put_there == {"lost": [ALL], "stories": [*STORIES]}
    assert str(noted.errors["topic lost"]) == "KeyError: 'where was it'"


def test_a_topic_whose_subjects_never_end_is_stopped(noted: Noted) -> None:
    with pytest.raises(TopicFailed, match="out of order: 2 comes after 3"):
        list(GraphTopic("restless", Restless(), None).all_subjects(noted.context, limit=2))


def test_what_the_catalogue_raises_is_no_fault_of_the_topic(noted: Noted) -> None:
    with pytest.raises(EngineError, match="away"):
        GraphTopic("away", Away(), None).subjects(noted.context, after=0, limit=1)
    with pytest.raises(TopicFailed, match="no edition"):
        GraphTopic("editions", Editions(), ROOT).describe([2], noted.context)


def test_a_rewriting_begins_with_the_topics_that_follow_none() -> None:
    first, followers = rewritten_kinds()
    assert {"resource", "entity"} <= set(first)
    assert set(first) | set(followers) == load_topics().keys()
