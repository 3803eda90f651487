"""What the catalogue promises of the graph's generation: its mark, and what must be descriptions again."""

from __future__ import annotations

from rehi.model.generation import GraphMark, GraphRecord
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import add, at, bring, claim_descriptions, drain, fetched, place, record

MARK, NEXT = (GraphMark(generation="first", batch=batch) for batch in (0, 1))
OTHER = GraphMark(generation="second", batch=0)
TOPICS, FOLLOWERS = ("resource", "entity", "places"), ("climate",)


class GenerationContract:
    """What the port Generation promises."""

    def test_before_a_graph_is_begun_only_its_statements_are_counted(self, catalogue: Catalogue) -> None:
        assert catalogue.graph_record() == GraphRecord(mark=None)
        record(catalogue, [fetched("http://a.ee/", "a", 1)], [], worker="one", now=at(1))
        descriptions = claim_descriptions(catalogue, 2)
        catalogue.record_descriptions(descriptions.claims, statements={descriptions.resources[0].resource_id: 7})
        assert catalogue.graph_record() == GraphRecord(mark=None, statements=7)

    def test_a_batch_is_recorded_with_its_mark(self, catalogue: Catalogue) -> None:
        catalogue.begin_graph(MARK)
        catalogue.record_descriptions([], statements={}, mark=NEXT)
        assert catalogue.graph_record() == GraphRecord(mark=NEXT)
        catalogue.record_descriptions([], statements={})
        assert catalogue.graph_record().mark == NEXT

    def test_what_is_to_be_written_again_is_counted_until_it_is(self, catalogue: Catalogue) -> None:
        record(
            catalogue, [fetched("http://a.ee/", "a", 1), fetched("http://b.ee/", "b", 1)], [], worker="one", now=at(1)
        )
        catalogue.put("places", [7])
        catalogue.begin_graph(MARK, rewrite="it was lost: \N{SNOWMAN}")
        assert catalogue.graph_record(TOPICS) == GraphRecord(mark=MARK, rewriting="it was lost: \N{SNOWMAN}", left=3)
        catalogue.record_descriptions(
            catalogue.claim(("places",), worker="one", limit=9, ttl=60, now=at(2)), statements={}, mark=NEXT
        )
        assert catalogue.graph_record(TOPICS).left == 2
        descriptions = claim_descriptions(catalogue, 2)
        record(
            catalogue, [fetched("http://c.ee/", "c", 3)], [], worker="one", now=at(3)
        )  # what comes later does not count
        catalogue.record_descriptions(descriptions.claims, statements={}, mark=NEXT)
        assert catalogue.graph_record(TOPICS).left == 0
        assert catalogue.end_rewrite(NEXT)
        assert catalogue.graph_record(TOPICS) == GraphRecord(mark=NEXT)

    def test_what_follows_counts_until_it_is_written_too(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched("http://a.ee/", "a", 1)], [], worker="one", now=at(1))
        catalogue.begin_graph(MARK, rewrite="it was lost")
        descriptions = claim_descriptions(catalogue, 2)
        catalogue.put("climate", [descriptions.resources[0].resource_id])
        catalogue.put("not installed", [descriptions.resources[0].resource_id])
        catalogue.record_descriptions(descriptions.claims, statements={}, mark=NEXT)
        assert catalogue.graph_record(TOPICS, FOLLOWERS).left == 1
        claims = catalogue.claim(("climate",), worker="one", limit=9, ttl=60, now=at(3))
        catalogue.record_descriptions(claims, statements={}, mark=NEXT)
        assert catalogue.graph_record(TOPICS, FOLLOWERS).left == 0

    def test_nothing_is_recorded_of_a_graph_that_is_not_the_catalogues_any_more(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched("http://a.ee/", "a", 1)], [], worker="one", now=at(1))
        catalogue.begin_graph(MARK)
        descriptions = claim_descriptions(catalogue, 2)
        catalogue.begin_graph(OTHER, rewrite="another has taken it")
        assert not catalogue.record_descriptions(
            descriptions.claims, statements={descriptions.claims[0].subject: 9}, mark=NEXT
        )
        assert not catalogue.end_rewrite(NEXT)
        left = catalogue.graph_record(TOPICS)
        assert (left.mark, left.rewriting, left.left) == (OTHER, "another has taken it", 1)

    def test_an_embedded_graph_is_written_by_its_owner_alone(self, catalogue: Catalogue) -> None:
        assert catalogue.begin_graph(MARK, owner="one")  # nobody owns it
        catalogue.own_graph("one", uri="oxigraph:///one", now=at(0))
        assert catalogue.record_descriptions([], statements={}, mark=NEXT, owner="one")
        catalogue.own_graph("two", uri="oxigraph:///two", now=at(1), take=True)
        assert not catalogue.record_descriptions([], statements={}, mark=MARK, owner="one")
        assert not catalogue.begin_graph(OTHER, rewrite="it was damaged", owner="one")
        assert catalogue.graph_record(TOPICS) == GraphRecord(mark=NEXT, owner="two")
        assert catalogue.begin_graph(OTHER, owner="two")

    def test_the_subjects_of_the_graph_come_in_order_with_what_it_was_not_told(self, catalogue: Catalogue) -> None:
        first = bring(catalogue, "http://a.ee/", "a", place("Tartu"), when=1)
        drain(catalogue)
        second = bring(catalogue, "http://b.ee/", "b", place("Tartu"), when=2)
        add(catalogue, "http://never-visited.ee/")
        assert catalogue.resource_ids(after=0, limit=9) == [first, second]
        assert catalogue.resource_ids(after=first, limit=9) == [second]
        assert catalogue.resource_ids(after=0, limit=1) == [first]
        (entity,) = catalogue.entity_ids(after=0, limit=9)
        assert catalogue.entity_ids(after=entity, limit=9) == []
        assert catalogue.untold("resource", [first, second, second + 99]) == {second}
        assert catalogue.untold("resource") == {second}
        drain(catalogue)
        assert catalogue.untold("resource", [first, second]) == catalogue.untold("resource") == set()
