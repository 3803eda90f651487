"""Links: what documents link to becomes resources, where a source's rule says so."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta

from rehi.errors import ArchiveError, NotFound
from rehi.extract import locate
from rehi.model.source import Finding
from rehi.model.work import Claim
from rehi.pipeline.rooms import BATCH, DRY_SECONDS, LEASE_SECONDS, Step
from rehi.sources.links import choose_links, parse_follow

FOLLOW = "follow"  # the kind of work in the outbox whose subjects are resources that were read

_log = logging.getLogger(__name__)

Rules = Mapping[int, Sequence[tuple[int, str, int]]]  # by resource: source, rule, depth


class Links(Step):
    """The share of the outbox that is about links."""

    def follow(self) -> bool:
        """Enter what documents that were read link to; whether the catalogue has changed."""
        now, catalogue = self._rooms.clock(), self._rooms.catalogue
        if now < self._look_at:
            return False
        claims = catalogue.claim((FOLLOW,), worker=self._rooms.worker, limit=BATCH, ttl=LEASE_SECONDS, now=now)
        self._dry = not claims
        if not claims:
            self._look_at = now + timedelta(seconds=DRY_SECONDS)
            return False
        for source_id, origins in self._choose(claims).items():
            self._progress.counts["followed"] += catalogue.follow_links(origins, source_id=source_id, now=now)
        catalogue.finish(claims)  # whoever is killed before this enters the same links again
        return True

    def _choose(self, claims: Sequence[Claim]) -> dict[int, dict[int, list[Finding]]]:
        """Return the links that are followed, by source and by the document that has them."""
        chosen: defaultdict[int, dict[int, list[Finding]]] = defaultdict(dict)
        rules: Rules = self._rooms.catalogue.followed([claim.subject for claim in claims])
        for resource_id, ruled in rules.items():
            url, links = self._links_of(resource_id)
            for source_id, rule, depth in ruled:
                if findings := choose_links(parse_follow(rule), url, links, depth=depth):
                    chosen[source_id][resource_id] = findings
        return chosen

    def _links_of(self, resource_id: int) -> tuple[str, Sequence[str]]:
        """Return the URL of a document, and what it links to from there."""
        try:
            shown = self._rooms.catalogue.shown_reading(resource_id)
            if shown.facts.derived is None:
                return "", ()
            document = self._rooms.derived.read(shown.facts.derived).document
        except NotFound:  # it shows nothing any more
            return "", ()
        except ArchiveError as error:
            _log.warning("the links of document %d are not followed: %s", resource_id, error)
            return "", ()
        return shown.task.url, locate(document, shown.task.url).links
