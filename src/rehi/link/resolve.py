"""Resolution: which entity of the catalogue an identity belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rehi.model.entity import Candidate, EntityKey, Identity, LinkedIdentity


def resolve(
    identities: Iterable[Identity], candidates: Mapping[EntityKey, Sequence[Candidate]]
) -> tuple[LinkedIdentity, ...]:
    """Return each identity with its entity: the one candidate that has its kind and slug, or a new one.

    Candidates are those that the catalogue knows under the identity's key, an entity that it was merged into among them.
    """
    return tuple(
        LinkedIdentity(
            identity=identity, entity_id=next((known.id for known in candidates.get(identity.key, ())), None)
        )
        for identity in identities
    )
