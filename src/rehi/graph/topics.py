"""Topics: whatever the graph is told of, in one shape, whether a topic has subjects of its own or shares another's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from rehi.builtin import is_built_in, load_all
from rehi.errors import RehiError, TopicFailed
from rehi.ports import GraphChange, GraphContext

ALL = 0  # stands for every subject of a topic in the outbox; a subject's own number is greater
T = TypeVar("T")
PAGE = 10_000  # subjects that are asked for at once


@dataclass(frozen=True, slots=True)
class GraphTopic:
    """A topic that is installed. Whatever its part raises is TopicFailed, but for what the catalogue raises."""

    name: str
    part: Any  # an object after ``ports.Topic``
    leader: GraphTopic | None  # the topic that it follows
    is_built_in: bool = False

    @property
    def has_own(self) -> bool:
        """Whether it has subjects of its own; else those of the topic that it follows are its, too."""
        return self.leader is None or callable(getattr(self.part, "subjects", None))

    def describe(self, subjects: Sequence[int], context: GraphContext) -> Mapping[int, Sequence[GraphChange]]:
        """Return the changes that bring the graph up to date, by subject."""
        try:
            changes: Mapping[int, Sequence[GraphChange]] = self.part.describe(subjects, context)
        except RehiError:
            raise  # the catalogue's own: not the topic's fault
        except Exception as error:  # an outsider's topic may raise whatever it likes
            raise TopicFailed(f"{type(error).__name__}: {error}") from error
        return changes

    def subjects(self, context: GraphContext, *, after: int, limit: int) -> Sequence[int]:
        """Return subjects in the order of their numbers, after one of them."""
        if not self.has_own and self.leader is not None:
            return self.leader.subjects(context, after=after, limit=limit)
        return self._ask(lambda: list(self.part.subjects(context, after=after, limit=limit)))

    def all_subjects(self, context: GraphContext, *, limit: int) -> Iterator[Sequence[int]]:
        """Yield all subjects in parts."""
        after = ALL
        while part := self.subjects(context, after=after, limit=limit):
            if part[0] <= after:
                raise TopicFailed(f"its subjects are out of order: {part[0]} comes after {after}")
            yield part
            after = part[-1]

    def concerned(self, changed: Sequence[int], context: GraphContext) -> Collection[int]:
        """Return the subjects that are concerned by those of the topic that it follows; all of them if that can't be told."""
        if not self.has_own:
            return changed
        if not callable(getattr(self.part, "concerned", None)):
            return (ALL,)
        return self._ask(lambda: set(self.part.concerned(changed, context)))

    def _ask(self, question: Callable[[], T]) -> T:
        try:
            return question()
        except RehiError:
            raise
        except Exception as error:
            raise TopicFailed(f"{type(error).__name__}: {error}") from error


def load_topics() -> Mapping[str, GraphTopic]:
    """Return the topics that are installed and can be used, by name."""
    parts = load_all("topic")
    topics: dict[str, GraphTopic] = {}
    for name in parts:
        chain = [name]
        while follows := parts[chain[-1]].follows:
            chain.append(follows)
        for one in reversed(chain):  # whom it follows first
            built_in = is_built_in("topic", one)
            topics.setdefault(one, GraphTopic(one, parts[one], topics.get(parts[one].follows), built_in))
    return topics


def rewritten_kinds() -> tuple[Collection[str], Collection[str]]:
    """Return the kinds of work that a rewriting of the graph begins with, and those that follow from it."""
    topics = load_topics().values()
    return [one.name for one in topics if one.leader is None], [one.name for one in topics if one.leader is not None]


def put_all(put: Callable[[str, Iterable[int]], object], context: GraphContext, topics: Iterable[GraphTopic]) -> None:
    """Put all subjects of topics that have their own into the outbox; of one that fails, that it is to be asked again."""
    for topic in topics:
        if topic.has_own:
            try:
                for part in topic.all_subjects(context, limit=PAGE):
                    put(topic.name, part)
            except TopicFailed as error:
                context.note(f"topic {topic.name}", error)
                put(topic.name, (ALL,))
