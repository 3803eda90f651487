"""The delta writer: writes a version as a delta on an earlier one, if that saves enough room."""

from __future__ import annotations

import logging

from rehi.archive.chain import ChainLink, decode_chain, read_chain, read_chain_link
from rehi.archive.delta import LARGE, MOST, SPAN, base_step, encode
from rehi.archive.exchange import Exchange
from rehi.archive.record import DELTA
from rehi.errors import ArchiveError, RecordDamaged
from rehi.model.media import by_name
from rehi.model.version import RecordRef
from rehi.model.visit import Answer
from rehi.ports import Shelf

PAYS = 0.7  # of the room of a whole record: a delta that takes more is not worth the chain


def delta_may_pay(answer: Answer) -> bool:
    """Whether an answer may become smaller as a delta, by its media type and size.

    Of a compressed file everything is different, but an office document or a book is compressed part by part, and most
    parts stay as they are.
    """
    row = by_name(answer.header("content-type"))
    return (row.has_words or not row.is_compressed) and 0 < answer.size < MOST


def write_delta(shelf: Shelf, exchange: Exchange, *, base: RecordRef) -> bytes | None:
    """Return the exchange as a delta record after the version at ``base``; None if a whole record is better."""
    try:
        chain = read_chain(shelf, read_chain_link(shelf, base))
    except ArchiveError as error:  # damage is reported by verify; here only the new version matters
        logging.getLogger(__name__).warning("a version is kept whole: %s", error)
        return None
    step, root = chain[0].fields.step + 1, chain[-1]
    if step >= SPAN or root.fields.kind not in ("response", DELTA) or root.fields.payload_digest is None:
        return None
    content = exchange.content()
    wanted = base_step(step, large=len(content) >= LARGE)
    chain = chain[next((place for place, link in enumerate(chain) if link.fields.step == wanted), len(chain)) :]
    if not chain:
        return None
    try:
        packed = encode(content, base=decode_chain(chain))
    except RecordDamaged as error:
        logging.getLogger(__name__).warning("a version is kept whole: %s", error)
        return None
    if len(packed) > PAYS * _whole_length(root, len(content)):
        return None
    digest = chain[0].fields.payload_digest
    assert digest is not None  # the chain was checked against it
    return exchange.delta(packed, base=chain[0].ref, base_digest=digest, step=step)


def _whole_length(root: ChainLink, size: int) -> float:
    """Return about how many bytes a whole record would take, by how well the chain's whole one was compressed."""
    plain = int(root.fields.get("Rehi-Payload-Length") or 0) if root.is_delta else len(root.block)
    return size * root.ref.length / max(1, plain)
