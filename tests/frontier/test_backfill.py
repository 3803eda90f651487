"""Visits that come late find their place in the past, whatever the order of their arrival."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from rehi.frontier import apply_visits
from rehi.model.resource import PastVersion, PastVisit, ResourcePast, ResourceState
from rehi.model.version import Digest, RecordRef
from rehi.model.visit import Outcome, Visited

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BODIES = st.lists(
    st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=8
)  # found at each hour; empty if it failed


def at(hour: int) -> datetime:
    return NOW + timedelta(hours=hour)


def visit(hour: int, body: str) -> Visited:
    ref = RecordRef("a.warc.gz", hour * 100, 10)
    if not body:
        return Visited(url="http://a.ee/", at=at(hour), outcome=Outcome.FAILED, next_at=None)
    return Visited(
        url="http://a.ee/", at=at(hour), outcome=Outcome.NEW, next_at=None, digest=Digest(body), record=ref, body=ref
    )


class Records:
    """What an engine would have on record of one resource, in memory."""

    def __init__(self, *, sparing: bool = False) -> None:
        self.state = ResourceState(id=1, url="http://a.ee/")
        self.visits: dict[datetime, tuple[Outcome, RecordRef | None]] = {}
        self.versions: list[PastVersion] = []
        self.numbers: list[int] = []
        self.sparing = sparing  # load no more than the rules ask for

    def record(self, *visits: Visited) -> None:
        change = apply_visits(self.state, visits, self._past(visits), now=NOW)
        self.state = change.state
        for seen, outcome in change.visits:
            self.visits[seen.at] = outcome, seen.record
        for correction in change.corrections:
            assert self.visits[correction.at][0] is correction.before
            self.visits[correction.at] = correction.after, self.visits[correction.at][1]
        for new in change.versions:
            self.numbers.append(new.number)
            self.versions.append(
                PastVersion(
                    at=new.taken_at, digest=new.digest, size=new.size, media_type="", status=200, record=new.record,
                    body=new.body,
                )
            )  # fmt: skip
        self.versions.sort(key=lambda version: version.at)

    def _past(self, visits: tuple[Visited, ...]) -> ResourcePast:
        confirmed = sorted(moment for moment, (outcome, _) in self.visits.items() if outcome is Outcome.UNCHANGED)
        if self.sparing:
            after = (next((one for one in confirmed if one > seen.at), None) for seen in visits)
            confirmed = sorted({moment for moment in after if moment is not None})
        return ResourcePast(tuple(self.versions), tuple(PastVisit(one, self.visits[one][1]) for one in confirmed))

    def valid_at(self, moment: datetime) -> str:
        return [version.digest for version in self.versions if version.at <= moment][-1]

    @property
    def history(self) -> list[str]:
        """The bodies in the order of time, each once for as long as it was valid."""
        return [body for body, _ in groupby(version.digest for version in self.versions)]


@given(bodies=BODIES, data=st.data())
def test_visits_in_any_order_give_the_history_that_they_give_in_order(bodies: list[str], data: st.DataObject) -> None:
    visits = [visit(hour, body) for hour, body in enumerate(bodies, 1)]
    in_order, shuffled = Records(), Records(sparing=data.draw(st.booleans()))
    for seen in visits:
        in_order.record(seen)
    rest = data.draw(st.permutations(visits))
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        shuffled.record(*rest[:size])
        rest = rest[size:]
    assert shuffled.history == in_order.history
    assert shuffled.state.digest == in_order.state.digest
    for hour, body in enumerate(bodies, 1):
        assert not body or shuffled.valid_at(at(hour)) == body
    assert shuffled.numbers == list(range(1, len(shuffled.numbers) + 1))
    assert shuffled.state.versions == len(shuffled.versions)


@given(bodies=BODIES, order=st.permutations(range(8)))
def test_a_moment_is_a_version_if_and_only_if_its_visit_says_so(bodies: list[str], order: list[int]) -> None:
    records = Records()
    for hour in (hour for hour in order if hour < len(bodies)):
        records.record(visit(hour + 1, bodies[hour]))
    new = {moment for moment, (outcome, _) in records.visits.items() if outcome is Outcome.NEW}
    assert new == {version.at for version in records.versions}
    newest = [version for version in records.versions if version.at == records.state.changed_at]
    assert [version.digest for version in newest] == ([records.state.digest] if records.versions else [])
