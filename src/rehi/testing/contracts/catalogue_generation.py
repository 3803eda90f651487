"""What the catalogue promises of the graph's generation: its mark, and what must be told again."""

from __future__ import annotations

from rehi.model.generation import GraphMark, GraphRecord
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import at, bring, came, claim_descriptions, drain, place, record

MARK, NEXT = (GraphMark(generation="first", batch=batch) for batch in (0, 1))


class GenerationContract:
    """The port Generation."""

    def test_before_a_graph_is_begun_only_its_statements_are_counted(self, catalogue: Catalogue) -> None:
        assert catalogue.graph_record() == GraphRecord(mark=None)
        record(catalogue, [came("http://a.ee/", "a", 1)], [], worker="one", now=at(1))
        told = claim_descriptions(catalogue, 2)
        catalogue.record_descriptions(told.claims, statements={told.resources[0].resource_id: 7})
        assert catalogue.graph_record() == GraphRecord(mark=None, statements=7)

    def test_a_batch_is_recorded_with_its_mark(self, catalogue: Catalogue) -> None:
        catalogue.begin_graph(MARK)
        catalogue.record_descriptions([], statements={}, mark=NEXT)
        assert catalogue.graph_record() == GraphRecord(mark=NEXT)
        catalogue.record_descriptions([], statements={})
        assert catalogue.graph_record().mark == NEXT

    def test_what_is_to_be_written_again_is_counted_until_it_is(self, catalogue: Catalogue) -> None:
        record(catalogue, [came("http://a.ee/", "a", 1), came("http://b.ee/", "b", 1)], [], worker="one", now=at(1))
        drain(catalogue)
        catalogue.begin_graph(MARK, rewrite="it was lost: \N{SNOWMAN}")
        assert catalogue.graph_record() == GraphRecord(mark=MARK, rewriting="it was lost: \N{SNOWMAN}", left=2)
        told = claim_descriptions(catalogue, 2)
        record(
            catalogue, [came("http://c.ee/", "c", 3)], [], worker="one", now=at(3)
        )  # what comes later does not count
        catalogue.record_descriptions(told.claims, statements={}, mark=NEXT)
        assert catalogue.graph_record().left == 0
        catalogue.begin_graph(NEXT)
        assert catalogue.graph_record() == GraphRecord(mark=NEXT)

    def test_the_subjects_of_the_graph_come_in_order_with_what_it_was_not_told(self, catalogue: Catalogue) -> None:
        first = bring(catalogue, "http://a.ee/", "a", place("Tartu"), when=1)
        drain(catalogue)
        second = bring(catalogue, "http://b.ee/", "b", place("Tartu"), when=2)
        assert catalogue.graph_subjects("resource", after=0, limit=9) == [first, second]
        assert catalogue.graph_subjects("resource", after=first, limit=9) == [second]
        assert catalogue.graph_subjects("resource", after=0, limit=1) == [first]
        assert len(catalogue.graph_subjects("entity", after=0, limit=9)) == 1
        assert catalogue.untold("resource", [first, second, second + 99]) == {second}
        drain(catalogue)
        assert catalogue.untold("resource", [first, second]) == set()
