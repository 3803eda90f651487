"""An identity: what one document says of one entity, gathered from its mentions, and the entity to which it belongs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from rehi.builtin import load_all
from rehi.link.name import oddity, slug
from rehi.model.document import Mention
from rehi.model.entity import Candidate, EntityKey, Identity, LinkedIdentity


def link(mentions: Iterable[Mention]) -> tuple[Identity, ...]:
    """Return the identities of a document in the order of their keys, whatever the order of the mentions.

    Where names have given and family parts, a surname alone is counted to the one of the document who bears it; if there
    are two, or none, it stays an entity of its own.
    """
    groups: dict[EntityKey, list[Mention]] = defaultdict(list)
    for mention in mentions:
        if name_slug := slug(mention.name):
            groups[EntityKey(mention.kind, name_slug)].append(mention)
    with_parts = {name for name, kind in load_all("entity_kind").items() if kind.has_parts}
    bearers = _bearers(groups, with_parts)
    extra: Counter[EntityKey] = Counter()
    for surname, bearer in bearers.items():
        extra[bearer] += len(groups[surname])
    kept = sorted(groups.keys() - bearers.keys())
    return tuple(_identity(key, groups[key], extra=extra[key], has_parts=key.kind in with_parts) for key in kept)


def resolve(
    identities: Iterable[Identity],
    candidates: Mapping[EntityKey, Sequence[Candidate]],
    before: Collection[EntityKey] = (),
) -> tuple[LinkedIdentity, ...]:
    """Return each identity with its entity: of several of one name the one that the page mentioned ``before``, or the first.

    Candidates are those that the catalogue knows under the identity's key, an entity that it was merged into among them. Without
    any it is a new one.
    """
    linked = []
    for identity in identities:
        known = sorted(candidates.get(identity.key, ()), key=lambda candidate: candidate.key not in before)
        linked.append(LinkedIdentity(identity=identity, entity_id=known[0].id if known else None))
    return tuple(linked)


def _bearers(groups: Mapping[EntityKey, Sequence[Mention]], with_parts: Set[str]) -> dict[EntityKey, EntityKey]:
    """Return the surnames that stand alone, each with the only one of its kind in the document who bears it."""
    alone = []
    families: dict[tuple[str, str], set[EntityKey]] = defaultdict(set)
    for key, mentions in groups.items():
        if key.kind not in with_parts:
            continue
        if all(len(mention.name.split()) == 1 for mention in mentions):
            alone.append(key)
        else:
            for mention in mentions:
                families[key.kind, slug(mention.family)].add(key)
    bearers = {}
    for key in alone:
        if len(families[key.kind, key.slug]) == 1:
            (bearers[key],) = families[key.kind, key.slug]
    return bearers


def _identity(key: EntityKey, mentions: Sequence[Mention], *, extra: int, has_parts: bool) -> Identity:
    names = Counter(_tidy(mention.name) for mention in mentions)
    forms = {form for form in (*names, *(_tidy(lemma) for m in mentions for lemma in m.lemmas)) if form}
    parts = Counter((_tidy(m.given), _tidy(m.family)) for m in mentions if has_parts and (m.given or m.family))
    given, family = min(
        parts, key=lambda pair: (*oddity(" ".join(pair)), -parts[pair], pair), default=("", "")
    )  # as the name is chosen
    return Identity(
        key=key,
        # As ``best_name`` chooses among documents, but the most frequent of equals.
        name=min(names, key=lambda name: (*oddity(name), -names[name], name)),
        given=given,
        family=family,
        lemmas=tuple(sorted(forms | {form.lower() for form in forms})),
        count=len(mentions) + extra,
    )


def _tidy(name: str) -> str:
    return " ".join(name.split())
