"""Links: what documents link to becomes resources, where a source's rule says so."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from rehi.errors import ArchiveError, LiesElsewhere, NotFound, ReadError
from rehi.model.source import FollowedLink
from rehi.model.work import Claim
from rehi.pipeline.rooms import BATCH, DRY_SECONDS, LEASE_SECONDS, Step
from rehi.sources.links import choose_links, parse_follow

FOLLOW = "follow"  # the kind of work in the outbox whose subjects are resources that were read

_log = logging.getLogger(__name__)


class Links(Step):
    """The share of the outbox that is about links."""

    _warned = False  # that some are left to another worker
    _claims: Sequence[Claim] = ()  # what is not done yet: the archive may be away

    @property
    def is_settled(self) -> bool:
        """Whether no links of a document wait to be followed."""
        return self._dry and not self._claims

    @property
    def claim_ids(self) -> set[int]:
        """The rows of the outbox that are in hand."""
        return {row for claim in self._claims for row in claim.ids}

    def follow(self) -> bool:
        """Enter the links of documents that were read as findings; return whether the catalogue has changed."""
        now, catalogue = self._rooms.clock(), self._rooms.catalogue
        if now < self._look_at:
            return False
        claims = self._claims or catalogue.claim(
            (FOLLOW,), worker=self._rooms.worker, limit=BATCH, ttl=LEASE_SECONDS, now=now
        )
        self._claims = claims
        self._dry = not claims
        if not claims:
            self._look_at = now + timedelta(seconds=DRY_SECONDS)
            return False
        left: set[int] = set()
        for source_id, links in self._choose(claims, left).items():
            self._progress.counts["followed"] += catalogue.follow_links(links, source_id=source_id, now=now)
        # Whoever is killed before this enters the same links again; what is left alone another worker takes when it may.
        catalogue.finish([claim for claim in claims if claim.subject not in left])
        self._claims = ()
        return True

    def _choose(self, claims: Sequence[Claim], left: set[int]) -> dict[int, list[FollowedLink]]:
        """Return the links that are followed, by source, the nearest first; note those that lie elsewhere."""
        chosen: defaultdict[int, list[FollowedLink]] = defaultdict(list)
        for resource_id, sources in self._rooms.catalogue.claims_on([claim.subject for claim in claims]).items():
            following = [source for source in sources if source.follow]
            if not following:
                continue
            try:
                url, links = self._links_of(resource_id)
            except LiesElsewhere as error:
                left.add(resource_id)
                if not self._warned:
                    self._warned = True
                    _log.warning("links are left to another worker: %s", error)
                continue
            for source in following:
                findings = choose_links(parse_follow(source.follow), url, links, depth=source.depth)
                chosen[source.source_id] += [FollowedLink(one, resource_id, source.depth + 1) for one in findings]
        return {source_id: sorted(links, key=lambda link: link.depth) for source_id, links in chosen.items() if links}

    def _links_of(self, resource_id: int) -> tuple[str, Sequence[str]]:
        """Return the URL of a document, and what it links to from there."""
        try:
            shown = self._rooms.catalogue.shown_reading(resource_id)
            if shown.facts.derived is None:
                return "", ()
            document = self._rooms.reading_of(resource_id).document
        except NotFound:  # it shows nothing any more
            return "", ()
        except (ArchiveError, ReadError) as error:
            _log.warning("the links of document %d are not followed: %s", resource_id, error)
            return "", ()
        return shown.task.url, document.links
