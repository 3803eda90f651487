"""The catalogue's contract: what every engine behind it promises.

A subclass gives a fixture ``catalogue`` that opens an empty one.
"""

from __future__ import annotations

from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_absence import AbsenceContract
from rehi.testing.contracts.catalogue_backfill import BackfillContract
from rehi.testing.contracts.catalogue_captures import CapturesContract
from rehi.testing.contracts.catalogue_counts import CountsContract
from rehi.testing.contracts.catalogue_entities import EntitiesContract
from rehi.testing.contracts.catalogue_frontier import FrontierContract
from rehi.testing.contracts.catalogue_generation import GenerationContract
from rehi.testing.contracts.catalogue_hosts import HostsContract
from rehi.testing.contracts.catalogue_index import IndexContract
from rehi.testing.contracts.catalogue_outbox import OutboxContract
from rehi.testing.contracts.catalogue_paces import PacesContract
from rehi.testing.contracts.catalogue_problems import ProblemsContract
from rehi.testing.contracts.catalogue_readings import ReadingsContract
from rehi.testing.contracts.catalogue_retention import RetentionContract
from rehi.testing.contracts.catalogue_sources import SourcesContract
from rehi.testing.contracts.catalogue_updates import UpdatesContract
from rehi.testing.contracts.catalogue_visits import VisitsContract
from rehi.testing.contracts.catalogue_workers import WorkersContract


class CatalogueContract(
    SourcesContract,
    CountsContract,
    FrontierContract,
    PacesContract,
    HostsContract,
    UpdatesContract,
    VisitsContract,
    WorkersContract,
    BackfillContract,
    AbsenceContract,
    OutboxContract,
    ReadingsContract,
    EntitiesContract,
    IndexContract,
    RetentionContract,
    ProblemsContract,
    CapturesContract,
    GenerationContract,
):
    """Everything that the catalogue promises."""

    def test_it_says_what_it_is(self, catalogue: Catalogue) -> None:
        assert " at " in catalogue.check()
