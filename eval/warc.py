"""Web archives made elsewhere: what our reader gets out of sound and damaged files, beside FastWARC and warcio.

A case is right if just the whole answers come out, and if it is said that something is damaged when it is. The peers are
helped where a caller could do it: torn blocks are told by their length, digests are checked, brackets stripped.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from random import Random
from typing import Any

from eval.report import floors, result, table
from eval.warc_cases import DAMAGED, SOUND, ArchiveCase
from rehi.archive.foreign import Damage, ForeignRecord, open_foreign
from rehi.errors import RecordDamaged
from tests.warcs import http, members, record, sha1

Contents = tuple[list[tuple[str, bytes]], bool]  # the URL and the block of each answer, and whether damage was noticed
Read = Callable[[bytes], Contents]

TARGET = "all cases right"


def _ours(content: bytes) -> Contents:
    answers: list[tuple[ForeignRecord, bytes]] = []
    damaged = False
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        opened = open_foreign(Path(file.name))
        for item in opened.records():
            if isinstance(item, Damage):
                damaged = True
            elif item.fields.kind == "response":
                answers.append((item, _block(item)))
        opened.close()
    return [(one.fields.url, block) for one, block in answers if not one.spoiled], damaged


def _block(item: ForeignRecord) -> bytes:
    try:
        return b"".join(iter(item.block.read, b""))
    except RecordDamaged:  # said again as Damage
        return b""


def _fastwarc(content: bytes, *, lenient: bool) -> Contents:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    answers, damaged = [], False
    try:
        for item in ArchiveIterator(BytesIO(content), parse_http=False, quirks_mode=lenient):
            if item.record_type != WarcRecordType.response:
                continue
            block = item.reader.read()
            if _is_as_declared(block, item.headers.get("Content-Length"), item.headers.get("WARC-Block-Digest")):
                answers.append(((item.headers.get("WARC-Target-URI") or "").strip("<>"), block))
            else:
                damaged = True
    except OSError:
        damaged = True
    return answers, damaged


def _warcio(content: bytes) -> Contents:
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    answers, damaged = [], False
    try:
        for item in ArchiveIterator(BytesIO(content), no_record_parse=True):
            if item.rec_type != "response":
                continue
            block, headers = item.raw_stream.read(), item.rec_headers
            if _is_as_declared(block, str(item.length), headers.get_header("WARC-Block-Digest")):
                answers.append((headers.get_header("WARC-Target-URI") or headers.get_header("uri"), block))
            else:
                damaged = True
    except (ArchiveLoadFailed, OSError, ValueError):
        damaged = True
    return answers, damaged


def _is_as_declared(block: bytes, length: str | None, digest: str | None) -> bool:
    return str(len(block)) == length and digest in (None, sha1(block))


READERS: dict[str, Read] = {
    "rehi": _ours,
    "FastWARC": partial(_fastwarc, lenient=False),
    "FastWARC, quirks mode": partial(_fastwarc, lenient=True),
    "warcio": _warcio,
}


def _is_right(read: Read, case: ArchiveCase) -> bool:
    try:
        with redirect_stderr(StringIO()):
            return read(case.content) == (case.answers, case.damaged)
    except Exception:  # a library that falls is what we want to know of
        return False


def _large() -> bytes:
    """Return a file of 40 MB of text in gzip members, with digests."""
    chance = Random(7)  # noqa: S311
    words = [bytes(chance.choices(b"abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 12))) for _ in range(5_000)]
    records = []
    for number in range(1_000):
        block = http(b" ".join(chance.choices(words, k=5_000)))
        records.append(record("response", f"http://a.ee/{number}", block, WARC_Block_Digest=sha1(block)))
    return members(records)


def _megabytes_a_second(read: Read, content: bytes) -> float:
    began = time.process_time()
    answers, _ = read(content)
    return sum(len(block) for _, block in answers) / 1e6 / (time.process_time() - began)


def evaluate() -> bool:
    """Print the table and the result; return whether all is as good as it should be."""
    large = _large()
    rows: list[list[object]] = []
    scores: dict[str, dict[str, Any]] = {}
    for name, read in READERS.items():
        wrong = [case.name for case in (*SOUND, *DAMAGED) if not _is_right(read, case)]
        sound, damaged = (sum(case.name not in wrong for case in cases) for cases in (SOUND, DAMAGED))
        speed = round(max(_megabytes_a_second(read, large) for _ in range(3)))
        scores[name] = {"sound": sound, "damaged": damaged, "megabytes_per_second": speed}
        rows.append([name, f"{sound}/{len(SOUND)}", f"{damaged}/{len(DAMAGED)}", speed, "; ".join(wrong)])
    print(table(("reader", "sound", "damaged", "MB/CPU-s", "wrong on"), rows))
    ours = scores.pop("rehi")
    floor = floors("warc")["cases"]
    missed = [f"{kind}: {ours[kind]} cases" for kind in ("sound", "damaged") if ours[kind] < int(floor[kind])]
    settings = "the same files for all, CPU time; the peers' blocks are checked by their lengths and digests"
    print(result("warc", target=TARGET, settings=settings, missed=missed, ours=ours, peers=scores, ratio=None))
    return not missed
